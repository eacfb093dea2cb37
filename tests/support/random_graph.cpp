#include "tests/support/random_graph.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "quant/observer.h"
#include "quant/quantizer.h"
#include "tests/support/naive.h"

namespace tilewave::test {
namespace {

using models::NodeId;
using models::Shape;
using models::Window;

/// The standard's engine, but not its distributions: those differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  float real(float low, float high) {
    return low + (high - low) * static_cast<float>(between(0, 1 << 20)) / (1 << 20);
  }

 private:
  std::mt19937_64 engine_;
};

class GraphBuilder {
 public:
  GraphBuilder(std::uint64_t seed, const RandomGraphOptions& options)
      : random_(seed),
        options_(options),
        graph_("random_" + std::to_string(seed),
               {random_.between(1, options.max_side), random_.between(1, options.max_side),
                random_.between(1, options.max_channels)}) {}

  models::Graph build() {
    const std::int64_t blocks = random_.between(1, options_.max_blocks);
    for (std::int64_t block = 0; block < blocks; ++block) add_block();
    if (!random_.one_in(3)) add_head();
    return std::move(graph_);
  }

 private:
  const Shape& shape(NodeId id) const { return graph_.node(id).shape; }

  NodeId add(models::Operation operation, std::vector<NodeId> inputs) {
    last_ = graph_.add("n" + std::to_string(graph_.nodes().size()), std::move(operation),
                       std::move(inputs));
    return last_;
  }

  void add_block() {
    switch (random_.between(0, 7)) {
      case 0:
      case 1:
        convolve(last_);
        return maybe_activate();
      case 2:
      case 3:
        return residual();
      case 4:
        add(models::MaxPool{pool_window(shape(last_))}, {last_});
        return;
      case 5:
        add(models::AveragePool{pool_window(shape(last_)), random_.one_in(2)}, {last_});
        return;
      case 6:
        return activate();
      default:
        return branch();
    }
  }

  void activate() {
    switch (random_.between(0, 3)) {
      case 0:
        add(models::Clip{random_.real(-1, 0.2F), random_.real(0.2F, 2)}, {last_});
        return;
      case 1:
        add(models::Sigmoid{}, {last_});
        return;
      case 2:
        add(models::Tanh{}, {last_});
        return;
      default:
        add(models::Relu{}, {last_});
    }
  }

  void maybe_activate() {
    if (!random_.one_in(4)) activate();
  }

  /// x + f(x), where f keeps the shape; sometimes simply x + x.
  void residual() {
    const NodeId start = last_;
    if (!random_.one_in(6)) {
      const std::int64_t kernel = random_.between(1, 3);
      const std::int64_t dilation = random_.between(1, 2);
      const std::int64_t pad = (kernel - 1) * dilation;
      Window window{kernel, kernel, 1, 1, dilation, dilation};
      window.pad_top = window.pad_left = pad / 2;
      window.pad_bottom = window.pad_right = pad - pad / 2;
      add_conv(start, window, 1, shape(start).channels);
      maybe_activate();
    }
    add(models::Add{}, random_.one_in(2) ? std::vector{start, last_} : std::vector{last_, start});
    maybe_activate();
  }

  /// Two convolutions of one tensor, added: both branches from the same window.
  void branch() {
    const NodeId start = last_;
    const Window window = conv_window(shape(start));
    const std::int64_t channels = random_.between(1, options_.max_channels);
    const NodeId left = add_conv(start, window, 1, channels);
    maybe_activate();
    const NodeId left_end = random_.one_in(4) ? left : last_;
    add_conv(start, window, 1, channels);
    maybe_activate();
    add(models::Add{}, {left_end, last_});
    maybe_activate();
  }

  void add_head() {
    if (random_.one_in(2)) add(models::Flatten{}, {last_});
    for (std::int64_t n = random_.between(1, 2); n > 0; --n) {
      models::Dense dense;
      const std::int64_t out = random_.between(1, options_.max_features);
      fill(out, shape(last_).elements(), dense.weight, dense.bias);
      add(std::move(dense), {last_});
      if (random_.one_in(2)) activate();
    }
    if (random_.one_in(2)) add(models::Softmax{}, {last_});
  }

