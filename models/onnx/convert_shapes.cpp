#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "models/onnx/converter.h"
#include "models/onnx/layout.h"

namespace tilewave::models::onnx_reader {

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
  if (node.inputs.size() > 1 && !node.inputs[1].empty() && !constant(node, 1)) {
    throw InputError(node.where(), "its ratio is not a constant");
  }
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

}  // namespace tilewave::models::onnx_reader
