#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

namespace tilewave::models {

/// The most elements that one image's tensor may have.
inline constexpr std::int64_t kMaxElements = INT32_MAX;

/// Shape of one image's tensor, NHWC order with the batch left out. Flat tensors are 1 x 1 x n.
struct Shape {
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t channels = 1;

  std::int64_t pixels() const { return height * width; }
  std::int64_t elements() const { return height * width * channels; }
  bool operator==(const Shape&) const = default;
};

/// A sliding window: convolution kernel or pooling window, in pixels.
struct Window {
  std::int64_t kernel_height = 1, kernel_width = 1;
  std::int64_t stride_height = 1, stride_width = 1;
  std::int64_t dilation_height = 1, dilation_width = 1;
  std::int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;

  bool operator==(const Window&) const = default;
};

struct Input {};
/// Cross-correlation. weight is [out][kernel_height][kernel_width][in / groups]; bias is [out].
struct Conv {
  Window window;
  std::int64_t groups = 1;
  std::vector<float> weight;
  std::vector<float> bias;
};
/// Fully connected. weight is [out][in] with `in` in NHWC order of the input; bias is [out].
struct Dense {
  std::vector<float> weight;
  std::vector<float> bias;
};
struct Add {};
struct Relu {};
struct Clip {
  float low = 0;
  float high = 6;
};
struct Sigmoid {};
struct Tanh {};
struct MaxPool {
  Window window;
};
struct AveragePool {
  Window window;
  bool count_include_pad = false;
};
/// To 1 x 1 x n, elements kept in NHWC order.
struct Flatten {};
/// Over the channels of a flat tensor; only as the graph's last node.
struct Softmax {};

using Operation = std::variant<Input, Conv, Dense, Add, Relu, Clip, Sigmoid, Tanh, MaxPool,
                               AveragePool, Flatten, Softmax>;

/// ONNX's name of the operation ("Conv", "Gemm" for Dense, ...), as reports print it.
std::string operation_name(const Operation& operation);

using NodeId = std::int32_t;

struct Node {
  std::string name;
  Operation operation;
  std::vector<NodeId> inputs;  ///< earlier nodes only
  Shape shape;                 ///< of the one tensor it makes
};

/// A network in fp32: a directed acyclic graph in topological order, one tensor per node.
/// Node 0 is the Input. Immutable once built; shapes are inferred and checked as nodes are added.
class Graph {
 public:
  /// Throws InputError unless 1 to kMaxElements elements.
  Graph(std::string name, Shape input, std::string input_name = "input");

  /// Appends a node and infers its shape. Throws InputError (naming the node) where the name is
  /// taken, a weight or bias is not finite, or the inputs' shapes, the attributes or the sizes of
  /// weight and bias do not fit together.
  NodeId add(std::string name, Operation operation, std::vector<NodeId> inputs);

  const std::string& name() const { return name_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_.at(static_cast<std::size_t>(id)); }
  /// The last node added: what the network returns.
  const Node& output() const { return nodes_.back(); }
  /// The nodes that read `id`'s tensor.
  std::vector<NodeId> consumers(NodeId id) const;

 private:
  std::string name_;
  std::vector<Node> nodes_;
  std::unordered_set<std::string> names_;
};

/// Output shape of a window sliding over `input`, channels unchanged. Throws InputError with
/// `where` if the window is not positive, does not fit, or a size would overflow.
Shape windowed_shape(const Window& window, const Shape& input, const std::string& where);
/// The same for a pool, whose window must also hold at least one place of the input wherever it
/// stands.
Shape pooled_shape(const Window& window, const Shape& input, const std::string& where);

}  // namespace tilewave::models
