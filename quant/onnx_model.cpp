#include "quant/onnx_model.h"

#include <onnx/onnx_pb.h>

#include <bit>
#include <type_traits>

#include "base/error.h"

namespace tilewave::quant {
namespace {

static_assert(std::endian::native == std::endian::little, "ONNX's raw data is little endian");

template <typename T>
onnx::TensorProto::DataType type_of() {
  if constexpr (std::is_same_v<T, float>) return onnx::TensorProto::FLOAT;
  if constexpr (std::is_same_v<T, std::int8_t>) return onnx::TensorProto::INT8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return onnx::TensorProto::UINT8;
  if constexpr (std::is_same_v<T, std::int16_t>) return onnx::TensorProto::INT16;
  if constexpr (std::is_same_v<T, std::int32_t>) return onnx::TensorProto::INT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return onnx::TensorProto::INT64;
}

void describe(onnx::ValueInfoProto& value, const std::string& name, const OnnxModel::Dims& dims) {
  value.set_name(name);
  onnx::TypeProto::Tensor& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("N");
  for (const std::int64_t size : dims) type.mutable_shape()->add_dim()->set_dim_value(size);
}

/// The version of the format that came with an opset (ONNX's Versioning.md).
std::int64_t ir_version_of(std::int64_t opset) {
  return opset >= 21 ? 10 : opset >= 19 ? 9 : 7;
}

}  // namespace

OnnxModel::OnnxModel(const std::string& name) : proto_(std::make_unique<onnx::ModelProto>()) {
  proto_->set_producer_name("tilewave");
  proto_->mutable_graph()->set_name(name);
}
OnnxModel::~OnnxModel() = default;

std::string OnnxModel::unused(const std::string& name) {
  std::string made = name;
  while (!names_.insert(made).second) made += "_";
  return made;
}

std::string OnnxModel::add_input(const std::string& name, const Dims& dims) {
  std::string made = unused(name);
  describe(*proto_->mutable_graph()->add_input(), made, dims);
  return made;
}

void OnnxModel::add_output(const std::string& tensor, const Dims& dims) {
  describe(*proto_->mutable_graph()->add_output(), tensor, dims);
}

template <typename T>
std::string OnnxModel::add_constant(const std::string& name, const Dims& dims,
                                    const std::vector<T>& values) {
  std::string made = unused(name);
  onnx::TensorProto& tensor = *proto_->mutable_graph()->add_initializer();
  tensor.set_name(made);
  tensor.set_data_type(type_of<T>());
  for (const std::int64_t size : dims) tensor.add_dims(size);
  tensor.set_raw_data(values.data(), values.size() * sizeof(T));
  return made;
}
template std::string OnnxModel::add_constant(const std::string&, const Dims&,
                                             const std::vector<float>&);
template std::string OnnxModel::add_constant(const std::string&, const Dims&,
                                             const std::vector<std::int8_t>&);
template std::string OnnxModel::add_constant(const std::string&, const Dims&,
                                             const std::vector<std::uint8_t>&);
template std::string OnnxModel::add_constant(const std::string&, const Dims&,
                                             const std::vector<std::int16_t>&);
template std::string OnnxModel::add_constant(const std::string&, const Dims&,
                                             const std::vector<std::int32_t>&);
template std::string OnnxModel::add_constant(const std::string&, const Dims&,
                                             const std::vector<std::int64_t>&);

std::string OnnxModel::add_node(const std::string& op, const Names& inputs,
                                const std::string& output, const Attributes& attributes) {
  std::string made = unused(output);
  onnx::NodeProto& node = *proto_->mutable_graph()->add_node();
  node.set_op_type(op);
  node.set_name(made);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(made);
  for (const auto& [name, value] : attributes) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      attribute.set_type(onnx::AttributeProto::INT);
      attribute.set_i(*integer);
    } else {
      attribute.set_type(onnx::AttributeProto::INTS);
      for (const std::int64_t size : std::get<Dims>(value)) attribute.add_ints(size);
    }
  }
  return made;
}

std::vector<std::uint8_t> OnnxModel::bytes(std::int64_t opset) const {
  onnx::ModelProto proto = *proto_;
  proto.set_ir_version(ir_version_of(opset));
  proto.add_opset_import()->set_version(opset);
  if (proto.ByteSizeLong() > INT32_MAX) {
    throw InputError(proto.graph().name(), "is too large for an ONNX file", "less than 2 GiB");
  }
  std::vector<std::uint8_t> file(proto.ByteSizeLong());
  TILEWAVE_CHECK(proto.SerializeToArray(file.data(), static_cast<int>(file.size())), ==, true,
                 "the message is complete");
  return file;
}

}  // namespace tilewave::quant
