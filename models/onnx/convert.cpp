#include <algorithm>
#include <functional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "models/onnx/converter.h"
#include "models/onnx/layout.h"

namespace tilewave::models::onnx_reader {
namespace {

/// A few nodes may share one tensor of the file; a hostile file would share it often.
constexpr std::int64_t kWeightsPerFileByte = 16;
constexpr std::int64_t kFreeWeightBytes = std::int64_t{1} << 26;

Shape input_shape(const Model& model) {
  const Integers& dims = model.input_dims;
  return dims.size() == 2 ? Shape{1, 1, dims[1]} : Shape{dims[2], dims[3], dims[1]};
}
std::string input_name(const Model& model) {
  std::set<std::string> taken;
  for (const OnnxNode& node : model.nodes) taken.insert(node.name);
  std::string name = model.input.empty() ? "input" : printable(model.input);
  while (taken.contains(name)) name += "_input";
  return name;
}

}  // namespace

Converter::Converter(Model model, const std::string& name)
    : model_(std::move(model)),
      graph_(name, input_shape(model_), input_name(model_)),
      weight_bytes_left_(kFreeWeightBytes + kWeightsPerFileByte * model_.file_bytes) {
  values_[model_.input] = {0, static_cast<int>(model_.input_dims.size())};
}

Converted Converter::run() {
  for (const OnnxNode& node : model_.nodes) convert(node);
  const Value output = data(model_.output, "output " + model_.output);
  const Node& last = graph_.output();
  TILEWAVE_CHECK(&graph_.node(output.id), ==, &last, "every node leads to the output");
  if (output.id == 0) throw InputError("graph", "has no node that computes anything");
  reject_image(output, "output " + model_.output);
  return {std::move(graph_), std::move(affine_)};
}

const std::vector<Converter::Operator>& Converter::operators() {
  static const std::vector<Operator> table = {
      {"Add", &Converter::add, 2, 2},
      {"AveragePool", &Converter::average_pool, 1, 1},
      {"BatchNormalization", &Converter::batch_normalization, 5, 5},
      {"Clip", &Converter::clip, 1, 3},
      {"Constant", nullptr, 0, 0},  // never reaches its handler: convert_constant does it
      {"Conv", &Converter::conv, 2, 3},
      {"Dropout", &Converter::dropout, 1, 3},
      {"Flatten", &Converter::flatten, 1, 1},
      {"Gemm", &Converter::gemm, 2, 3},
      {"GlobalAveragePool", &Converter::global_average_pool, 1, 1},
      {"Identity", &Converter::identity, 1, 1},
      {"MatMul", &Converter::matmul, 2, 2},
      {"MaxPool", &Converter::max_pool, 1, 1},
      {"Relu", &Converter::relu, 1, 1},
      {"Reshape", &Converter::reshape, 2, 2},
      {"Sigmoid", &Converter::sigmoid, 1, 1},
      {"Softmax", &Converter::softmax, 1, 1},
      {"Tanh", &Converter::tanh, 1, 1},
  };
  return table;
}

void Converter::convert(const OnnxNode& node) {
  Attributes attributes(node);
  if (node.outputs.empty() || node.outputs[0].empty()) {
    throw InputError(node.where(), "has no first output");
  }
  const auto& table = operators();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Operator& entry) { return node.op == entry.name; });
  if (found == table.end()) {
    std::vector<std::string> names;
    for (const Operator& entry : table) names.emplace_back(entry.name);
    throw InputError(node.where(), "operator " + node.op + " is not supported",
                     "supported are " + join(names, ", "));
  }
  if (node.inputs.size() < found->least_inputs || node.inputs.size() > found->most_inputs) {
    throw InputError(
        node.where(), "has " + std::to_string(node.inputs.size()) + " inputs",
        std::to_string(found->least_inputs) + " to " + std::to_string(found->most_inputs));
  }
  if (convert_constant(node, attributes)) return;
  const Value value = std::invoke(found->handler, *this, node, attributes);
  attributes.finish();
  values_[node.outputs[0]] = value;
}

