#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace onnx {
class ModelProto;
class ValueInfoProto;
}  // namespace onnx

namespace tilewave::quant {

/// An ONNX model in the making; its .cpp is the only file here that sees ONNX's message classes.
/// Tensors have the name that was wished for, or one like it where another tensor has that.
class OnnxModel {
 public:
  using Dims = std::vector<std::int64_t>;
  using Names = std::vector<std::string>;
  using Attributes = std::vector<std::pair<std::string, std::variant<std::int64_t, Dims>>>;

  explicit OnnxModel(const std::string& name);
  ~OnnxModel();
  OnnxModel(const OnnxModel&) = delete;
  OnnxModel& operator=(const OnnxModel&) = delete;

  /// The network's input and output: fp32, a batch of any size of tensors of `dims`. Each returns
  /// the tensor's name, as all functions below.
  std::string add_input(const std::string& name, const Dims& dims);
  void add_output(const std::string& tensor, const Dims& dims);
  /// T: float, or std::int8_t, uint8_t, int16_t, int32_t, int64_t.
  template <typename T>
  std::string add_constant(const std::string& name, const Dims& dims, const std::vector<T>& values);
  /// A node that is called as the one tensor that it makes.
  std::string add_node(const std::string& op, const Names& inputs, const std::string& output,
                       const Attributes& attributes = {});

  /// The file, for readers that know `opset`: the same bytes for the same calls. Throws InputError
  /// where it would have 2 GiB or more, which ONNX's format has no room for.
  std::vector<std::uint8_t> bytes(std::int64_t opset) const;

 private:
  std::string unused(const std::string& name);

  std::unique_ptr<onnx::ModelProto> proto_;
  std::set<std::string> names_;
};

}  // namespace tilewave::quant
