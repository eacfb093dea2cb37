#include "models/graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace tilewave::models {
namespace {

std::string printed(const Shape& shape) {
  return std::to_string(shape.height) + " x " + std::to_string(shape.width) + " x " +
         std::to_string(shape.channels);
}

/// Throws unless the shape's sizes and their product are in [1, kMaxElements].
Shape checked(const Shape& shape, const std::string& where) {
  const std::string allowed =
      "height x width x channels of 1 to " + std::to_string(kMaxElements) + " in all";
  if (shape.height < 1 || shape.width < 1 || shape.channels < 1 ||
      !checked_product({shape.height, shape.width, shape.channels}, kMaxElements)) {
    throw InputError(where, "the shape " + printed(shape) + " is out of range", allowed);
  }
  return shape;
}

void check_field(std::int64_t value, std::int64_t least, const char* name,
                 const std::string& where) {
  if (value < least || value > kMaxElements) {
    throw InputError(where, std::string(name) + " is " + std::to_string(value),
                     std::to_string(least) + " to " + std::to_string(kMaxElements));
  }
}

/// One direction of a window, its fields checked already.
std::int64_t windowed_size(std::int64_t input, std::int64_t kernel, std::int64_t stride,
                           std::int64_t dilation, std::int64_t padding, const char* direction,
                           const std::string& where) {
  const std::int64_t reach = (kernel - 1) * dilation + 1;
  const std::int64_t padded = input + padding;
  if (reach > padded) {
    throw InputError(where, std::string("the window's ") + direction + " of " +
                                std::to_string(reach) + " does not fit the padded input's " +
                                std::to_string(padded));
  }
  return (padded - reach) / stride + 1;
}

/// A pool's window must hold at least one place of the input wherever it stands: with less padding
/// than it reaches, and dilated taps no further apart than the input is long.
void check_pool_padding(std::int64_t input, std::int64_t kernel, std::int64_t dilation,
                        std::int64_t before, std::int64_t after, const char* direction,
                        const std::string& where) {
  const std::int64_t reach = (kernel - 1) * dilation + 1;
  if (std::max(before, after) >= reach) {
    throw InputError(where,
                     std::string("padding of ") + std::to_string(std::max(before, after)) +
                         " is not smaller than the window's " + direction,
                     "less than " + std::to_string(reach));
  }
  if (before > 0 && dilation > input) {
    throw InputError(
        where,
        std::string("with padding, a dilation of ") + std::to_string(dilation) +
            " can place the whole window outside the input",
        "at most the input's " + std::string(direction) + " of " + std::to_string(input));
  }
}

void check_finite(const std::vector<float>& values, const char* name, const std::string& where) {
  const auto bad = std::find_if_not(values.begin(), values.end(),
                                    [](float value) { return std::isfinite(value); });
  if (bad != values.end()) {
    throw InputError(where,
                     std::string(name) + "[" + std::to_string(bad - values.begin()) + "] is " +
                         (std::isnan(*bad) ? "NaN" : "infinite"),
                     "finite values");
  }
}

/// bias is [out] and weight has out * per_output values, all finite. Returns out.
std::int64_t check_weights(const std::vector<float>& weight, const std::vector<float>& bias,
                           std::initializer_list<std::int64_t> per_output,
                           const std::string& where) {
  const auto out = static_cast<std::int64_t>(bias.size());
  check_field(out, 1, "the number of outputs (biases)", where);
  const auto inputs = checked_product(per_output, kMaxElements);
  const auto expected = inputs ? checked_product({out, *inputs}) : std::nullopt;
  if (!expected || std::cmp_not_equal(weight.size(), *expected)) {
    throw InputError(where, "the weight has " + std::to_string(weight.size()) + " values",
                     expected ? std::to_string(*expected) + " expected from the shapes"
                              : "the shapes ask for more than can be held");
  }
  check_finite(weight, "weight", where);
  check_finite(bias, "bias", where);
  return out;
}

/// Infers the shape of one operation's output from its inputs' shapes.
struct Inference {
  std::vector<Shape> inputs;
  const std::string& where;

