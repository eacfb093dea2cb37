#include "kernels/cpu/fp32.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "kernels/cpu/batches.h"
#include "kernels/cpu/window.h"
#include "kernels/reference.h"

namespace tilewave::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::int64_t rounded_to_row_group(std::int64_t rows) {
  return ceil_div(rows, kRowGroup) * kRowGroup;
}

std::int64_t chunk_rows(const Convolution& c) {
  return rounded_to_row_group(units_per_chunk(c) * c.unit_pixels());
}

template <typename T>
void grow(std::vector<T>& buffer, std::int64_t size) {
  buffer.resize(std::max(buffer.size(), static_cast<std::size_t>(size)));
}

/// The rows of factors lie one after the other in the input.
bool lies_as_matrix(const Convolution& c) {
  return c.groups == 1 && c.geometry.is_pointwise() && c.pool == models::Window{};
}

/// im2col: the rows of factors one after the other.
void gather(std::span<const float* const> rows, const Runs& runs, std::int64_t channel, float* to) {
  for (const float* row : rows) {
    for (const std::int64_t offset : runs.offsets) {
      const float* from = row + channel + offset;
      for (std::int64_t i = 0; i < runs.length; ++i) to[i] = from[i];
      to += runs.length;
    }
  }
}

}  // namespace

/// Runs a part of one node over the images of a group.
struct Fp32Step {
  const Fp32Network& network;
  Fp32Network::Tensors& tensors;
  Fp32Network::Scratch& scratch;
  std::span<const std::uint8_t> pixels;
  std::size_t index;
  std::int64_t images;
  Part part;

  const models::Node& node() const { return network.node(index); }
  float* tensor(std::size_t id) const { return tensors[network.plan_.slot[id]].data(); }
  const float* in(std::size_t i = 0) const {
    return tensor(static_cast<std::size_t>(node().inputs[i]));
  }
  float* out() const { return tensor(index); }
  const models::Shape& in_shape() const {
    return network.node(static_cast<std::size_t>(node().inputs[0])).shape;
  }
  Range my_elements() const { return part.of(images * node().shape.elements()); }
  Range my_pixels() const { return part.of(images * node().shape.pixels()); }

  template <typename Function>
  void map(const Function& function) const {
    const Range mine = my_elements();
    std::transform(in() + mine.first, in() + mine.end, out() + mine.first, function);
  }

  void clamp(Range elements) const {
    const FusedClamp& clamp = network.clamp_[index];
    float* values = out() + elements.first;
    network.vector_.clamp(values, clamp.low, clamp.high, values, elements.end - elements.first);
  }

  void operator()(const models::Input&) const {
    constexpr float kWhite = 255.0F;
    const Range mine = my_elements();
    std::transform(pixels.begin() + mine.first, pixels.begin() + mine.end, out() + mine.first,
                   [](std::uint8_t pixel) { return static_cast<float>(pixel) / kWhite; });
  }

  void operator()(const models::Dense& dense) const { multiply(dense.bias); }

  void operator()(const models::Conv& conv) const {
    if (is_depthwise(conv.groups, in_shape(), node().shape)) {
      depthwise({conv.window, in_shape(), node().shape}, conv);
    } else {
      multiply(conv.bias);
    }
  }

  /// A part of the units, or of the channels where there are too few units.
  void multiply(const std::vector<float>& bias) const {
    const Convolution& c = network.products_[index].convolution;
    const std::int64_t units = images * c.out.height;
    const std::int64_t n = c.geometry.out.channels;
    if (c.groups == 1 && units < 2 * part.parts) {
      multiply(bias, {0, units}, part.of(n, network.vector_.real_panel));
    } else {
      multiply(bias, part.of(units), {0, n});
    }
  }

  void multiply(const std::vector<float>& bias, Range units, Range channels) const {
    const Fp32Network::PreparedProduct& prepared = network.products_[index];
    const Convolution& c = prepared.convolution;
    const std::int64_t n = c.geometry.out.channels;
    const std::int64_t chunk = units_per_chunk(c);
    for (std::int64_t first = units.first; first < units.end; first += chunk) {
      const Range some{first, std::min(first + chunk, units.end)};
      const auto rows = scratch.band.find(c, in(), some, 0.0F);
      float* sums = scratch.sums.data();
      for (std::size_t row = 0; row < rows.size(); ++row) {
        std::copy(bias.begin(), bias.end(), sums + static_cast<std::int64_t>(row) * n);
      }
      for (std::int64_t group = 0; group < c.groups; ++group) {
        multiply_group(prepared, rows, group, channels);
      }
      finish(c, some, channels);
    }
  }

