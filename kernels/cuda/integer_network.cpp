#include <numeric>

#include "base/error.h"
#include "kernels/cuda/layers.h"
#include "kernels/cuda/network.h"

namespace tilewave::kernels::gpu {
namespace {

using quant::QNode;

/// What unsigned values lie above s8.
constexpr std::int32_t kUnsignedShift = 128;

void check_formats(const quant::QuantizedGraph& graph) {
  const auto refuse = [](const std::string& where, int bits) {
    throw InputError(where, "has values of " + std::to_string(bits) + " bits",
                     "2 to 8 bits, which is what cuBLAS multiplies");
  };
  if (graph.weight_format().bits > 8) refuse(graph.name, graph.weight_format().bits);
  for (const QNode& node : graph.nodes) {
    const quant::Format& format = node.quantization.format;
    if (format.bits > 8) refuse(graph.name + ": " + node.name, format.bits);
    TILEWAVE_CHECK(format.is_signed, ==, graph.input().quantization.format.is_signed,
                   "all activations are of one format");
  }
}

void check_sums(std::int64_t k, const quant::Format& weights, const std::string& where) {
  const std::int64_t longest = INT32_MAX / (std::int64_t{kUnsignedShift} * weights.qmax());
  if (k <= longest) return;
  throw InputError(where, "adds up " + std::to_string(k) + " products",
                   "up to " + std::to_string(longest) + ", so that cuBLAS's sums fit 32 bits");
}

std::vector<TensorUse> tensor_uses(const quant::QuantizedGraph& graph) {
  std::vector<TensorUse> uses;
  for (const QNode& node : graph.nodes) {
    uses.push_back({node.inputs, node.shape.elements(),
                    std::holds_alternative<quant::QFlatten>(node.operation)});
  }
  return uses;
}

class IntegerNetwork final : public Network {
 public:
  IntegerNetwork(const quant::QuantizedGraph& graph, const Limits& limits, Backend& backend)
      : graph_(graph),
        shift_(graph.input().quantization.format.is_signed ? 0 : kUnsignedShift),
        layers_(backend, tensor_uses(graph), sizeof(std::int8_t), limits),
        pixels_(layers_.allocate<std::uint8_t>(layers_.capacity() * input_shape().elements())) {
    for (index_ = 0; index_ < graph.nodes.size(); ++index_) {
      std::visit([&](const auto& operation) { add(operation); }, node().operation);
    }
    index_ = graph.nodes.size() - 1;
    layers_.finish();
  }

  std::int64_t capacity() const override { return layers_.capacity(); }
  std::uint8_t* pixels() const override { return pixels_; }
  const models::Shape& input_shape() const override { return graph_.input().shape; }
  const void* results() const override { return out(); }
  std::int64_t result_bytes() const override { return node().shape.elements(); }
  void run(std::int64_t images) const override { layers_.run(images); }

  void append(const std::byte* results, std::int64_t images, Outputs& outputs) const override {
    outputs.classes = node().shape.elements();
    const auto* stored = reinterpret_cast<const std::int8_t*>(results);
    for (std::int64_t i = 0; i < images * outputs.classes; ++i) {
      const std::int32_t q = stored[i] + shift_;
      outputs.integers.push_back(static_cast<std::int16_t>(q));
      outputs.real.push_back(quant::dequantize(q, node().quantization));
    }
  }

 private:
  const QNode& node() const { return graph_.nodes[index_]; }
  const QNode& input() const { return graph_.nodes[static_cast<std::size_t>(node().inputs[0])]; }
  const std::int8_t* in(std::size_t i = 0) const {
    return layers_.tensor<std::int8_t>(static_cast<std::size_t>(node().inputs[i]));
  }
  std::int8_t* out() const { return layers_.tensor<std::int8_t>(index_); }
  std::string where() const { return graph_.name + ": " + node().name; }
  WindowPlaces places(const models::Window& window) const {
    return window_places({window, input().shape, node().shape}, where());
  }
  void add_work(const Work& work) { layers_.add(work, node().shape.elements()); }
  /// A quantized value as tensors hold it.
  std::int8_t stored(std::int32_t q) const { return static_cast<std::int8_t>(q - shift_); }
  std::int8_t stored_zero() const { return stored(input().quantization.zero_point); }

  ChannelScales scales(const quant::Requantizer& r) {
    return {r.mode,
            r.multiplier.empty() ? nullptr : layers_.upload(r.multiplier),
            r.fixed_point.empty() ? nullptr : layers_.upload(r.fixed_point),
            r.zero_point,
            r.low,
            r.high,
            shift_};
  }

