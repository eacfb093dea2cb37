#include "tests/models/onnx_builder.h"

#include <onnx/onnx_pb.h>

namespace tilewave::test {

using Attribute = OnnxBuilder::Attribute;

Attribute OnnxBuilder::integer(std::string name, std::int64_t value) {
  return {.name = std::move(name), .kind = Attribute::Kind::integer, .integer = value};
}
Attribute OnnxBuilder::real(std::string name, float value) {
  return {.name = std::move(name), .kind = Attribute::Kind::real, .real = value};
}
Attribute OnnxBuilder::text(std::string name, std::string value) {
  return {.name = std::move(name), .kind = Attribute::Kind::text, .text = std::move(value)};
}
Attribute OnnxBuilder::integers(std::string name, Dims values) {
  return {
      .name = std::move(name), .kind = Attribute::Kind::integers, .integers = std::move(values)};
}

OnnxBuilder::OnnxBuilder(Dims input, std::int64_t opset)
    : proto_(std::make_unique<onnx::ModelProto>()) {
  proto_->set_ir_version(8);
  proto_->add_opset_import()->set_version(opset);
  onnx::GraphProto& graph = *proto_->mutable_graph();
  graph.set_name("test");
  onnx::ValueInfoProto& x = *graph.add_input();
  x.set_name("x");
  onnx::TypeProto::Tensor& type = *x.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape();
  for (const std::int64_t size : input) {
    auto& dim = *type.mutable_shape()->add_dim();
    if (size == -1) {
      dim.set_dim_param("N");
    } else {
      dim.set_dim_value(size);
    }
  }
  graph.add_output()->set_name("y");
}
OnnxBuilder::OnnxBuilder(OnnxBuilder&&) noexcept = default;
OnnxBuilder::~OnnxBuilder() = default;

OnnxBuilder& OnnxBuilder::node(const std::string& op, Names inputs, Names outputs,
                               std::vector<Attribute> attributes) {
  onnx::NodeProto& node = *proto_->mutable_graph()->add_node();
  node.set_op_type(op);
  node.set_name(outputs[0]);
  for (std::string& name : inputs) node.add_input(std::move(name));
  for (std::string& name : outputs) node.add_output(std::move(name));
  for (const Attribute& attribute : attributes) {
    onnx::AttributeProto& proto = *node.add_attribute();
    proto.set_name(attribute.name);
    switch (attribute.kind) {
      case Attribute::Kind::integer:
        proto.set_type(onnx::AttributeProto::INT);
        proto.set_i(attribute.integer);
        break;
      case Attribute::Kind::real:
        proto.set_type(onnx::AttributeProto::FLOAT);
        proto.set_f(attribute.real);
        break;
      case Attribute::Kind::text:
        proto.set_type(onnx::AttributeProto::STRING);
        proto.set_s(attribute.text);
        break;
      case Attribute::Kind::integers:
        proto.set_type(onnx::AttributeProto::INTS);
        for (const std::int64_t value : attribute.integers) proto.add_ints(value);
    }
  }
  return *this;
}

OnnxBuilder& OnnxBuilder::floats(const std::string& name, Dims dims,
                                 const std::vector<float>& values) {
  onnx::TensorProto& tensor = *proto_->mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t size : dims) tensor.add_dims(size);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  return *this;
}

OnnxBuilder& OnnxBuilder::whole(const std::string& name, Dims dims,
                                const std::vector<std::int64_t>& values) {
  onnx::TensorProto& tensor = *proto_->mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  for (const std::int64_t size : dims) tensor.add_dims(size);
  for (const std::int64_t value : values) tensor.add_int64_data(value);
  return *this;
}

std::vector<std::uint8_t> OnnxBuilder::bytes() const {
  const std::string text = proto_->SerializeAsString();
  return {text.begin(), text.end()};
}

}  // namespace tilewave::test
