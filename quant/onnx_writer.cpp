#include "quant/onnx_writer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "models/onnx/layout.h"
#include "quant/onnx_model.h"

namespace tilewave::quant {
namespace {

using models::NodeId;
using models::Shape;
using models::Window;
using models::onnx_reader::swapped_blocks;

/// What a node's tensor is in the file: [N, channels, height, width] or [N, elements].
struct Value {
  std::string tensor;  ///< real values
  int rank = 4;
  /// Where a flattened image's elements are in the order channel, row, column: its shape.
  std::optional<Shape> image = std::nullopt;
};

/// The range that a fused or stand-alone Relu or Clip leaves.
struct Bounds {
  std::int32_t low, high;
};

Format stored_format(const Format& format) {
  return {format.bits > 8 ? 16 : 8, format.is_signed, false};
}

OnnxModel::Attributes window_attributes(const Window& w, bool pool) {
  OnnxModel::Attributes attributes = {
      {"kernel_shape", OnnxModel::Dims{w.kernel_height, w.kernel_width}},
      {"strides", OnnxModel::Dims{w.stride_height, w.stride_width}},
      {"pads", OnnxModel::Dims{w.pad_top, w.pad_left, w.pad_bottom, w.pad_right}}};
  // Old average pools have no such attribute.
  if (!pool || w.dilation_height != 1 || w.dilation_width != 1) {
    attributes.emplace_back("dilations", OnnxModel::Dims{w.dilation_height, w.dilation_width});
  }
  return attributes;
}

class QdqWriter {
 public:
  QdqWriter(const QuantizedGraph& quantized, const models::Graph& graph)
      : quantized_(quantized), graph_(graph), model_(quantized.name) {}

  std::vector<std::uint8_t> run() {
    for (const QNode& node : quantized_.nodes) {
      values_.push_back(std::visit([&](const auto& operation) { return write(operation, node); },
                                   node.operation));
    }
    Value output = in_our_order(values_.back());
    if (std::holds_alternative<models::Softmax>(graph_.output().operation)) {
      output.tensor = model_.add_node("Softmax", {output.tensor}, graph_.output().name,
                                      {{"axis", std::int64_t{1}}});
    }
    model_.add_output(output.tensor, dims_of(quantized_.output().shape, output.rank));
    return model_.bytes(opset_);
  }

 private:
  const QNode& input_node(const QNode& node) const {
    return quantized_.nodes[static_cast<std::size_t>(node.inputs[0])];
  }
  const Value& input(const QNode& node, std::size_t which = 0) const {
    return values_[static_cast<std::size_t>(node.inputs.at(which))];
  }

  static OnnxModel::Dims dims_of(const Shape& shape, int rank) {
    if (rank == 2) return {shape.elements()};
    return {shape.channels, shape.height, shape.width};
  }

  Value write(const QInput&, const QNode& node) {
    Value value{"", 4};
    if (takes_flat_input()) value.rank = 2;
    value.tensor = model_.add_input(node.name, dims_of(node.shape, value.rank));
    const Format& format = node.quantization.format;
    value.tensor = through_integers(value.tensor, node, Bounds{format.qmin(), format.qmax()},
                                    node.name + "_dequantized");
    return value;
  }

  /// Which of the two a 1 x 1 x n input is, the graph does not say; an image would be flattened
  /// before a Dense.
  bool takes_flat_input() const {
    const auto any = [&](auto is_it) { return std::ranges::any_of(quantized_.nodes, is_it); };
    return quantized_.input().shape.pixels() == 1 &&
           any([](const QNode& node) { return std::holds_alternative<QDense>(node.operation); }) &&
           !any([](const QNode& node) { return std::holds_alternative<QFlatten>(node.operation); });
  }

  Value write(const QConv& conv, const QNode& node) {
    const Value from = as_image(input(node), input_node(node).shape);
    const auto out = static_cast<std::int64_t>(conv.bias.size());
    const Window& window = conv.window;
    const std::int64_t pixels = window.kernel_height * window.kernel_width;
    const std::int64_t channels = input_node(node).shape.channels / conv.groups;
    OnnxModel::Attributes attributes = window_attributes(window, false);
    attributes.emplace_back("group", conv.groups);
    const auto constants =
        matrix_constants(conv, node, swapped_blocks(conv.weight, out, pixels, channels),
                         {out, channels, window.kernel_height, window.kernel_width});
    std::string real = model_.add_node("Conv", {from.tensor, constants.first, constants.second},
                                       node.name + "_real", attributes);
    const bool flat = input(node).rank == 2 && node.shape.pixels() == 1;
    if (flat) real = model_.add_node("Flatten", {real}, node.name + "_flat");
    return {through_integers(real, node, bounds_of(conv.requantizer)), flat ? 2 : 4};
  }