/// Nodes that only name a constant, or give one another shape.
bool Converter::convert_constant(const OnnxNode& node, Attributes& attributes) {
  Tensor made;
  const Tensor* source = constant(node, 0);
  if (node.op == "Constant") {
    made = attributes.constant();
  } else if (source && (node.op == "Identity" || node.op == "Reshape")) {
    made = *source;
  } else {
    return false;
  }
  if (source && node.op == "Reshape") {
    const Tensor* target = constant(node, 1);
    const auto* dims = target ? std::get_if<Integers>(&target->values) : nullptr;
    if (!dims) throw InputError(node.where(), "its shape is not a constant of whole numbers");
    made.dims =
        reshaped(source->dims, *dims, attributes.integer("allowzero", 0) != 0, node.where());
  }
  attributes.finish();
  if (const auto* floats = std::get_if<Floats>(&made.values)) {
    charge(static_cast<std::int64_t>(floats->size()), node.where());
  }
  model_.constants[node.outputs[0]] = std::move(made);
  return true;
}

Value Converter::data(const std::string& tensor, const std::string& where) const {
  if (tensor.empty()) throw InputError(where, "leaves out an input that it needs");
  if (const auto value = values_.find(tensor); value != values_.end()) return value->second;
  if (model_.constants.contains(tensor)) {
    throw InputError(where, "tensor " + tensor + " is a constant", "a tensor made from the input");
  }
  throw InputError(where, "tensor " + tensor + " is an optional output that is not supported");
}

/// The tensor at this input; of rank `rank` unless that is 0.
Value Converter::data(const OnnxNode& node, std::size_t input, int rank) const {
  const Value value = data(node.inputs[input], node.where());
  if (rank != 0 && value.rank != rank) {
    throw InputError(node.where(), "its input has " + std::to_string(value.rank) + " dimensions",
                     rank == 4 ? "4: batch, channels, height, width" : "2: batch, elements");
  }
  return value;
}

/// Null where the input is left out or is no constant.
const Tensor* Converter::constant(const OnnxNode& node, std::size_t input) const {
  if (input >= node.inputs.size() || node.inputs[input].empty()) return nullptr;
  const auto found = model_.constants.find(node.inputs[input]);
  return found == model_.constants.end() ? nullptr : &found->second;
}

/// A constant of floating-point values, at least one.
const Tensor& Converter::weights(const OnnxNode& node, std::size_t input) const {
  const std::string name = "input " + std::to_string(input) + ", " + node.inputs[input] + ",";
  const Tensor* tensor = constant(node, input);
  if (!tensor) throw InputError(node.where(), name + " is not a constant");
  const auto* floats = std::get_if<Floats>(&tensor->values);
  if (!floats) {
    throw InputError(node.where(), name + " is of type " + tensor->type,
                     "FLOAT, DOUBLE or FLOAT16");
  }
  if (floats->empty()) throw InputError(node.where(), name + " is empty");
  return *tensor;
}

std::optional<float> Converter::scalar(const OnnxNode& node, std::size_t input) const {
  if (input >= node.inputs.size() || node.inputs[input].empty()) return std::nullopt;
  const Floats& floats = std::get<Floats>(weights(node, input).values);
  if (floats.size() != 1) {
    throw InputError(
        node.where(),
        "input " + std::to_string(input) + " has " + std::to_string(floats.size()) + " values",
        "one");
  }
  return floats[0];
}

/// Called before weights are made.
void Converter::charge(std::int64_t floats, const std::string& where) {
  const std::int64_t bytes = floats * static_cast<std::int64_t>(sizeof(float));
  if (bytes > weight_bytes_left_) {
    throw InputError(where, "shares tensors of the file so often that its weights do not fit",
                     std::to_string(kWeightsPerFileByte) + " times the file's size");
  }
  weight_bytes_left_ -= bytes;
}

void Converter::reject_image(const Value& value, const std::string& where) const {
  if (!value.image) return;
  throw InputError(where,
                   "is a flattened image of " + std::to_string(value.image->pixels()) +
                       " pixels and " + std::to_string(value.image->channels) +
                       " channels, whose order of elements is not kept",
                   "flattened images only before Gemm or MatMul");
}

Converted convert(Model model, const std::string& name) {
  return Converter(std::move(model), name).run();
}

}  // namespace tilewave::models::onnx_reader