  void multiply_group(const Fp32Network::PreparedProduct& prepared,
                      std::span<const float* const> rows, std::int64_t group,
                      Range channels) const {
    const Convolution& c = prepared.convolution;
    const std::int64_t n = c.geometry.out.channels / c.groups;
    RealProduct product;
    product.a = rows[0] + group * c.group_channels();
    product.m = rounded_to_row_group(static_cast<std::int64_t>(rows.size()));
    product.n = n;
    product.k = product.a_stride = c.k();
    product.first = channels.first;
    product.end = std::min(channels.end, n);
    product.b = prepared.weights[static_cast<std::size_t>(group * prepared.group_lines)].values;
    product.c = scratch.sums.data() + group * n;
    product.c_stride = c.geometry.out.channels;
    product.scratch = scratch.packed.data();
    if (!lies_as_matrix(c)) {
      gather(rows, prepared.runs, group * c.group_channels(), scratch.factors.data());
      product.a = scratch.factors.data();
    }
    network.vector_.multiply(product);
  }

  /// Pools and clamps the sums of a chunk.
  void finish(const Convolution& c, Range units, Range channels) const {
    const std::int64_t n = c.geometry.out.channels;
    const std::int64_t count = channels.end - channels.first;
    const FusedClamp& clamp = network.clamp_[index];
    const auto take_larger = [&](const float* from, float* into) {
      network.vector_.take_larger_real(from + channels.first, into + channels.first, count);
    };
    for (std::int64_t unit = units.first; unit < units.end; ++unit) {
      float* sums = scratch.sums.data() + (unit - units.first) * c.unit_pixels() * n;
      float* to = out() + unit * c.out.width * n;
      pool_unit(c, sums, n, take_larger, [&](std::int64_t x, const float* largest) {
        network.vector_.clamp(largest + channels.first, clamp.low, clamp.high,
                              to + x * n + channels.first, count);
      });
    }
  }

  void depthwise(const WindowGeometry& g, const models::Conv& conv) const {
    const std::int64_t channels = g.in.channels;
    const float* weights = network.depthwise_[index].data();
    const Range mine = my_pixels();
    float* results = out();
    for_each_place(
        g, in(), mine, [&](std::int64_t pixel, const WindowPlace& place, const float* image) {
          float* __restrict result = results + pixel * channels;
          std::copy(conv.bias.begin(), conv.bias.end(), result);
          for_each_tap(g, place, image, [&](std::int64_t tap, const float* __restrict from) {
            const float* __restrict weight = weights + tap * channels;
            for (std::int64_t c = 0; c < channels; ++c) result[c] += from[c] * weight[c];
          });
        });
    clamp({mine.first * channels, mine.end * channels});
  }

  void operator()(const models::Add&) const {
    const Range mine = my_elements();
    std::transform(in(0) + mine.first, in(0) + mine.end, in(1) + mine.first, out() + mine.first,
                   std::plus<>());
    clamp(mine);
  }
  void operator()(const models::Relu&) const {
    map([](float x) { return std::max(x, 0.0F); });
  }
  void operator()(const models::Clip& clip) const {
    map([&](float x) { return std::min(std::max(x, clip.low), clip.high); });
  }
  // Through double, so that the processor's variant of expf or tanhf does not show.
  void operator()(const models::Sigmoid&) const {
    map([](float x) { return static_cast<float>(1 / (1 + std::exp(-double{x}))); });
  }
  void operator()(const models::Tanh&) const {
    map([](float x) { return static_cast<float>(std::tanh(double{x})); });
  }
  void operator()(const models::MaxPool& pool) const {
    max_pool({pool.window, in_shape(), node().shape}, in(), my_pixels(), -kInfinity, out());
  }

  void operator()(const models::AveragePool& pool) const {
    const WindowGeometry g{pool.window, in_shape(), node().shape};
    const std::int64_t channels = g.in.channels;
    float* results = out();
    for_each_place(g, in(), my_pixels(),
                   [&](std::int64_t pixel, const WindowPlace& place, const float* image) {
                     float* __restrict result = results + pixel * channels;
                     std::fill_n(result, channels, 0.0F);
                     for_each_tap(g, place, image, [&](std::int64_t, const float* __restrict from) {
                       for (std::int64_t c = 0; c < channels; ++c) result[c] += from[c];
                     });
                     const auto places =
                         static_cast<float>(pool.count_include_pad ? g.taps() : place.taps());
                     for (std::int64_t c = 0; c < channels; ++c) result[c] /= places;
                   });
  }