  Value write(const QDense& dense, const QNode& node) {
    const Value from = flattened(input(node), input_node(node).shape);
    const auto out = static_cast<std::int64_t>(dense.bias.size());
    const std::int64_t in = input_node(node).shape.elements();
    const auto constants = matrix_constants(
        dense, node,
        from.image ? swapped_blocks(dense.weight, out, from.image->pixels(), from.image->channels)
                   : dense.weight,
        {out, in});
    const std::string real =
        model_.add_node("Gemm", {from.tensor, constants.first, constants.second},
                        node.name + "_real", {{"transB", std::int64_t{1}}});
    return {through_integers(real, node, bounds_of(dense.requantizer)), 2};
  }

  Value write(const QAdd& add, const QNode& node) {
    Value a = input(node, 0);
    Value b = input(node, 1);
    if (a.rank != b.rank || a.image != b.image) {
      a = in_our_order(flattened(a, node.shape));
      b = in_our_order(flattened(b, node.shape));
    }
    const std::string real = model_.add_node("Add", {a.tensor, b.tensor}, node.name + "_real");
    a.tensor = through_integers(real, node, bounds_of(add.adder));
    return a;
  }

  Value write(const QMaxPool& pool, const QNode& node) {
    return write_pool("MaxPool", window_attributes(pool.window, true), node);
  }

  Value write(const QAveragePool& pool, const QNode& node) {
    constexpr std::int64_t kDilatedAverages = 19;  // the opset from which on
    const Window& window = pool.window;
    if (window.dilation_height != 1 || window.dilation_width != 1) need_opset(kDilatedAverages);
    OnnxModel::Attributes attributes = window_attributes(window, true);
    attributes.emplace_back("count_include_pad", std::int64_t{pool.count_include_pad});
    return write_pool("AveragePool", attributes, node);
  }

  Value write_pool(const char* op, const OnnxModel::Attributes& attributes, const QNode& node) {
    const Value from = as_image(input(node), input_node(node).shape);
    const std::string real = model_.add_node(op, {from.tensor}, node.name + "_real", attributes);
    return {through_integers(real, node)};
  }

  Value write(const QLookup& lookup, const QNode& node) {
    Value value = input(node);
    if (lookup.function == "Relu" || lookup.function == "Clip") {
      // Such a table is q itself between its first and its last entry.
      value.tensor =
          through_integers(value.tensor, node, Bounds{lookup.table.front(), lookup.table.back()});
    } else {
      const std::string real =
          model_.add_node(lookup.function, {value.tensor}, node.name + "_real");
      const Format& format = node.quantization.format;
      value.tensor = through_integers(real, node, Bounds{format.qmin(), format.qmax()});
    }
    return value;
  }

  Value write(const QFlatten&, const QNode& node) {
    Value value = flattened(input(node), input_node(node).shape);
    value.tensor = through_integers(value.tensor, node);
    return value;
  }

  Value flattened(const Value& value, const Shape& shape) {
    if (value.rank == 2) return value;
    Value flat{model_.add_node("Flatten", {value.tensor}, value.tensor + "_flat"), 2};
    if (shape.pixels() > 1 && shape.channels > 1) flat.image = shape;
    return flat;
  }

  /// With a flattened image's elements in the order row, column, channel.
  Value in_our_order(const Value& value) {
    if (!value.image) return value;
    const Shape& image = *value.image;
    const std::string shape = shape_constant({0, image.channels, image.height, image.width});
    std::string tensor = model_.add_node("Reshape", {value.tensor, shape}, value.tensor + "_image");
    tensor = model_.add_node("Transpose", {tensor}, value.tensor + "_nhwc",
                             {{"perm", OnnxModel::Dims{0, 2, 3, 1}}});
    return {model_.add_node("Flatten", {tensor}, value.tensor + "_ordered"), 2};
  }

  Value as_image(const Value& value, const Shape& shape) {
    if (value.rank == 4) return value;
    const std::string dims = shape_constant({0, shape.channels, shape.height, shape.width});
    return {
        model_.add_node("Reshape", {in_our_order(value).tensor, dims}, value.tensor + "_image")};
  }

  std::string shape_constant(const OnnxModel::Dims& dims) {
    return model_.add_constant("shape", {static_cast<std::int64_t>(dims.size())}, dims);
  }