  template <typename Operation>
  void add_product(const Operation& operation, std::int64_t groups,
                   const WindowGeometry& geometry) {
    window_places(geometry, where());
    const auto out_channels = static_cast<std::int64_t>(operation.bias.size());
    const std::int64_t k = static_cast<std::int64_t>(operation.weight.size()) / out_channels;
    check_sums(k, operation.weight_format, where());
    const ProductSizes sizes = product_sizes(groups, geometry.out.pixels(), out_channels / groups,
                                             k, kVector<std::int8_t>, where());
    const auto weights = packed_weights<std::int8_t>(
        operation.weight, sizes, [](std::int16_t w) { return static_cast<std::int8_t>(w); });
    std::vector<std::int32_t> bias;
    for (std::int64_t channel = 0; channel < out_channels; ++channel) {
      const auto first = operation.weight.begin() + channel * k;
      const std::int64_t sum = std::accumulate(first, first + k, std::int64_t{0});
      bias.push_back(static_cast<std::int32_t>(operation.bias[static_cast<std::size_t>(channel)] -
                                               stored_zero() * sum));
    }
    layers_.add_product(
        ProductLayer<std::int8_t>{where(), GpuPrecision::int8, geometry, sizes, in(),
                                  layers_.upload(weights), stored_zero()},
        Requantize{nullptr, layers_.upload(bias), out(), {}, scales(operation.requantizer)});
  }

  void add(const quant::QInput&) {
    std::vector<std::uint8_t> every_pixel(256);
    std::iota(every_pixel.begin(), every_pixel.end(), std::uint8_t{0});
    add_work(Lookup<std::uint8_t>{
        pixels_, table(quant::quantize_pixels(node().quantization, every_pixel), 0), out()});
  }
  void add(const quant::QConv& conv) {
    const WindowGeometry geometry{conv.window, input().shape, node().shape};
    if (!is_depthwise(conv.groups, geometry.in, geometry.out)) {
      return add_product(conv, conv.groups, geometry);
    }
    const std::vector<std::int16_t> ordered = tap_major(conv.weight, conv.groups);
    std::vector<std::int8_t> weight;
    for (const std::int16_t w : ordered) weight.push_back(static_cast<std::int8_t>(w));
    add_work(DepthwiseIntegers{places(conv.window), in(), layers_.upload(weight),
                               layers_.upload(conv.bias), out(), stored_zero(),
                               scales(conv.requantizer)});
  }
  void add(const quant::QDense& dense) {
    add_product(dense, 1, {{}, {1, 1, input().shape.elements()}, {1, 1, node().shape.elements()}});
  }
  void add(const quant::QAdd& add) {
    add_work(AddIntegers{in(0), in(1), out(), add.adder, shift_});
  }
  void add(const quant::QMaxPool& pool) {
    add_work(MaxPool<std::int8_t>{places(pool.window), in(), out(),
                                  stored(node().quantization.format.qmin())});
  }
  void add(const quant::QAveragePool& pool) {
    add_work(AverageIntegers{places(pool.window), in(), out(), pool.count_include_pad, pool.mode,
                             input().quantization.zero_point, shift_});
  }
  void add(const quant::QLookup& lookup) {
    // The table starts at what qmin is stored as; Lookup's at -128.
    const std::int32_t first = stored(input().quantization.format.qmin());
    add_work(Lookup<std::int8_t>{in(), table(lookup.table, first + kUnsignedShift), out()});
  }
  void add(const quant::QFlatten&) {}

  /// 256 stored values, `values` from `first` on.
  const std::int8_t* table(const std::vector<std::int16_t>& values, std::int32_t first) {
    std::vector<std::int8_t> all(256);
    for (std::size_t i = 0; i < values.size(); ++i) {
      all.at(i + static_cast<std::size_t>(first)) = stored(values[i]);
    }
    return layers_.upload(all);
  }

  const quant::QuantizedGraph& graph_;
  std::int32_t shift_;
  Layers layers_;
  std::uint8_t* pixels_;
  std::size_t index_ = 0;  ///< of the node that is being added, later of the output
};

}  // namespace

std::unique_ptr<Network> make_integer_network(const quant::QuantizedGraph& graph,
                                              const Limits& limits, Backend& backend) {
  check_formats(graph);
  return std::make_unique<IntegerNetwork>(graph, limits, backend);
}

}  // namespace tilewave::kernels::gpu
