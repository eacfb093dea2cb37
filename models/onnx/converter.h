#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/onnx/model.h"

namespace tilewave::models::onnx_reader {

/// What a tensor of the ONNX graph is in ours. ONNX's shape is [batch, channels, height, width]
/// (rank 4) or [batch, elements] (rank 2).
struct Value {
  NodeId id = 0;
  int rank = 4;
  /// For a flattened image of several pixels and channels: the image, whose elements ONNX keeps
  /// in the order channel, row, column, and this graph in the order row, column, channel.
  std::optional<Shape> image = std::nullopt;
};

/// Turns the nodes one by one, in their order, into those of a Graph.
class Converter {
 public:
  Converter(Model model, const std::string& name);

  Converted run();

 private:
  using Handler = Value (Converter::*)(const OnnxNode&, Attributes&);
  struct Operator {
    const char* name;
    Handler handler;
    std::size_t least_inputs, most_inputs;
  };
  static const std::vector<Operator>& operators();

  void convert(const OnnxNode& node);
  bool convert_constant(const OnnxNode& node, Attributes& attributes);

  const Shape& shape(const Value& value) const { return graph_.node(value.id).shape; }
  Value data(const std::string& tensor, const std::string& where) const;
  Value data(const OnnxNode& node, std::size_t input, int rank = 0) const;
  const Tensor* constant(const OnnxNode& node, std::size_t input) const;
  const Tensor& weights(const OnnxNode& node, std::size_t input) const;
  std::optional<float> scalar(const OnnxNode& node, std::size_t input) const;
  void charge(std::int64_t floats, const std::string& where);
  void reject_image(const Value& value, const std::string& where) const;

  Value append(const OnnxNode& node, Operation operation, const Value& input) {
    return {graph_.add(node.name, std::move(operation), {input.id}), input.rank, input.image};
  }
  Value affine(const OnnxNode& node, const Value& input, Floats scale, Floats shift);
  Value dense(const OnnxNode& node, const Value& input, const Tensor& matrix, bool transposed,
              float factor, Floats bias);
  Floats per_channel(const Tensor& tensor, const Value& value, std::int64_t channels,
                     const std::string& where);

  Value add(const OnnxNode& node, Attributes& attributes);
  Value average_pool(const OnnxNode& node, Attributes& attributes);
  Value batch_normalization(const OnnxNode& node, Attributes& attributes);
  Value clip(const OnnxNode& node, Attributes& attributes);
  Value conv(const OnnxNode& node, Attributes& attributes);
  Value dropout(const OnnxNode& node, Attributes& attributes);
  Value flatten(const OnnxNode& node, Attributes& attributes);
  Value gemm(const OnnxNode& node, Attributes& attributes);
  Value global_average_pool(const OnnxNode& node, Attributes& attributes);
  Value identity(const OnnxNode& node, Attributes&) { return data(node, 0); }
  Value matmul(const OnnxNode& node, Attributes& attributes);
  Value max_pool(const OnnxNode& node, Attributes& attributes);
  Value relu(const OnnxNode& node, Attributes&) { return append(node, Relu{}, data(node, 0)); }
  Value reshape(const OnnxNode& node, Attributes& attributes);
  Value sigmoid(const OnnxNode& n, Attributes&) { return append(n, Sigmoid{}, data(n, 0)); }
  Value softmax(const OnnxNode& node, Attributes& attributes);
  Value tanh(const OnnxNode& node, Attributes&) { return append(node, Tanh{}, data(node, 0)); }

  Window pool_window(const OnnxNode& node, Attributes& attributes, const Value& input);
  Value flattened(const OnnxNode& node, const Value& input);

  Model model_;
  Graph graph_;
  std::map<std::string, Value> values_;
  std::vector<NodeId> affine_;
  std::int64_t weight_bytes_left_;
};

}  // namespace tilewave::models::onnx_reader
