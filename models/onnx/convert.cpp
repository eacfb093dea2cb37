#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "models/onnx/layout.h"
#include "models/onnx/model.h"

namespace tilewave::models::onnx_reader {
namespace {

/// What a tensor of the ONNX graph is in ours. ONNX's shape is [batch, channels, height, width]
/// (rank 4) or [batch, elements] (rank 2).
struct Value {
  NodeId id = 0;
  int rank = 4;
  /// For a flattened image of several pixels and channels: the image, whose elements ONNX keeps
  /// in the order channel, row, column, and this graph in the order row, column, channel.
  std::optional<Shape> image = std::nullopt;
};

/// A few nodes may share one tensor of the file; a hostile file would share it often.
constexpr std::int64_t kWeightsPerFileByte = 16;
constexpr std::int64_t kFreeWeightBytes = std::int64_t{1} << 26;

class Converter {
 public:
  Converter(Model model, const std::string& name)
      : model_(std::move(model)),
        graph_(name, input_shape(), input_name()),
        weight_bytes_left_(kFreeWeightBytes + kWeightsPerFileByte * model_.file_bytes) {
    values_[model_.input] = {0, static_cast<int>(model_.input_dims.size())};
  }

  Converted run() {
    for (const OnnxNode& node : model_.nodes) convert(node);
    const Value output = data(model_.output, "output " + model_.output);
    const Node& last = graph_.output();
    TILEWAVE_CHECK(&graph_.node(output.id), ==, &last, "every node leads to the output");
    if (output.id == 0) throw InputError("graph", "has no node that computes anything");
    reject_image(output, "output " + model_.output);
    return {std::move(graph_), std::move(affine_)};
  }

 private:
  using Handler = Value (Converter::*)(const OnnxNode&, Attributes&);
  struct Operator {
    const char* name;
    Handler handler;
    std::size_t least_inputs, most_inputs;
  };
  static const std::vector<Operator>& operators();

