#include "kernels/cpu/integer_network.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/units.h"
#include "kernels/cpu/batches.h"
#include "kernels/cpu/window.h"

namespace tilewave::kernels {
namespace {

using quant::QNode;

std::int32_t wrapping_add(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

/// Which node, if any, is the MaxPool that is done with a Conv: it alone reads it, and its windows
/// lie side by side. Requantizing keeps the order of sums, so the largest sum's value is the
/// largest value.
std::vector<std::optional<std::size_t>> fused_pools(const quant::QuantizedGraph& graph) {
  std::vector<std::optional<std::size_t>> fused(graph.nodes.size());
  std::vector<int> readers(graph.nodes.size(), 0);
  for (const QNode& node : graph.nodes) {
    for (const models::NodeId input : node.inputs) ++readers[static_cast<std::size_t>(input)];
  }
  for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
    const QNode& node = graph.nodes[index];
    const auto* pool = std::get_if<quant::QMaxPool>(&node.operation);
    if (pool == nullptr || !is_fusible(pool->window)) continue;
    const auto input = static_cast<std::size_t>(node.inputs[0]);
    const QNode& from = graph.nodes[input];
    const auto* conv = std::get_if<quant::QConv>(&from.operation);
    if (conv == nullptr || readers[input] != 1 || node.quantization != from.quantization) continue;
    const models::Shape& in = graph.nodes[static_cast<std::size_t>(from.inputs[0])].shape;
    if (!is_depthwise(conv->groups, in, from.shape)) fused[input] = index;
  }
  return fused;
}

/// From one pixel's sums to the next: whole panels, and one more, as groups of channels write whole
/// panels too.
std::int64_t sums_stride(std::int64_t channels) {
  return ceil_div(channels, kPanel) * kPanel + kPanel;
}

}  // namespace

/// Runs a part of one node over the images of a group.
struct IntegerStep {
  const IntegerNetwork& network;
  IntegerNetwork::Tensors& tensors;
  IntegerNetwork::Scratch& scratch;
  std::span<const std::uint8_t> pixels;
  std::size_t index;
  std::int64_t images;
  Part part;
  const IntegerNetwork::Watch* watch = nullptr;

  const QNode& node() const { return network.node(index); }
  const QNode& input() const { return network.input_of(node()); }
  std::int16_t* tensor(std::size_t id) const { return tensors[network.plan_.slot[id]].data(); }
  const std::int16_t* in(std::size_t i = 0) const {
    return tensor(static_cast<std::size_t>(node().inputs[i]));
  }
  std::int16_t* out() const { return tensor(index); }
  Range my_elements() const { return part.of(images * node().shape.elements()); }
  Range my_pixels() const { return part.of(images * node().shape.pixels()); }

  template <typename Function>
  void map(const Function& function) const {
    const Range mine = my_elements();
    std::transform(in() + mine.first, in() + mine.end, out() + mine.first, function);
  }

  void operator()(const quant::QInput&) const {
    const Range mine = my_elements();
    std::transform(pixels.begin() + mine.first, pixels.begin() + mine.end, out() + mine.first,
                   [&](std::uint8_t pixel) { return network.pixel_table_[pixel]; });
  }

  void operator()(const quant::QDense& dense) const { multiply(dense.requantizer); }

  void operator()(const quant::QConv& conv) const {
    const WindowGeometry g{conv.window, input().shape, node().shape};
    if (is_depthwise(conv.groups, g.in, g.out)) return depthwise(g, conv);
    multiply(conv.requantizer);
  }

  /// A part of the units, or of the channels where there are too few units.
  void multiply(const quant::Requantizer& requantizer) const {
    const Convolution& c = network.products_[index].convolution;
    const std::int64_t units = images * c.out.height;
    const std::int64_t n = c.geometry.out.channels;
    if (c.groups == 1 && units < 2 * part.parts) {
      multiply(requantizer, {0, units}, part.of(n, kPanel));
    } else {
      multiply(requantizer, part.of(units), {0, n});
    }
  }