  Shape operator()(const Input&) const {
    throw InputError(where, "a graph has one Input, its node 0");
  }
  Shape operator()(const Conv& conv) const {
    const Shape& input = inputs[0];
    Shape shape = windowed_shape(conv.window, input, where);
    check_field(conv.groups, 1, "groups", where);
    const auto out = static_cast<std::int64_t>(conv.bias.size());
    if (input.channels % conv.groups != 0 || out % conv.groups != 0) {
      throw InputError(where, "groups is " + std::to_string(conv.groups),
                       "a divisor of the input's " + std::to_string(input.channels) +
                           " and the output's " + std::to_string(out) + " channels");
    }
    shape.channels = check_weights(
        conv.weight, conv.bias,
        {conv.window.kernel_height, conv.window.kernel_width, input.channels / conv.groups}, where);
    return shape;
  }
  Shape operator()(const Dense& dense) const {
    return {1, 1, check_weights(dense.weight, dense.bias, {inputs[0].elements()}, where)};
  }
  Shape operator()(const Add&) const {
    if (inputs[0] != inputs[1]) {
      throw InputError(where, "cannot add " + printed(inputs[0]) + " and " + printed(inputs[1]),
                       "two tensors of the same shape");
    }
    return inputs[0];
  }
  Shape operator()(const Relu&) const { return inputs[0]; }
  Shape operator()(const Clip& clip) const {
    if (!(clip.low <= clip.high)) {
      throw InputError(
          where, "clips to [" + std::to_string(clip.low) + ", " + std::to_string(clip.high) + "]",
          "a low bound that is not above the high one");
    }
    return inputs[0];
  }
  Shape operator()(const Sigmoid&) const { return inputs[0]; }
  Shape operator()(const Tanh&) const { return inputs[0]; }
  Shape operator()(const MaxPool& pool) const {
    return pooled_shape(pool.window, inputs[0], where);
  }
  Shape operator()(const AveragePool& pool) const {
    return pooled_shape(pool.window, inputs[0], where);
  }
  Shape operator()(const Flatten&) const { return {1, 1, inputs[0].elements()}; }
  Shape operator()(const Softmax&) const {
    if (inputs[0].pixels() != 1) {
      throw InputError(where, "its input is " + printed(inputs[0]), "a flat tensor, 1 x 1 x n");
    }
    return inputs[0];
  }
};

}  // namespace

Shape windowed_shape(const Window& window, const Shape& input, const std::string& where) {
  check_field(window.kernel_height, 1, "kernel height", where);
  check_field(window.kernel_width, 1, "kernel width", where);
  check_field(window.stride_height, 1, "stride height", where);
  check_field(window.stride_width, 1, "stride width", where);
  check_field(window.dilation_height, 1, "dilation height", where);
  check_field(window.dilation_width, 1, "dilation width", where);
  check_field(window.pad_top, 0, "top padding", where);
  check_field(window.pad_left, 0, "left padding", where);
  check_field(window.pad_bottom, 0, "bottom padding", where);
  check_field(window.pad_right, 0, "right padding", where);
  checked(input, where + ": input");
  const Shape shape{
      windowed_size(input.height, window.kernel_height, window.stride_height,
                    window.dilation_height, window.pad_top + window.pad_bottom, "height", where),
      windowed_size(input.width, window.kernel_width, window.stride_width, window.dilation_width,
                    window.pad_left + window.pad_right, "width", where),
      input.channels};
  return checked(shape, where);
}

Shape pooled_shape(const Window& window, const Shape& input, const std::string& where) {
  const Shape shape = windowed_shape(window, input, where);
  check_pool_padding(input.height, window.kernel_height, window.dilation_height, window.pad_top,
                     window.pad_bottom, "height", where);
  check_pool_padding(input.width, window.kernel_width, window.dilation_width, window.pad_left,
                     window.pad_right, "width", where);
  return shape;
}

std::string operation_name(const Operation& operation) {
  static constexpr std::array<const char*, std::variant_size_v<Operation>> kNames = {
      "Input",   "Conv", "Gemm",    "Add",         "Relu",    "Clip",
      "Sigmoid", "Tanh", "MaxPool", "AveragePool", "Flatten", "Softmax"};
  return kNames[operation.index()];
}

Graph::Graph(std::string name, Shape input, std::string input_name) : name_(std::move(name)) {
  checked(input, "node " + input_name + " (Input)");
  names_.insert(input_name);
  nodes_.push_back({std::move(input_name), Input{}, {}, input});
}

NodeId Graph::add(std::string name, Operation operation, std::vector<NodeId> inputs) {
  const std::string where = "node " + name + " (" + operation_name(operation) + ")";
  const std::size_t arity = std::holds_alternative<Input>(operation) ? 0
                            : std::holds_alternative<Add>(operation) ? 2
                                                                     : 1;
  if (name.empty()) throw InputError(where, "the name is empty");
  if (names_.contains(name)) throw InputError(where, "another node has this name");
  if (inputs.size() != arity) {
    throw InputError(where, "has " + std::to_string(inputs.size()) + " inputs",
                     std::to_string(arity));
  }
  if (std::holds_alternative<Softmax>(output().operation)) {
    throw InputError(where, "follows a Softmax", "a Softmax only as the last node");
  }
  Inference inference{{}, where};
  for (const NodeId id : inputs) {
    if (id < 0 || std::cmp_greater_equal(id, nodes_.size())) {
      throw InputError(where, "reads node number " + std::to_string(id), "earlier nodes");
    }
    inference.inputs.push_back(node(id).shape);
  }
  const Shape shape = checked(std::visit(inference, operation), where);
  names_.insert(name);
  nodes_.push_back({std::move(name), std::move(operation), std::move(inputs), shape});
  return static_cast<NodeId>(nodes_.size() - 1);
}

std::vector<NodeId> Graph::consumers(NodeId id) const {
  std::vector<NodeId> readers;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (std::find(nodes_[i].inputs.begin(), nodes_[i].inputs.end(), id) != nodes_[i].inputs.end()) {
      readers.push_back(static_cast<NodeId>(i));
    }
  }
  return readers;
}

}  // namespace tilewave::models