  void operator()(const models::Flatten&) const {}
  void operator()(const models::Softmax&) const {}
};

Fp32Network::Fp32Network(const models::Graph& graph, const VectorKernels& vector, Fusion fusion)
    : graph_(graph),
      vector_(vector),
      count_(graph.nodes().size()),
      clamp_(count_),
      in_place_(count_, 0),
      pool_(count_, 0),
      products_(count_),
      depthwise_(count_) {
  if (std::holds_alternative<models::Softmax>(graph.output().operation)) --count_;
  if (fusion != Fusion::none) fuse(fusion);
  std::vector<TensorUse> uses;
  for (std::size_t index = 0; index < count_; ++index) {
    const models::Node& made = node(index);
    if (std::holds_alternative<models::Flatten>(made.operation)) in_place_[index] = 1;
    const models::Shape& stored = pool_[index] != 0 ? graph.node(pool_[index]).shape : made.shape;
    uses.push_back({made.inputs, stored.elements(), in_place_[index] != 0});
    if (const auto* conv = std::get_if<models::Conv>(&made.operation)) {
      prepare(index, *conv);
    } else if (const auto* dense = std::get_if<models::Dense>(&made.operation)) {
      const std::int64_t k = graph.node(made.inputs[0]).shape.elements();
      prepare(index, dense->weight, {{{}, {1, 1, k}, made.shape}, 1, {}, made.shape});
    }
  }
  plan_ = plan_tensors(uses);
  group_ = images_per_group(plan_, sizeof(float));
}

void Fp32Network::fuse(Fusion fusion) {
  auto fused = fuse_activations(graph_);
  clamp_ = std::move(fused.clamp);
  in_place_ = std::move(fused.into_its_input);
  if (fusion != Fusion::full) return;
  for (std::size_t index = 0; index < count_; ++index) {
    const models::Node& made = node(index);
    const auto* pool = std::get_if<models::MaxPool>(&made.operation);
    if (pool == nullptr || !is_fusible(pool->window)) continue;
    models::NodeId from = made.inputs[0];
    if (graph_.consumers(from).size() != 1) continue;
    if (in_place_[static_cast<std::size_t>(from)] != 0) from = graph_.node(from).inputs[0];
    const auto* conv = std::get_if<models::Conv>(&graph_.node(from).operation);
    if (conv == nullptr) continue;
    const models::Shape& in = graph_.node(graph_.node(from).inputs[0]).shape;
    if (is_depthwise(conv->groups, in, graph_.node(from).shape)) continue;
    pool_[static_cast<std::size_t>(from)] = static_cast<models::NodeId>(index);
    in_place_[index] = 1;
  }
}

void Fp32Network::prepare(std::size_t index, const models::Conv& conv) {
  const models::Shape& in = graph_.node(node(index).inputs[0]).shape;
  const models::Shape& out = node(index).shape;
  if (is_depthwise(conv.groups, in, out)) {
    depthwise_[index] = tap_major(conv.weight, conv.groups);
    return;
  }
  Convolution convolution{{conv.window, in, out}, conv.groups, {}, out};
  if (pool_[index] != 0) {
    const models::Node& pool = graph_.node(pool_[index]);
    convolution.pool = std::get<models::MaxPool>(pool.operation).window;
    convolution.out = pool.shape;
  }
  prepare(index, conv.weight, convolution);
}

void Fp32Network::prepare(std::size_t index, const std::vector<float>& weight,
                          const Convolution& convolution) {
  PreparedProduct& prepared = products_[index];
  const std::int64_t n = convolution.geometry.out.channels / convolution.groups;
  const std::int64_t k = convolution.k();
  const std::int64_t lines = ceil_div(n * k, kLineFloats);
  prepared = {convolution, runs_of(convolution), {}, lines};
  prepared.weights.resize(static_cast<std::size_t>(convolution.groups * lines));
  for (std::int64_t group = 0; group < convolution.groups; ++group) {
    vector_.pack(weight.data() + group * n * k, n, k,
                 prepared.weights[static_cast<std::size_t>(group * lines)].values);
  }
}

Fp32Network::Tensors Fp32Network::make_tensors() const {
  // Products read whole groups of rows, some of them beyond the last.
  std::int64_t longest_row = 0;
  for (const PreparedProduct& prepared : products_) {
    longest_row = std::max(longest_row, prepared.convolution.k());
  }
  Tensors tensors;
  for (const std::int64_t elements : plan_.slot_elements) {
    tensors.emplace_back(static_cast<std::size_t>(elements * group_ + kRowGroup * longest_row));
  }
  return tensors;
}

