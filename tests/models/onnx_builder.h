#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace onnx {
class ModelProto;
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace tilewave::test {

/// Builds an ONNX file from the message classes: one input "x", one output.
class OnnxBuilder {
 public:
  using Dims = std::vector<std::int64_t>;
  using Names = std::vector<std::string>;

  /// An attribute of a node: one of its members, as set.
  struct Attribute {
    std::string name;
    enum class Kind { integer, real, text, integers } kind;
    std::int64_t integer = 0;
    float real = 0;
    std::string text = {};
    Dims integers = {};
  };
  static Attribute integer(std::string name, std::int64_t value);
  static Attribute real(std::string name, float value);
  static Attribute text(std::string name, std::string value);
  static Attribute integers(std::string name, Dims values);

  /// `input`: the shape of "x", -1 for a dimension without a size. The output is "y".
  explicit OnnxBuilder(Dims input, std::int64_t opset = 13);
  OnnxBuilder(OnnxBuilder&&) noexcept;
  ~OnnxBuilder();

  /// A node that is named as its (first) output.
  OnnxBuilder& node(const std::string& op, Names inputs, Names outputs,
                    std::vector<Attribute> attributes = {});
  OnnxBuilder& floats(const std::string& name, Dims dims, const std::vector<float>& values);
  OnnxBuilder& whole(const std::string& name, Dims dims, const std::vector<std::int64_t>& values);
  /// The whole model, for what the functions above do not offer.
  onnx::ModelProto& proto() { return *proto_; }

  std::vector<std::uint8_t> bytes() const;

 private:
  std::unique_ptr<onnx::ModelProto> proto_;
};

}  // namespace tilewave::test