  void convolve(NodeId from) {
    const std::int64_t channels = shape(from).channels;
    std::int64_t groups = 1;
    if (random_.one_in(3)) groups = channels;  // depthwise
    if (channels % 2 == 0 && random_.one_in(4)) groups = 2;
    const std::int64_t per_group =
        random_.between(1, std::max<std::int64_t>(options_.max_channels / groups, 1));
    add_conv(from, conv_window(shape(from)), groups, groups * per_group);
  }

  NodeId add_conv(NodeId from, const Window& window, std::int64_t groups, std::int64_t out) {
    models::Conv conv;
    conv.window = window;
    conv.groups = groups;
    fill(out, window.kernel_height * window.kernel_width * (shape(from).channels / groups),
         conv.weight, conv.bias);
    return add(std::move(conv), {from});
  }

  /// Sums of about the inputs' size; now and then a channel of zeros, or one of tiny weights.
  void fill(std::int64_t out, std::int64_t size, std::vector<float>& weight,
            std::vector<float>& bias) {
    const auto usual = static_cast<float>(std::sqrt(3.0 / static_cast<double>(size)));
    for (std::int64_t n = 0; n < out; ++n) {
      const float limit = random_.one_in(16) ? 0 : random_.one_in(16) ? 1e-9F : usual;
      for (std::int64_t k = 0; k < size; ++k) weight.push_back(random_.real(-limit, limit));
      bias.push_back(random_.real(-0.5F, 0.5F));
    }
  }

  /// One direction of a convolution's window over `size` pixels.
  void conv_side(std::int64_t size, std::int64_t& kernel, std::int64_t& stride,
                 std::int64_t& dilation, std::int64_t& before, std::int64_t& after) {
    kernel = random_.between(1, 3);
    stride = random_.one_in(3) ? 2 : 1;
    dilation = random_.one_in(4) ? 2 : 1;
    const std::int64_t reach = (kernel - 1) * dilation;
    before = random_.between(0, reach);
    after = random_.between(0, reach);
    if (reach + 1 > size + before + after) after = reach + 1 - size - before;
  }
  Window conv_window(const Shape& from) {
    Window w;
    conv_side(from.height, w.kernel_height, w.stride_height, w.dilation_height, w.pad_top,
              w.pad_bottom);
    conv_side(from.width, w.kernel_width, w.stride_width, w.dilation_width, w.pad_left,
              w.pad_right);
    return w;
  }

  /// A pool's window always holds a pixel: it is padded only where its places are neighbours.
  void pool_side(std::int64_t size, std::int64_t& kernel, std::int64_t& stride,
                 std::int64_t& dilation, std::int64_t& before, std::int64_t& after) {
    kernel = random_.between(1, std::min<std::int64_t>(size, 3));
    stride = random_.between(1, kernel);
    if (2 * (kernel - 1) + 1 <= size && random_.one_in(4)) {
      dilation = 2;
      return;
    }
    before = random_.between(0, kernel - 1);
    after = random_.between(0, kernel - 1);
  }
  Window pool_window(const Shape& from) {
    Window w;
    pool_side(from.height, w.kernel_height, w.stride_height, w.dilation_height, w.pad_top,
              w.pad_bottom);
    pool_side(from.width, w.kernel_width, w.stride_width, w.dilation_width, w.pad_left,
              w.pad_right);
    return w;
  }

  Random random_;
  RandomGraphOptions options_;
  models::Graph graph_;
  NodeId last_ = 0;
};

}  // namespace

models::Graph random_graph(std::uint64_t seed, const RandomGraphOptions& options) {
  return GraphBuilder(seed, options).build();
}