  void multiply(const quant::Requantizer& requantizer, Range units, Range channels) const {
    const IntegerNetwork::PreparedProduct& prepared = network.products_[index];
    const Convolution& c = prepared.convolution;
    const std::int64_t stride = sums_stride(c.geometry.out.channels);
    const std::int64_t chunk = units_per_chunk(c);
    const auto zero_point = static_cast<std::int16_t>(input().quantization.zero_point);
    for (std::int64_t first = units.first; first < units.end; first += chunk) {
      const Range some{first, std::min(first + chunk, units.end)};
      const auto rows = scratch.band.find(c, in(), some, zero_point);
      std::int32_t* sums = scratch.sums.data();
      const std::int64_t n = c.geometry.out.channels / c.groups;
      // Ascending: the last panel of a group reaches into the next one.
      for (const auto& [product, runs] : prepared.groups) {
        product->multiply({rows, runs}, {channels.first, std::min(channels.end, n)}, sums, stride,
                          scratch.product);
        sums += n;
      }
      watch_sums((some.end - some.first) * c.unit_pixels(), c.geometry.out.channels, stride);
      finish(c, requantizer, some, channels);
    }
  }

  void watch_sums(std::int64_t rows, std::int64_t channels, std::int64_t stride) const {
    if (watch == nullptr || !watch->sums) return;
    for (std::int64_t row = 0; row < rows; ++row) {
      watch->sums(index, {scratch.sums.data() + row * stride, static_cast<std::size_t>(channels)});
    }
  }

  /// Pools and requantizes the sums of a chunk.
  void finish(const Convolution& c, const quant::Requantizer& requantizer, Range units,
              Range channels) const {
    const std::int64_t n = c.geometry.out.channels;
    const std::int64_t stride = sums_stride(n);
    const auto take_larger = [&](const std::int32_t* from, std::int32_t* into) {
      network.vector_.take_larger(from + channels.first, into + channels.first,
                                  channels.end - channels.first);
    };
    for (std::int64_t unit = units.first; unit < units.end; ++unit) {
      std::int32_t* sums = scratch.sums.data() + (unit - units.first) * c.unit_pixels() * stride;
      std::int16_t* to = out() + unit * c.out.width * n;
      pool_unit(c, sums, stride, take_larger, [&](std::int64_t x, const std::int32_t* largest) {
        requantize(requantizer, largest, channels, to + x * n);
      });
    }
  }

  static void requantize(const quant::Requantizer& requantizer, const std::int32_t* sums,
                         Range channels, std::int16_t* to) {
    if (channels.first == 0) return quant::requantize_row(sums, channels.end, requantizer, to);
    for (std::int64_t n = channels.first; n < channels.end; ++n) {
      to[n] = static_cast<std::int16_t>(requantizer.apply(sums[n], static_cast<std::size_t>(n)));
    }
  }

  void depthwise(const WindowGeometry& g, const quant::QConv& conv) const {
    const std::int64_t channels = g.in.channels;
    const std::int32_t zero_point = input().quantization.zero_point;
    const std::int16_t* weights = network.depthwise_[index].data();
    std::int16_t* results = out();
    std::int32_t* __restrict acc = scratch.sums.data();
    for_each_place(
        g, in(), my_pixels(),
        [&](std::int64_t pixel, const WindowPlace& place, const std::int16_t* image) {
          std::copy(conv.bias.begin(), conv.bias.end(), acc);
          for_each_tap(g, place, image, [&](std::int64_t tap, const std::int16_t* __restrict from) {
            const std::int16_t* __restrict weight = weights + tap * channels;
            for (std::int64_t c = 0; c < channels; ++c) {
              acc[c] = wrapping_add(acc[c], (from[c] - zero_point) * weight[c]);
            }
          });
          watch_sums(1, channels, channels);
          quant::requantize_row(acc, channels, conv.requantizer, results + pixel * channels);
        });
  }