  Shape input_shape() const {
    const Integers& dims = model_.input_dims;
    return dims.size() == 2 ? Shape{1, 1, dims[1]} : Shape{dims[2], dims[3], dims[1]};
  }
  std::string input_name() const {
    std::set<std::string> taken;
    for (const OnnxNode& node : model_.nodes) taken.insert(node.name);
    std::string name = model_.input.empty() ? "input" : printable(model_.input);
    while (taken.contains(name)) name += "_input";
    return name;
  }

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

// --- The walk over the nodes

const std::vector<Converter::Operator>& Converter::operators() {
  static const std::vector<Operator> table = {
      {"Add", &Converter::add, 2, 2},
      {"AveragePool", &Converter::average_pool, 1, 1},
      {"BatchNormalization", &Converter::batch_normalization, 5, 5},
      {"Clip", &Converter::clip, 1, 3},
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
  if (convert_constant(node, attributes)) return;
  const auto& table = operators();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Operator& entry) { return node.op == entry.name; });
  if (found == table.end()) {
    std::vector<std::string> names = {"Constant"};
    for (const Operator& entry : table) names.emplace_back(entry.name);
    std::sort(names.begin(), names.end());
    throw InputError(node.where(), "operator " + node.op + " is not supported",
                     "supported are " + join(names, ", "));
  }
  if (node.inputs.size() < found->least_inputs || node.inputs.size() > found->most_inputs) {
    throw InputError(
        node.where(), "has " + std::to_string(node.inputs.size()) + " inputs",
        std::to_string(found->least_inputs) + " to " + std::to_string(found->most_inputs));
  }
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

// --- What nodes read

Value Converter::data(const std::string& tensor, const std::string& where) const {
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

// --- Arithmetic with weights

/// A constant's values per channel of `value`, broadcast as ONNX does.
Floats Converter::per_channel(const Tensor& tensor, const Value& value, std::int64_t channels,
                              const std::string& where) {
  const Integers& dims = tensor.dims;
  const auto rank = static_cast<std::size_t>(value.rank);
  bool fits = dims.size() <= rank;
  std::int64_t size = 1;
  for (std::size_t i = 0; fits && i < dims.size(); ++i) {
    const std::size_t axis = rank - dims.size() + i;
    if (axis == 1) size = dims[i];
    fits = axis == 1 ? size == 1 || size == channels : dims[i] == 1;
  }
  if (!fits) {
    throw InputError(where, "constant " + tensor.name + " is not one value per channel",
                     "1 or " + std::to_string(channels) + " values along the channels");
  }
  const Floats& floats = std::get<Floats>(tensor.values);
  charge(channels, where);
  return size == 1 ? Floats(static_cast<std::size_t>(channels), floats[0]) : floats;
}

Value Converter::affine(const OnnxNode& node, const Value& input, Floats scale, Floats shift) {
  const std::int64_t channels = shape(input).channels;
  if (input.image) {
    scale = columns_to_nhwc(scale, 1, *input.image);
    shift = columns_to_nhwc(shift, 1, *input.image);
  }
  const Value value = append(node, Conv{{}, channels, std::move(scale), std::move(shift)}, input);
  affine_.push_back(value.id);
  return value;
}

Value Converter::batch_normalization(const OnnxNode& node, Attributes& attributes) {
  const Value input = data(node, 0);
  const float epsilon = attributes.real("epsilon", 1e-5f);
  attributes.real("momentum", 0);  // for training only
  if (attributes.integer("spatial", 1) != 1) throw InputError(node.where(), "spatial is 0", "1");
  if (attributes.integer("training_mode", 0) != 0) {
    throw InputError(node.where(), "is in training mode", "inference");
  }
  const auto channels = static_cast<std::size_t>(shape(input).channels);
  const auto parameter = [&](std::size_t index) -> const Floats& {
    const Tensor& tensor = weights(node, index);
    const Floats& floats = std::get<Floats>(tensor.values);
    if (tensor.dims.size() != 1 || floats.size() != channels) {
      throw InputError(node.where(),
                       "input " + std::to_string(index) + " has " + std::to_string(floats.size()) +
                           " values in " + std::to_string(tensor.dims.size()) + " dimensions",
                       std::to_string(channels) + " in 1, as there are channels");
    }
    return floats;
  };
  const Floats& gamma = parameter(1);
  const Floats& beta = parameter(2);
  const Floats& mean = parameter(3);
  const Floats& variance = parameter(4);
  charge(2 * static_cast<std::int64_t>(channels), node.where());
  Floats scale(channels), shift(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const double spread = double{variance[c]} + double{epsilon};
    if (!(spread > 0)) {
      throw InputError(
          node.where(),
          "the variance of channel " + std::to_string(c) + " is " + number_text(variance[c]),
          "variance + epsilon above 0");
    }
    const double factor = double{gamma[c]} / std::sqrt(spread);
    scale[c] = static_cast<float>(factor);
    shift[c] = static_cast<float>(double{beta[c]} - double{mean[c]} * factor);
  }
  return affine(node, input, std::move(scale), std::move(shift));
}

Value Converter::add(const OnnxNode& node, Attributes&) {
  const bool first = constant(node, 0) != nullptr;
  if (first || constant(node, 1)) {
    const Value input = data(node, first ? 1 : 0);
    const std::int64_t channels = shape(input).channels;
    Floats shift = per_channel(weights(node, first ? 0 : 1), input, channels, node.where());
    charge(channels, node.where());
    return affine(node, input, Floats(static_cast<std::size_t>(channels), 1.0f), std::move(shift));
  }
  const Value a = data(node, 0);
  const Value b = data(node, 1);
  if (a.rank != b.rank || a.image != b.image) {
    throw InputError(node.where(), "its inputs differ in their dimensions",
                     "two tensors of the same shape");
  }
  return {graph_.add(node.name, Add{}, {a.id, b.id}), a.rank, a.image};
}

Value Converter::conv(const OnnxNode& node, Attributes& attributes) {
  const Value input = data(node, 0, 4);
  const Tensor& weight = weights(node, 1);
  const Integers& dims = weight.dims;
  if (dims.size() != 4) {
    throw InputError(node.where(), "its weight has " + std::to_string(dims.size()) + " dimensions",
                     "4: outputs, channels per group, height, width");
  }
  const Integers kernel = {dims[2], dims[3]};
  if (attributes.integers("kernel_shape", kernel) != kernel) {
    throw InputError(node.where(), "kernel_shape differs from its weight's",
                     std::to_string(kernel[0]) + " x " + std::to_string(kernel[1]));
  }
  const std::int64_t groups = attributes.integer("group", 1);
  const std::int64_t channels = shape(input).channels;
  if (groups < 1 || channels % groups != 0 || channels / groups != dims[1]) {
    throw InputError(node.where(),
                     "its weight is for " + std::to_string(dims[1]) + " channels in each of " +
                         std::to_string(groups) + " groups",
                     "the input has " + std::to_string(channels) + " channels");
  }
  charge(static_cast<std::int64_t>(std::get<Floats>(weight.values).size()), node.where());
  Conv conv{take_window(attributes, kernel, shape(input), node.where()),
            groups,
            filters_to_nhwc(std::get<Floats>(weight.values), dims),
            {}};
  if (node.inputs.size() > 2 && !node.inputs[2].empty()) {
    conv.bias = std::get<Floats>(weights(node, 2).values);
    if (std::cmp_not_equal(conv.bias.size(), dims[0])) {
      throw InputError(node.where(), "its bias has " + std::to_string(conv.bias.size()) + " values",
                       std::to_string(dims[0]) + ", as there are outputs");
    }
  } else {
    conv.bias.resize(static_cast<std::size_t>(dims[0]));
  }
  return append(node, std::move(conv), input);
}

/// `matrix` is [inputs][outputs], or [outputs][inputs] if `transposed`.
Value Converter::dense(const OnnxNode& node, const Value& input, const Tensor& matrix,
                       bool transposed, float factor, Floats bias) {
  const std::int64_t inputs = matrix.dims[transposed ? 1 : 0];
  const std::int64_t outputs = matrix.dims[transposed ? 0 : 1];
  if (inputs != shape(input).elements()) {
    throw InputError(node.where(), "its matrix is for " + std::to_string(inputs) + " inputs",
                     "the input has " + std::to_string(shape(input).elements()) + " elements");
  }
  charge(inputs * outputs, node.where());
  Floats weight = std::get<Floats>(matrix.values);
  if (!transposed) weight = swapped_axes(weight, inputs, outputs);
  if (input.image) weight = columns_to_nhwc(weight, outputs, *input.image);
  if (factor != 1) {
    for (float& value : weight) value *= factor;
  }
  return {graph_.add(node.name, Dense{std::move(weight), std::move(bias)}, {input.id}), 2};
}

/// The constant matrix at input 1 of a Gemm or MatMul.
const Tensor& checked_matrix(const Tensor& matrix, const std::string& where) {
  if (matrix.dims.size() != 2) {
    throw InputError(where, "its matrix has " + std::to_string(matrix.dims.size()) + " dimensions",
                     "2");
  }
  return matrix;
}

Value Converter::gemm(const OnnxNode& node, Attributes& attributes) {
  const Value input = data(node, 0, 2);
  const Tensor& matrix = checked_matrix(weights(node, 1), node.where());
  if (attributes.integer("transA", 0) != 0) throw InputError(node.where(), "transA is not 0", "0");
  const bool transposed = attributes.integer("transB", 0) != 0;
  const float alpha = attributes.real("alpha", 1);
  const float beta = attributes.real("beta", 1);
  const std::int64_t outputs = matrix.dims[transposed ? 0 : 1];
  Floats bias;
  if (node.inputs.size() > 2 && !node.inputs[2].empty()) {
    bias = per_channel(weights(node, 2), input, outputs, node.where());
    for (float& value : bias) value *= beta;
  } else {
    bias.resize(static_cast<std::size_t>(outputs));
  }
  return dense(node, input, matrix, transposed, alpha, std::move(bias));
}

Value Converter::matmul(const OnnxNode& node, Attributes&) {
  const Value input = data(node, 0, 2);
  const Tensor& matrix = checked_matrix(weights(node, 1), node.where());
  return dense(node, input, matrix, false, 1, Floats(static_cast<std::size_t>(matrix.dims[1])));
}

// --- Windows

Window Converter::pool_window(const OnnxNode& node, Attributes& attributes, const Value& input) {
  const Integers kernel = attributes.integers("kernel_shape", {});
  const bool right = kernel.size() == 2 && std::all_of(kernel.begin(), kernel.end(), [](auto size) {
                       return size >= 1 && size <= kMaxElements;
                     });
  if (!right) {
    throw InputError(node.where(), "kernel_shape is missing or wrong",
                     "2 values of 1 to " + std::to_string(kMaxElements));
  }
  return take_window(attributes, kernel, shape(input), node.where());
}

Value Converter::max_pool(const OnnxNode& node, Attributes& attributes) {
  const Value input = data(node, 0, 4);
  Window window = pool_window(node, attributes, input);
  attributes.integer("storage_order", 0);  // of the indices, which are not supported
  if (attributes.integer("ceil_mode", 0) != 0) pad_to_ceiling(window, shape(input));
  return append(node, MaxPool{window}, input);
}

Value Converter::average_pool(const OnnxNode& node, Attributes& attributes) {
  const Value input = data(node, 0, 4);
  Window window = pool_window(node, attributes, input);
  const bool count_include_pad = attributes.integer("count_include_pad", 0) != 0;
  const bool ceiling = attributes.integer("ceil_mode", 0) != 0;
  if (ceiling && pad_to_ceiling(window, shape(input)) && count_include_pad) {
    // The places that ceil_mode adds are not counted, those of pads are: no one divisor fits.
    throw InputError(node.where(), "ceil_mode with count_include_pad is not supported");
  }
  return append(node, AveragePool{window, count_include_pad}, input);
}

Value Converter::global_average_pool(const OnnxNode& node, Attributes&) {
  const Value input = data(node, 0, 4);
  const Window window{.kernel_height = shape(input).height, .kernel_width = shape(input).width};
  return append(node, AveragePool{window, false}, input);
}

// --- Element by element

Value Converter::clip(const OnnxNode& node, Attributes& attributes) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const Value input = data(node, 0);
  // Attributes up to opset 10, inputs from 11 on.
  float low = attributes.real("min", -kLargest);
  float high = attributes.real("max", kLargest);
  low = scalar(node, 1).value_or(low);
  high = scalar(node, 2).value_or(high);
  if (low <= -kLargest && high >= kLargest) return input;
  if (low == 0 && high >= kLargest) return append(node, Relu{}, input);
  return append(node, Clip{low, high}, input);
}

Value Converter::dropout(const OnnxNode& node, Attributes& attributes) {
  attributes.real("ratio", 0);
  attributes.integer("seed", 0);
  if (node.inputs.size() > 2 && !node.inputs[2].empty()) {
    const Tensor* training = constant(node, 2);
    if (!training || training->values != decltype(training->values){Integers{0}}) {
      throw InputError(node.where(), "may be in training mode", "training_mode a constant false");
    }
  }
  return data(node, 0);
}

Value Converter::softmax(const OnnxNode& node, Attributes& attributes) {
  const Value input = data(node, 0);
  constexpr std::int64_t kLastAxisByDefault = 13;  // the opset from which on
  const std::int64_t axis = attributes.integer("axis", model_.opset >= kLastAxisByDefault ? -1 : 1);
  if (axis != 1 && axis != 1 - input.rank) {
    throw InputError(node.where(), "axis is " + std::to_string(axis), "1, the channels");
  }
  reject_image(input, node.where());
  return append(node, Softmax{}, input);
}

// --- Shapes

Value Converter::flattened(const OnnxNode& node, const Value& input) {
  if (input.rank == 2) return input;
  const Shape image = shape(input);
  Value value = append(node, Flatten{}, input);
  value.rank = 2;
  if (image.pixels() > 1 && image.channels > 1) value.image = image;
  return value;
}

Value Converter::flatten(const OnnxNode& node, Attributes& attributes) {
  const Value input = data(node, 0);
  const std::int64_t axis = attributes.integer("axis", 1);
  if (axis != 1 && axis != 1 - input.rank) {
    throw InputError(node.where(), "axis is " + std::to_string(axis), "1");
  }
  return flattened(node, input);
}

Value Converter::reshape(const OnnxNode& node, Attributes& attributes) {
  const Value input = data(node, 0);
  const bool allow_zero = attributes.integer("allowzero", 0) != 0;
  const Tensor* tensor = constant(node, 1);
  const auto* target = tensor ? std::get_if<Integers>(&tensor->values) : nullptr;
  if (!target) throw InputError(node.where(), "its shape is not a constant of whole numbers");
  const Shape& from = shape(input);
  const std::int64_t batch = model_.input_dims[0];
  Integers dims = {batch, from.channels, from.height, from.width};
  if (input.rank == 2) dims.resize(2);
  if (reshape_makes(dims, dims, *target, allow_zero)) return input;
  if (reshape_makes(dims, {batch, from.elements()}, *target, allow_zero)) {
    return flattened(node, input);
  }
  throw InputError(node.where(), "reshapes to something else than [batch, elements]",
                   "[-1, " + std::to_string(from.elements()) + "] or [0, -1]");
}

}  // namespace

Converted convert(Model model, const std::string& name) {
  return Converter(std::move(model), name).run();
}

}  // namespace tilewave::models::onnx_reader