Fp32Network::Scratch Fp32Network::make_scratch() const {
  Scratch scratch;
  for (const PreparedProduct& prepared : products_) {
    if (prepared.weights.empty()) continue;
    const Convolution& c = prepared.convolution;
    const std::int64_t rows = chunk_rows(c);
    scratch.band.reserve(c);
    grow(scratch.factors, rows * c.k());
    grow(scratch.packed, rows * std::min(c.k(), kRealBlock));
    grow(scratch.sums, rows * c.geometry.out.channels);
  }
  return scratch;
}

const models::Node& Fp32Network::output() const {
  return node(count_ - 1);
}

std::int64_t Fp32Network::images_in(std::span<const std::uint8_t> pixels) const {
  const std::int64_t images = count_images(pixels, graph_.nodes().front().shape);
  TILEWAVE_CHECK(images, <=, group_, "more images than the tensors hold");
  return images;
}

std::span<const float> Fp32Network::values(std::size_t index, const Tensors& tensors,
                                           std::int64_t images) const {
  const models::Shape& stored =
      pool_[index] != 0 ? graph_.node(pool_[index]).shape : node(index).shape;
  return {tensors[plan_.slot[index]].data(), static_cast<std::size_t>(images * stored.elements())};
}

std::span<const float> Fp32Network::forward(std::span<const std::uint8_t> pixels, Tensors& tensors,
                                            Scratch& scratch, const Visit& visit) const {
  const std::int64_t images = images_in(pixels);
  for (std::size_t index = 0; index < count_; ++index) {
    const Fp32Step step{*this, tensors, scratch, pixels, index, images, {}};
    if (in_place_[index] == 0) std::visit(step, node(index).operation);
    if (visit) visit(static_cast<models::NodeId>(index), values(index, tensors, images));
  }
  return values(count_ - 1, tensors, images);
}

std::span<const float> Fp32Network::forward(std::span<const std::uint8_t> pixels, Tensors& tensors,
                                            Scratch& scratch, std::span<Stage> stages,
                                            std::int64_t parts) const {
  const std::int64_t images = images_in(pixels);
  for (std::size_t index = 0; index < count_; ++index) {
    if (in_place_[index] != 0) continue;
    for_each_part(stages[index], parts, [&](Part part) {
      std::visit(Fp32Step{*this, tensors, scratch, pixels, index, images, part},
                 node(index).operation);
    });
  }
  return values(count_ - 1, tensors, images);
}

namespace {

class CpuFp32 final : public Reference {
 public:
  CpuFp32(const models::Graph& graph, ReferenceOptions options)
      : network_(graph, best_vector_kernels(), Fp32Network::Fusion::full),
        input_(graph.nodes().front().shape),
        options_(std::move(options)),
        workers_(options_.threads),
        stages_(graph.nodes().size()) {
    for (int worker = 0; worker < workers_.count(); ++worker) {
      tensors_.push_back(network_.make_tensors());
      scratch_.push_back(network_.make_scratch());
    }
  }

  std::string name() const override { return "cpu fp32 (Eigen)"; }

  void run_into(std::span<const std::uint8_t> pixels, Outputs& outputs) override {
    const std::int64_t images = count_images(pixels, input_);
    const auto image_size = static_cast<std::size_t>(input_.elements());
    outputs.classes = network_.output().shape.elements();
    outputs.integers.clear();
    outputs.real.resize(static_cast<std::size_t>(images * outputs.classes));
    for_each_group(
        images, network_.group(), options_, workers_,
        [&] { std::ranges::for_each(stages_, &Stage::reset); },
        [&](const GroupTask& task) {
          const auto values =
              network_.forward(pixels.subspan(static_cast<std::size_t>(task.first) * image_size,
                                              static_cast<std::size_t>(task.count) * image_size),
                               tensors_[task.owner], scratch_[task.worker], stages_, task.parts);
          if (task.worker != task.owner) return;
          std::ranges::copy(values, outputs.real.begin() + task.first * outputs.classes);
        });
  }

 private:
  Fp32Network network_;
  models::Shape input_;
  ReferenceOptions options_;
  Workers workers_;
  std::vector<Stage> stages_;                  ///< [nodes]
  std::vector<Fp32Network::Tensors> tensors_;  ///< [workers]
  std::vector<Fp32Network::Scratch> scratch_;  ///< [workers]
};

}  // namespace

std::unique_ptr<Reference> make_cpu_fp32(const models::Graph& graph, ReferenceOptions options) {
  validate(options);
  return std::make_unique<CpuFp32>(graph, std::move(options));
}

}  // namespace tilewave::kernels