  static Bounds bounds_of(const Requantizer& requantizer) {
    return {requantizer.low, requantizer.high};
  }
  static Bounds bounds_of(const Adder& adder) { return {adder.low, adder.high}; }

  /// The real tensor quantized as `node`'s and dequantized again. Clipped before where the bounds
  /// are within what is stored: rounding keeps the order, so that equals clamping the integers.
  std::string through_integers(const std::string& real, const QNode& node,
                               std::optional<Bounds> bounds = std::nullopt,
                               const std::string& name = "") {
    const Quantization& q = node.quantization;
    const Format stored = stored_format(q.format);
    std::string tensor = real;
    if (bounds && (bounds->low > stored.qmin() || bounds->high < stored.qmax())) {
      const std::string low = scalar(node.name + "_low", dequantize(bounds->low, q));
      const std::string high = scalar(node.name + "_high", dequantize(bounds->high, q));
      tensor = model_.add_node("Clip", {tensor, low, high}, node.name + "_clipped");
    }
    const std::string scale = scalar(node.name + "_scale", q.scale);
    const std::string zero_point = zero_point_constant(node.name + "_zero_point", q);
    tensor =
        model_.add_node("QuantizeLinear", {tensor, scale, zero_point}, node.name + "_quantized");
    return model_.add_node("DequantizeLinear", {tensor, scale, zero_point},
                           name.empty() ? node.name : name);
  }

  template <typename T>
  std::string scalar(const std::string& name, T value) {
    return model_.add_constant(name, {}, std::vector<T>{value});
  }

  std::string zero_point_constant(const std::string& name, const Quantization& q) {
    if (q.format.bits > 8) {
      need_opset(kWideIntegers);
      return scalar(name, static_cast<std::int16_t>(q.zero_point));
    }
    if (!q.format.is_signed) return scalar(name, static_cast<std::uint8_t>(q.zero_point));
    return scalar(name, static_cast<std::int8_t>(q.zero_point));
  }

  /// The real weight and bias of a Conv or Dense; `weight` in ONNX's order.
  template <typename Layer>
  std::pair<std::string, std::string> matrix_constants(const Layer& layer, const QNode& node,
                                                       const std::vector<std::int16_t>& weight,
                                                       const OnnxModel::Dims& dims) {
    std::vector<float> bias_scale;
    for (const float scale : layer.weight_scale) {
      bias_scale.push_back(input_node(node).quantization.scale * scale);
    }
    const auto channels = static_cast<std::int64_t>(layer.bias.size());
    const bool narrow = std::all_of(weight.begin(), weight.end(),
                                    [](int q) { return q >= INT8_MIN && q <= INT8_MAX; });
    const std::string name = node.name + "_weight";
    if (!narrow) need_opset(kWideIntegers);
    return {narrow ? dequantized(name, dims, std::vector<std::int8_t>(weight.begin(), weight.end()),
                                 layer.weight_scale)
                   : dequantized(name, dims, weight, layer.weight_scale),
            dequantized(node.name + "_bias", {channels}, layer.bias, bias_scale)};
  }

  /// A constant, dequantized along its first axis or, with one scale for all, as a whole.
  template <typename T>
  std::string dequantized(const std::string& name, const OnnxModel::Dims& dims,
                          const std::vector<T>& values, std::vector<float> scales) {
    OnnxModel::Dims scale_dims = {static_cast<std::int64_t>(scales.size())};
    OnnxModel::Attributes attributes = {{"axis", std::int64_t{0}}};
    if (std::ranges::all_of(scales, [&](float scale) { return scale == scales[0]; })) {
      scales.resize(1);
      scale_dims.clear();
      attributes.clear();
    }
    return model_.add_node(
        "DequantizeLinear",
        {model_.add_constant(name + "_quantized", dims, values),
         model_.add_constant(name + "_scale", scale_dims, scales),
         model_.add_constant(name + "_zero_point", scale_dims, std::vector<T>(scales.size()))},
        name, attributes);
  }

  void need_opset(std::int64_t opset) { opset_ = std::max(opset_, opset); }

  static constexpr std::int64_t kPerChannel = 13;  // the opset from which on
  static constexpr std::int64_t kWideIntegers = 21;

  const QuantizedGraph& quantized_;
  const models::Graph& graph_;
  OnnxModel model_;
  std::vector<Value> values_;  // of the nodes so far
  std::int64_t opset_ = kPerChannel;
};

}  // namespace

std::vector<std::uint8_t> to_onnx(const QuantizedGraph& quantized, const models::Graph& graph) {
  return QdqWriter(quantized, graph).run();
}

}  // namespace tilewave::quant
