#include "kernels/cpu/int8.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "kernels/cpu/batches.h"
#include "kernels/cpu/window.h"
#include "kernels/reference.h"

namespace tilewave::kernels {

using quant::QNode;

namespace {

std::int32_t wrapping_add(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

/// Rows of k factors and n sums that are multiplied together.
std::int64_t product_chunk(std::int64_t k, std::int64_t n) {
  return rows_per_chunk(std::max(k, n) * std::int64_t{sizeof(float)});
}

}  // namespace

/// Runs one node over the images of a group.
struct IntegerStep {
  const IntegerNetwork& network;
  IntegerNetwork::Workspace& workspace;
  const IntegerNetwork::Watch* watch;
  std::span<const std::uint8_t> pixels;
  std::size_t index;
  std::int64_t images;

  const QNode& node() const { return network.node(index); }
  const QNode& input() const { return network.input_of(node()); }
  std::int16_t* tensor(std::size_t id) const {
    return workspace.slots[network.plan_.slot[id]].data();
  }
  const std::int16_t* in(std::size_t i = 0) const {
    return tensor(static_cast<std::size_t>(node().inputs[i]));
  }
  std::int16_t* out() const { return tensor(index); }
  std::int64_t count() const { return images * node().shape.elements(); }

  void operator()(const quant::QInput&) const {
    std::transform(pixels.begin(), pixels.end(), out(),
                   [&](std::uint8_t pixel) { return network.pixel_table_[pixel]; });
  }

  void operator()(const quant::QDense& dense) const {
    const std::int64_t k = input().shape.elements();
    multiply(dense.requantizer, images, k,
             [&](std::int64_t, std::int64_t first, std::int64_t) { return in() + first * k; });
  }

  void operator()(const quant::QConv& conv) const {
    const WindowGeometry g{conv.window, input().shape, node().shape};
    if (is_depthwise(conv.groups, g.in, g.out)) return depthwise(g, conv);
    const std::int64_t channels = g.in.channels / conv.groups;
    const auto zero_point = static_cast<std::int16_t>(input().quantization.zero_point);
    multiply(
        conv.requantizer, images * g.out.pixels(), g.taps() * channels,
        [&](std::int64_t group, std::int64_t first, std::int64_t rows) {
          if (g.is_pointwise() && conv.groups == 1) return in() + first * channels;
          std::int16_t* gathered = workspace.rows.data();
          gather_rows(g, in(), first, rows, {group * channels, channels}, zero_point, gathered);
          return static_cast<const std::int16_t*>(gathered);
        });
  }

  /// Requantized products of `all_rows` rows of k factors, which `rows_of(group, first, rows)`
  /// gives, in chunks that stay in the cache.
  template <typename RowsOf>
  void multiply(const quant::Requantizer& requantizer, std::int64_t all_rows, std::int64_t k,
                const RowsOf& rows_of) const {
    const auto& weights = network.weights_[index];
    const auto n = static_cast<std::int64_t>(weights.bias.size());
    const auto groups = static_cast<std::int64_t>(weights.products.size());
    const std::int64_t chunk = product_chunk(k, n);
    std::int32_t* acc = workspace.acc.data();
    for (std::int64_t first = 0; first < all_rows; first += chunk) {
      const std::int64_t rows = std::min(chunk, all_rows - first);
      for (std::int64_t row = 0; row < rows; ++row) {
        std::copy(weights.bias.begin(), weights.bias.end(), acc + row * n);
      }
      for (std::int64_t group = 0; group < groups; ++group) {
        weights.products[static_cast<std::size_t>(group)]->multiply(
            rows_of(group, first, rows), rows, acc + group * (n / groups), n, workspace.scratch);
      }
      watch_sums(acc, rows * n);
      for (std::int64_t row = 0; row < rows; ++row) {
        quant::requantize_row(acc + row * n, n, requantizer, out() + (first + row) * n);
      }
    }
  }

  void watch_sums(const std::int32_t* sums, std::int64_t count) const {
    if (watch == nullptr || !watch->sums) return;
    watch->sums(index, {sums, static_cast<std::size_t>(count)});
  }

  void depthwise(const WindowGeometry& g, const quant::QConv& conv) const {
    const std::int64_t channels = g.in.channels;
    const std::int32_t zero_point = input().quantization.zero_point;
    const std::int16_t* weights = network.weights_[index].depthwise.data();
    std::int16_t* results = out();
    std::int32_t* __restrict acc = workspace.acc.data();
    for_each_place(
        g, in(), images,
        [&](std::int64_t pixel, const WindowPlace& place, const std::int16_t* image) {
          std::copy(conv.bias.begin(), conv.bias.end(), acc);
          for_each_tap(g, place, image, [&](std::int64_t tap, const std::int16_t* __restrict from) {
            const std::int16_t* __restrict weight = weights + tap * channels;
            for (std::int64_t c = 0; c < channels; ++c) {
              acc[c] = wrapping_add(acc[c], (from[c] - zero_point) * weight[c]);
            }
          });
          watch_sums(acc, channels);
          quant::requantize_row(acc, channels, conv.requantizer, results + pixel * channels);
        });
  }

