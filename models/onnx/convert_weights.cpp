#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "models/onnx/converter.h"
#include "models/onnx/layout.h"

namespace tilewave::models::onnx_reader {
namespace {

/// The constant matrix at input 1 of a Gemm or MatMul.
const Tensor& checked_matrix(const Tensor& matrix, const std::string& where) {
  if (matrix.dims.size() != 2) {
    throw InputError(where, "its matrix has " + std::to_string(matrix.dims.size()) + " dimensions",
                     "2");
  }
  return matrix;
}

}  // namespace

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

}  // namespace tilewave::models::onnx_reader