quant::Scheme random_scheme(std::uint64_t seed) {
  Random random(seed);
  const auto bits = [&] {
    if (!random.one_in(3)) return 8;
    return random.one_in(4) ? 16 : static_cast<int>(random.between(2, 8));
  };
  quant::Scheme scheme;
  scheme.weight_bits = bits();
  scheme.activation_bits = bits();
  scheme.activation_signed = scheme.activation_bits > 8 || !random.one_in(3);
  scheme.granularity =
      random.one_in(3) ? quant::Granularity::per_tensor : quant::Granularity::per_channel;
  scheme.activation_symmetric = scheme.activation_signed && random.one_in(4);
  scheme.requantize = static_cast<quant::RequantizeMode>(random.between(0, 2));
  scheme.observer = static_cast<quant::ObserverKind>(random.between(0, 4));
  scheme.weight_observer =
      random.one_in(3) ? quant::WeightObserver::mse : quant::WeightObserver::min_max;
  scheme.percentile = 99;
  return scheme;
}

quant::QuantizedGraph quantize_randomly(const models::Graph& graph, const quant::Scheme& scheme,
                                        std::uint64_t seed) {
  constexpr int kCalibrationImages = 4;
  Random random(seed);
  std::vector<std::shared_ptr<quant::Observer>> observers;
  for (const auto& node : graph.nodes()) {
    observers.push_back(quant::make_observer(scheme, node.name));
  }
  for (int i = 0; i < kCalibrationImages; ++i) {
    std::vector<float> image(static_cast<std::size_t>(graph.node(0).shape.elements()));
    for (float& pixel : image) pixel = random.real(0, 1);
    const auto values = naive_fp32_all(graph, image);
    for (std::size_t id = 0; id < values.size(); ++id) observers[id]->observe(values[id]);
  }
  return quant::quantize_graph({std::make_shared<const models::Graph>(graph),
                                quant::calibration_part(scheme),
                                {observers.begin(), observers.end()}},
                               scheme);
}

namespace {

/// Gives some layers widths of their own, up to the scheme's.
void draw_layers(const models::Graph& graph, std::uint64_t seed, quant::Scheme& scheme) {
  Random random(seed);
  std::vector<bool> live(graph.nodes().size());  // whether the output depends on it
  live.front() = live.back() = true;
  for (std::size_t id = live.size(); id-- > 0;) {
    for (const NodeId input : graph.nodes()[id].inputs) {
      if (live[id]) live[static_cast<std::size_t>(input)] = true;
    }
  }
  for (std::size_t id = 0; id < live.size(); ++id) {
    const auto& node = graph.nodes()[id];
    if (!live[id] || !random.one_in(4)) continue;
    const bool has_weights = std::holds_alternative<models::Conv>(node.operation) ||
                             std::holds_alternative<models::Dense>(node.operation);
    const bool has_range = has_weights || std::holds_alternative<models::Input>(node.operation) ||
                           std::holds_alternative<models::Add>(node.operation) ||
                           std::holds_alternative<models::Sigmoid>(node.operation) ||
                           std::holds_alternative<models::Tanh>(node.operation);
    const auto bits = [&](int most) {
      return static_cast<int>(random.between(2, std::min(most, 8)));
    };
    if (has_range) scheme.layers[node.name].activation_bits = bits(scheme.activation_bits);
    if (has_weights) scheme.layers[node.name].weight_bits = bits(scheme.weight_bits);
  }
}

}  // namespace

quant::QuantizedGraph random_quantized_graph(std::uint64_t seed,
                                             const RandomGraphOptions& options) {
  const models::Graph graph = random_graph(seed, options);
  quant::Scheme scheme = random_scheme(seed);
  if (seed % 3 == 0) draw_layers(graph, seed, scheme);
  return quantize_randomly(graph, scheme, seed);
}

std::vector<std::int16_t> random_images(const quant::QuantizedGraph& graph, std::int64_t count,
                                        std::uint64_t seed) {
  Random random(seed);
  const quant::Format& format = graph.input().quantization.format;
  std::vector<std::int16_t> values(
      static_cast<std::size_t>(count * graph.input().shape.elements()));
  for (auto& value : values) {
    value = static_cast<std::int16_t>(random.between(format.qmin(), format.qmax()));
  }
  return values;
}

}  // namespace tilewave::test