  void operator()(const quant::QAdd& add) const {
    std::transform(in(0), in(0) + count(), in(1), out(), [&](std::int16_t a, std::int16_t b) {
      return static_cast<std::int16_t>(add.adder.apply(a, b));
    });
  }

  void operator()(const quant::QMaxPool& pool) const {
    const auto lowest = static_cast<std::int16_t>(node().quantization.format.qmin());
    max_pool({pool.window, input().shape, node().shape}, in(), images, lowest, out());
  }

  void operator()(const quant::QAveragePool& pool) const {
    const WindowGeometry g{pool.window, input().shape, node().shape};
    const std::int64_t channels = g.in.channels;
    std::int16_t* results = out();
    std::int32_t* __restrict sums = workspace.acc.data();
    for_each_place(
        g, in(), images,
        [&](std::int64_t pixel, const WindowPlace& place, const std::int16_t* image) {
          const std::int64_t places = pool.count_include_pad ? g.taps() : place.taps();
          const auto padding =
              static_cast<std::int32_t>((places - place.taps()) * input().quantization.zero_point);
          std::fill_n(sums, channels, padding);
          for_each_tap(g, place, image, [&](std::int64_t, const std::int16_t* __restrict from) {
            for (std::int64_t c = 0; c < channels; ++c) sums[c] = wrapping_add(sums[c], from[c]);
          });
          for (std::int64_t c = 0; c < channels; ++c) {
            results[pixel * channels + c] = static_cast<std::int16_t>(
                quant::rounded_average(sums[c], static_cast<std::int32_t>(places), pool.mode));
          }
        });
  }

  void operator()(const quant::QLookup& lookup) const {
    const std::int32_t first = input().quantization.format.qmin();
    std::transform(in(), in() + count(), out(), [&](std::int16_t value) {
      return lookup.table[static_cast<std::size_t>(value - first)];
    });
  }

  void operator()(const quant::QFlatten&) const {}
};

IntegerNetwork::IntegerNetwork(const quant::QuantizedGraph& graph, bool use_onednn)
    : graph_(graph), use_onednn_(use_onednn), weights_(graph.nodes.size()) {
  std::vector<std::uint8_t> every_pixel(pixel_table_.size());
  std::iota(every_pixel.begin(), every_pixel.end(), std::uint8_t{0});
  std::ranges::copy(quant::quantize_pixels(graph.input().quantization, every_pixel),
                    pixel_table_.begin());
  std::vector<TensorUse> uses;
  for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
    const QNode& made = node(index);
    uses.push_back({made.inputs, made.shape.elements(),
                    std::holds_alternative<quant::QFlatten>(made.operation)});
    if (const auto* conv = std::get_if<quant::QConv>(&made.operation)) {
      prepare(index, *conv, conv->groups);
    } else if (const auto* dense = std::get_if<quant::QDense>(&made.operation)) {
      prepare(index, *dense, 1);
    }
    acc_elements_ = std::max(acc_elements_, made.shape.channels);
  }
  plan_ = plan_tensors(uses);
  group_ = images_per_group(plan_, sizeof(std::int16_t));
}

template <typename Layer>
void IntegerNetwork::prepare(std::size_t index, const Layer& layer, std::int64_t groups) {
  const std::vector<std::int16_t>& weight = layer.weight;
  const std::vector<std::int32_t>& bias = layer.bias;
  const QNode& in = input_of(node(index));
  PreparedWeights& prepared = weights_[index];
  if (is_depthwise(groups, in.shape, node(index).shape)) {
    prepared.depthwise = tap_major(weight, groups);
    return;
  }
  const auto out = static_cast<std::int64_t>(bias.size());
  const std::int64_t n = out / groups;
  const std::int64_t k = static_cast<std::int64_t>(weight.size()) / out;
  for (std::int64_t group = 0; group < groups; ++group) {
    const ProductWeights product{std::span(weight).subspan(static_cast<std::size_t>(group * n * k),
                                                           static_cast<std::size_t>(n * k)),
                                 n, k, in.quantization.format, layer.weight_format};
    prepared.products.push_back(use_onednn_ ? make_onednn_product(product)
                                            : make_portable_product(product));
  }
  for (std::size_t channel = 0; channel < bias.size(); ++channel) {
    const auto first = weight.begin() + static_cast<std::ptrdiff_t>(channel) * k;
    const std::int64_t sum = std::accumulate(first, first + k, std::int64_t{0});
    prepared.bias.push_back(
        static_cast<std::int32_t>(bias[channel] - in.quantization.zero_point * sum));
  }
  row_elements_ = std::max(row_elements_, product_chunk(k, out) * k);
  acc_elements_ = std::max(acc_elements_, product_chunk(k, out) * out);
}

IntegerNetwork::Workspace IntegerNetwork::make_workspace() const {
  Workspace workspace;
  for (const std::int64_t elements : plan_.slot_elements) {
    workspace.slots.emplace_back(static_cast<std::size_t>(elements * group_));
  }
  workspace.rows.resize(static_cast<std::size_t>(row_elements_));
  workspace.acc.resize(static_cast<std::size_t>(acc_elements_));
  return workspace;
}

std::span<const std::int16_t> IntegerNetwork::forward(std::span<const std::uint8_t> pixels,
                                                      Workspace& workspace,
                                                      const Watch* watch) const {
  const std::int64_t images = count_images(pixels, graph_.input().shape);
  TILEWAVE_CHECK(images, <=, group_, "more images than the workspace holds");
  std::span<std::int16_t> values;
  for (std::size_t index = 0; index < graph_.nodes.size(); ++index) {
    const IntegerStep step{*this, workspace, watch, pixels, index, images};
    std::visit(step, node(index).operation);
    values = {step.out(), static_cast<std::size_t>(step.count())};
    if (watch != nullptr && watch->tensor) watch->tensor(index, values);
  }
  return values;
}

namespace {

bool has_wide_products(const quant::QuantizedGraph& graph) {
  return std::ranges::any_of(graph.nodes, [&](const QNode& node) {
    const bool reads_wide =
        !node.inputs.empty() &&
        graph.nodes[static_cast<std::size_t>(node.inputs[0])].quantization.format.bits > 8;
    const auto is_wide = [&](const auto* layer) {
      return layer != nullptr && (reads_wide || layer->weight_format.bits > 8);
    };
    return is_wide(std::get_if<quant::QConv>(&node.operation)) ||
           is_wide(std::get_if<quant::QDense>(&node.operation));
  });
}

class CpuInt8 final : public Reference {
 public:
  CpuInt8(const quant::QuantizedGraph& graph, ReferenceOptions options, bool use_onednn,
          std::string name)
      : graph_(graph),
        network_(graph, use_onednn),
        options_(options),
        name_(std::move(name)),
        workspaces_(static_cast<std::size_t>(options.threads)) {
    for (auto& workspace : workspaces_) workspace = network_.make_workspace();
  }

