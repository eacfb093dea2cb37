// The only file that sees protobuf and ONNX's message classes.
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "models/onnx/model.h"

namespace tilewave::models::onnx_reader {
namespace {

static_assert(std::endian::native == std::endian::little, "ONNX's raw data is little endian");

constexpr std::int64_t kOldestOpset = 7;

float half_to_float(std::uint16_t half) {
  const int exponent = (half >> 10) & 0x1f;
  const int fraction = half & 0x3ff;
  float magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = fraction ? NAN : INFINITY;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  }
  return half & 0x8000 ? -magnitude : magnitude;
}

std::int64_t element_count(const onnx::TensorProto& proto, const std::string& where) {
  std::optional<std::int64_t> count = 1;
  for (const std::int64_t size : proto.dims()) {
    if (size < 0) throw InputError(where, "has a dimension of " + std::to_string(size));
    count = checked_product({*count, size}, kMaxElements);
    if (!count) {
      throw InputError(where, "has a shape with too many elements",
                       "at most " + std::to_string(kMaxElements));
    }
  }
  return *count;
}

/// The tensor's values, each converted; from raw data as Raw, else from the typed field.
template <typename Value, typename Raw, typename Field, typename Convert>
std::vector<Value> values_of(const onnx::TensorProto& proto, const Field& field,
                             const std::string& where, Convert convert) {
  const std::int64_t count = element_count(proto, where);
  std::vector<Value> values;
  if (proto.has_raw_data()) {
    const std::string& raw = proto.raw_data();
    const auto expected = count * static_cast<std::int64_t>(sizeof(Raw));
    if (std::cmp_not_equal(raw.size(), expected)) {
      throw InputError(where, "has raw data of " + std::to_string(raw.size()) + " bytes",
                       std::to_string(expected) + " expected from its shape");
    }
    values.reserve(static_cast<std::size_t>(count));
    for (std::size_t at = 0; at < raw.size(); at += sizeof(Raw)) {
      Raw value;
      std::memcpy(&value, raw.data() + at, sizeof(Raw));
      values.push_back(convert(value));
    }
  } else {
    if (std::cmp_not_equal(field.size(), count)) {
      throw InputError(where, "has " + std::to_string(field.size()) + " values",
                       std::to_string(count) + " expected from its shape");
    }
    values.reserve(static_cast<std::size_t>(count));
    for (const auto value : field) values.push_back(convert(static_cast<Raw>(value)));
  }
  return values;
}

Tensor decode_tensor(const onnx::TensorProto& proto, const std::string& name) {
  using Proto = onnx::TensorProto;
  const std::string where = "tensor " + name;
  if (proto.data_location() == Proto::EXTERNAL || proto.external_data_size() > 0) {
    throw InputError(where, "has its data in another file", "data within the ONNX file");
  }
  if (proto.has_segment()) throw InputError(where, "is a segment of a tensor");
  Tensor tensor{name,
                Proto::DataType_IsValid(proto.data_type())
                    ? Proto::DataType_Name(static_cast<Proto::DataType>(proto.data_type()))
                    : "type " + std::to_string(proto.data_type()),
                {proto.dims().begin(), proto.dims().end()},
                {}};
  const auto to_float = [](auto value) { return static_cast<float>(value); };
  const auto to_integer = [](auto value) { return static_cast<std::int64_t>(value); };
  switch (proto.data_type()) {
    case Proto::FLOAT:
      tensor.values = values_of<float, float>(proto, proto.float_data(), where, to_float);
      break;
    case Proto::DOUBLE:
      tensor.values = values_of<float, double>(proto, proto.double_data(), where, to_float);
      break;
    case Proto::FLOAT16:
      tensor.values =
          values_of<float, std::uint16_t>(proto, proto.int32_data(), where, half_to_float);
      break;
    case Proto::INT64:
      tensor.values =
          values_of<std::int64_t, std::int64_t>(proto, proto.int64_data(), where, to_integer);
      break;
    case Proto::INT32:
      tensor.values =
          values_of<std::int64_t, std::int32_t>(proto, proto.int32_data(), where, to_integer);
      break;
    case Proto::BOOL:
      tensor.values =
          values_of<std::int64_t, std::uint8_t>(proto, proto.int32_data(), where, to_integer);
      break;
    default:
      element_count(proto, where);
  }
  if (const auto* floats = std::get_if<Floats>(&tensor.values)) {
    const auto nan =
        std::find_if(floats->begin(), floats->end(), [](float value) { return std::isnan(value); });
    if (nan != floats->end()) {
      throw InputError(where, "value " + std::to_string(nan - floats->begin()) + " is NaN");
    }
  }
  return tensor;
}

Attribute decode_attribute(const onnx::AttributeProto& proto, const std::string& where) {
  switch (proto.type()) {
    case onnx::AttributeProto::INT:
      return proto.i();
    case onnx::AttributeProto::FLOAT:
      return proto.f();
    case onnx::AttributeProto::STRING:
      return proto.s();
    case onnx::AttributeProto::INTS:
      return Integers(proto.ints().begin(), proto.ints().end());
    case onnx::AttributeProto::FLOATS:
      return Floats(proto.floats().begin(), proto.floats().end());
    case onnx::AttributeProto::TENSOR:
      return decode_tensor(proto.t(), "of attribute " + proto.name() + " of " + where);
    default:
      return {};
  }
}

std::string operator_of(const onnx::NodeProto& proto) {
  const bool own = proto.domain().empty() || proto.domain() == "ai.onnx";
  return own ? proto.op_type() : proto.domain() + ":" + proto.op_type();
}

/// Names that are given stay; a node without one is called by its operator and place.
std::vector<std::string> node_names(const onnx::GraphProto& graph) {
  std::set<std::string> taken;
  for (const onnx::NodeProto& proto : graph.node()) {
    if (!proto.name().empty() && !taken.insert(printable(proto.name())).second) {
      throw InputError("node " + proto.name() + " (" + operator_of(proto) + ")",
                       "another node has this name");
    }
  }
  std::vector<std::string> names;
  for (const onnx::NodeProto& proto : graph.node()) {
    std::string name = printable(proto.name());
    if (name.empty()) {
      name = printable(operator_of(proto)) + "_" + std::to_string(names.size());
      while (!taken.insert(name).second) name += "_";
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<OnnxNode> decode_nodes(const onnx::GraphProto& graph) {
  std::vector<std::string> names = node_names(graph);
  std::vector<OnnxNode> nodes;
  for (const onnx::NodeProto& proto : graph.node()) {
    OnnxNode node{std::move(names[nodes.size()]),
                  operator_of(proto),
                  {proto.input().begin(), proto.input().end()},
                  {proto.output().begin(), proto.output().end()},
                  {}};
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      if (!node.attributes.emplace(attribute.name(), decode_attribute(attribute, node.where()))
               .second) {
        throw InputError(node.where(), "has attribute " + attribute.name() + " twice");
      }
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Integers decode_input_dims(const onnx::ValueInfoProto& input, const std::string& where) {
  if (!input.type().has_tensor_type() ||
      input.type().tensor_type().elem_type() != onnx::TensorProto::FLOAT) {
    throw InputError(where, "is not a tensor of FLOAT", "images as FLOAT");
  }
  if (!input.type().tensor_type().has_shape()) throw InputError(where, "has no shape");
  Integers dims;
  for (const auto& dim : input.type().tensor_type().shape().dim()) {
    const bool batch = dims.empty();
    const std::string name = "dimension " + std::to_string(dims.size());
    if (!dim.has_dim_value()) {
      if (!batch) {
        throw InputError(
            where,
            name + (dim.dim_param().empty() ? "" : " " + dim.dim_param()) + " has no fixed size",
            "only the batch, dimension 0, may have any");
      }
      dims.push_back(-1);
    } else if (dim.dim_value() < 1 || dim.dim_value() > kMaxElements) {
      throw InputError(where, name + " is " + std::to_string(dim.dim_value()),
                       "1 to " + std::to_string(kMaxElements));
    } else {
      dims.push_back(dim.dim_value());
    }
  }
  if (dims.size() != 2 && dims.size() != 4) {
    throw InputError(where, "has " + std::to_string(dims.size()) + " dimensions",
                     "[batch, channels, height, width] or [batch, elements]");
  }
  return dims;
}

std::int64_t opset_of(const onnx::ModelProto& proto) {
  std::int64_t opset = 0;
  for (const auto& import : proto.opset_import()) {
    if (import.domain().empty() || import.domain() == "ai.onnx") opset = import.version();
  }
  if (opset < kOldestOpset) {
    throw InputError("opset", "is " + std::to_string(opset),
                     std::to_string(kOldestOpset) + " or later");
  }
  return opset;
}

void decode_ends(const onnx::GraphProto& graph, Model& model) {
  const onnx::ValueInfoProto* input = nullptr;
  for (const onnx::ValueInfoProto& candidate : graph.input()) {
    // Up to IR version 3 the initializers are inputs as well.
    if (model.constants.contains(candidate.name())) continue;
    if (input) {
      throw InputError("graph", "has several inputs, " + input->name() + " and " + candidate.name(),
                       "one");
    }
    input = &candidate;
  }
  if (!input) throw InputError("graph", "has no input");
  model.input = input->name();
  model.input_dims = decode_input_dims(*input, "input " + input->name());
  if (graph.output_size() != 1) {
    throw InputError("graph", "has " + std::to_string(graph.output_size()) + " outputs", "one");
  }
  model.output = graph.output(0).name();
}

}  // namespace

std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return text;
}

Model decode(std::span<const std::uint8_t> bytes) {
  if (std::cmp_greater(bytes.size(), INT32_MAX)) {
    throw InputError("file", "is too large", "less than 2 GiB");
  }
  onnx::ModelProto proto;
  {
    const google::protobuf::LogSilencer silent;
    if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      throw InputError("file", "is not an ONNX model, or is damaged");
    }
  }
  if (!proto.has_graph()) throw InputError("file", "is not an ONNX model: it has no graph");
  Model model;
  model.file_bytes = static_cast<std::int64_t>(bytes.size());
  model.opset = opset_of(proto);
  if (proto.graph().sparse_initializer_size() > 0) {
    throw InputError("graph", "has sparse initializers", "dense ones");
  }
  for (const onnx::TensorProto& tensor : proto.graph().initializer()) {
    if (!model.constants.emplace(tensor.name(), decode_tensor(tensor, tensor.name())).second) {
      throw InputError("tensor " + tensor.name(), "is made twice");
    }
  }
  decode_ends(proto.graph(), model);
  model.nodes = decode_nodes(proto.graph());
  return model;
}

}  // namespace tilewave::models::onnx_reader