  void operator()(const quant::QAdd& add) const {
    const Range mine = my_elements();
    std::transform(in(0) + mine.first, in(0) + mine.end, in(1) + mine.first, out() + mine.first,
                   [&](std::int16_t a, std::int16_t b) {
                     return static_cast<std::int16_t>(add.adder.apply(a, b));
                   });
  }

  void operator()(const quant::QMaxPool& pool) const {
    const auto lowest = static_cast<std::int16_t>(node().quantization.format.qmin());
    max_pool({pool.window, input().shape, node().shape}, in(), my_pixels(), lowest, out());
  }

  void operator()(const quant::QAveragePool& pool) const {
    const WindowGeometry g{pool.window, input().shape, node().shape};
    const std::int64_t channels = g.in.channels;
    std::int16_t* results = out();
    std::int32_t* __restrict sums = scratch.sums.data();
    for_each_place(
        g, in(), my_pixels(),
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
    map([&](std::int16_t value) { return lookup.table[static_cast<std::size_t>(value - first)]; });
  }

  void operator()(const quant::QFlatten&) const {}
};

IntegerNetwork::IntegerNetwork(const quant::QuantizedGraph& graph, IntegerGemm gemm, Fusion fusion)
    : graph_(graph),
      gemm_(gemm),
      vector_(gemm == IntegerGemm::baseline ? portable_vector_kernels() : best_vector_kernels()),
      in_place_(graph.nodes.size(), 0),
      products_(graph.nodes.size()),
      depthwise_(graph.nodes.size()) {
  std::vector<std::uint8_t> every_pixel(pixel_table_.size());
  std::iota(every_pixel.begin(), every_pixel.end(), std::uint8_t{0});
  std::ranges::copy(quant::quantize_pixels(graph.input().quantization, every_pixel),
                    pixel_table_.begin());
  std::vector<std::optional<std::size_t>> pools(graph.nodes.size());
  if (fusion == Fusion::full) pools = fused_pools(graph);
  std::vector<TensorUse> uses;
  for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
    const QNode& made = node(index);
    std::int64_t elements = made.shape.elements();
    if (std::holds_alternative<quant::QFlatten>(made.operation)) in_place_[index] = 1;
    if (const auto* conv = std::get_if<quant::QConv>(&made.operation)) {
      prepare(index, *conv, pools[index]);
      if (pools[index]) elements = node(*pools[index]).shape.elements();
      if (pools[index]) in_place_[*pools[index]] = 1;
    } else if (const auto* dense = std::get_if<quant::QDense>(&made.operation)) {
      prepare(index, *dense,
              {{{}, {1, 1, input_of(made).shape.elements()}, made.shape}, 1, {}, made.shape});
    }
    uses.push_back({made.inputs, elements, in_place_[index] != 0});
    channels_ = std::max(channels_, made.shape.channels);
  }
  plan_ = plan_tensors(uses);
  group_ = images_per_group(plan_, sizeof(std::int16_t));
}

void IntegerNetwork::prepare(std::size_t index, const quant::QConv& conv,
                             std::optional<std::size_t> pool) {
  const QNode& made = node(index);
  const models::Shape& in = input_of(made).shape;
  if (is_depthwise(conv.groups, in, made.shape)) {
    depthwise_[index] = tap_major(conv.weight, conv.groups);
    return;
  }
  Convolution convolution{{conv.window, in, made.shape}, conv.groups, {}, made.shape};
  if (pool) {
    convolution.pool = std::get<quant::QMaxPool>(node(*pool).operation).window;
    convolution.out = node(*pool).shape;
  }
  prepare(index, conv, convolution);
}

template <typename Operation>
void IntegerNetwork::prepare(std::size_t index, const Operation& operation,
                             const Convolution& convolution) {
  const quant::Quantization& in = input_of(node(index)).quantization;
  const std::int64_t k = convolution.k();
  // With what the input's zero_point adds taken away.
  std::vector<std::int32_t> bias;
  for (std::size_t channel = 0; channel < operation.bias.size(); ++channel) {
    const auto first = operation.weight.begin() + static_cast<std::ptrdiff_t>(channel) * k;
    const std::int64_t sum = std::accumulate(first, first + k, std::int64_t{0});
    bias.push_back(static_cast<std::int32_t>(operation.bias[channel] - in.zero_point * sum));
  }
  const std::int64_t n = convolution.geometry.out.channels / convolution.groups;
  const Runs runs = runs_of(convolution);
  products_[index].convolution = convolution;
  for (std::int64_t group = 0; group < convolution.groups; ++group) {
    const ProductWeights weights{
        std::span(operation.weight)
            .subspan(static_cast<std::size_t>(group * n * k), static_cast<std::size_t>(n * k)),
        std::span(bias).subspan(static_cast<std::size_t>(group * n), static_cast<std::size_t>(n)),
        static_cast<std::int64_t>(runs.offsets.size()),
        runs.length,
        in.format,
        operation.weight_format};
    PreparedProduct::Group prepared{gemm_ == IntegerGemm::onednn
                                        ? make_onednn_product(weights)
                                        : make_packed_product(weights, vector_),
                                    runs.offsets};
    for (std::int64_t& offset : prepared.runs) offset += group * convolution.group_channels();
    products_[index].groups.push_back(std::move(prepared));
  }
}

IntegerNetwork::Tensors IntegerNetwork::make_tensors() const {
  Tensors tensors;
  // One value more: products that work in pairs read it.
  for (const std::int64_t elements : plan_.slot_elements) {
    tensors.emplace_back(static_cast<std::size_t>(elements * group_ + 1));
  }
  return tensors;
}

IntegerNetwork::Scratch IntegerNetwork::make_scratch() const {
  Scratch scratch;
  std::int64_t sums = channels_;
  for (const PreparedProduct& prepared : products_) {
    if (prepared.groups.empty()) continue;
    const Convolution& c = prepared.convolution;
    scratch.band.reserve(c);
    sums =
        std::max(sums, units_per_chunk(c) * c.unit_pixels() * sums_stride(c.geometry.out.channels));
  }
  scratch.sums.resize(static_cast<std::size_t>(sums));
  return scratch;
}

std::int64_t IntegerNetwork::count_group(std::span<const std::uint8_t> pixels) const {
  const std::int64_t images = count_images(pixels, graph_.input().shape);
  TILEWAVE_CHECK(images, <=, group_, "more images than the tensors hold");
  return images;
}

std::span<const std::int16_t> IntegerNetwork::forward(std::span<const std::uint8_t> pixels,
                                                      Tensors& tensors, Scratch& scratch,
                                                      std::span<Stage> stages,
                                                      std::int64_t parts) const {
  const std::int64_t images = count_group(pixels);
  for (std::size_t index = 0; index < graph_.nodes.size(); ++index) {
    if (in_place_[index] != 0) continue;
    for_each_part(stages[index], parts, [&](Part part) {
      std::visit(IntegerStep{*this, tensors, scratch, pixels, index, images, part},
                 node(index).operation);
    });
  }
  return {tensors[plan_.slot.back()].data(),
          static_cast<std::size_t>(images * graph_.output().shape.elements())};
}

std::span<const std::int16_t> IntegerNetwork::forward(std::span<const std::uint8_t> pixels,
                                                      Tensors& tensors, Scratch& scratch,
                                                      const Watch& watch) const {
  const std::int64_t images = count_group(pixels);
  std::span<std::int16_t> values;
  for (std::size_t index = 0; index < graph_.nodes.size(); ++index) {
    std::visit(IntegerStep{*this, tensors, scratch, pixels, index, images, {}, &watch},
               node(index).operation);
    values = {tensors[plan_.slot[index]].data(),
              static_cast<std::size_t>(images * node(index).shape.elements())};
    if (watch.tensor) watch.tensor(index, values);
  }
  return values;
}

}  // namespace tilewave::kernels