  std::string name() const override { return name_; }

  Outputs run(std::span<const std::uint8_t> pixels) override {
    const models::Shape& input = graph_.input().shape;
    const std::int64_t images = count_images(pixels, input);
    Outputs outputs;
    outputs.classes = graph_.output().shape.elements();
    outputs.integers.resize(static_cast<std::size_t>(images * outputs.classes));
    const auto image_size = static_cast<std::size_t>(input.elements());
    for_each_group(images, network_.group(), options_,
                   [&](std::size_t worker, std::int64_t first, std::int64_t count) {
                     const auto values = network_.forward(
                         pixels.subspan(static_cast<std::size_t>(first) * image_size,
                                        static_cast<std::size_t>(count) * image_size),
                         workspaces_[worker]);
                     std::copy(values.begin(), values.end(),
                               outputs.integers.begin() + first * outputs.classes);
                   });
    outputs.real.reserve(outputs.integers.size());
    for (const std::int16_t value : outputs.integers) {
      outputs.real.push_back(quant::dequantize(value, graph_.output().quantization));
    }
    return outputs;
  }

 private:
  const quant::QuantizedGraph& graph_;
  IntegerNetwork network_;
  ReferenceOptions options_;
  std::string name_;
  std::vector<IntegerNetwork::Workspace> workspaces_;
};

}  // namespace

std::unique_ptr<Reference> make_cpu_int8(const quant::QuantizedGraph& graph,
                                         ReferenceOptions options, IntegerGemm gemm) {
  validate(options);
  check_accumulators(graph.scheme);
  const bool wide = has_wide_products(graph);
  const std::string refusal =
      wide ? "oneDNN multiplies no formats wider than 8 bits" : onednn_refusal();
  if (gemm == IntegerGemm::onednn && !refusal.empty()) {
    throw InputError("integer products", refusal, "automatic or portable");
  }
  const bool use_onednn = gemm != IntegerGemm::portable && refusal.empty();
  const std::string library = use_onednn ? "oneDNN" : wide ? "portable loops" : "Eigen";
  const std::string precision = wide ? "int16" : "int8";
  return std::make_unique<CpuInt8>(graph, options, use_onednn,
                                   "cpu " + precision + " (" + library + ")");
}

}  // namespace tilewave::kernels
