#include "kernels/cpu/fp32.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "kernels/cpu/batches.h"
#include "kernels/cpu/window.h"
#include "kernels/reference.h"

namespace tilewave::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::int64_t rounded_to_row_group(std::int64_t rows) {
  return (rows + kRowGroup - 1) / kRowGroup * kRowGroup;
}

/// Rows of c = bias, then c += a * b.
void fill_with_bias(const std::vector<float>& bias, std::int64_t rows, float* c) {
  for (std::int64_t row = 0; row < rows; ++row) c = std::copy(bias.begin(), bias.end(), c);
}

}  // namespace

/// Runs one node over the images of a group.
struct Fp32Step {
  const Fp32Network& network;
  Fp32Network::Workspace& workspace;
  std::span<const std::uint8_t> pixels;
  std::size_t index;
  std::int64_t images;

  const models::Node& node() const { return network.node(index); }
  float* tensor(std::size_t id) const { return workspace.slots[network.plan_.slot[id]].data(); }
  const float* in(std::size_t i = 0) const {
    return tensor(static_cast<std::size_t>(node().inputs[i]));
  }
  float* out() const { return tensor(index); }
  const models::Shape& in_shape() const {
    return network.node(static_cast<std::size_t>(node().inputs[0])).shape;
  }
  std::int64_t count() const { return images * node().shape.elements(); }

  template <typename Function>
  void map(const Function& function) const {
    std::transform(in(), in() + count(), out(), function);
  }

  void clamp() const {
    const auto [low, high] = network.clamp_[index];
    if (network.clamp_[index] == FusedClamp{}) return;
    float* values = out();
    for (std::int64_t i = 0; i < count(); ++i) {
      values[i] = std::min(std::max(values[i], low), high);
    }
  }

  void operator()(const models::Input&) const {
    constexpr float kWhite = 255.0F;
    std::transform(pixels.begin(), pixels.end(), out(),
                   [](std::uint8_t pixel) { return static_cast<float>(pixel) / kWhite; });
  }

  void operator()(const models::Dense& dense) const {
    const auto n = static_cast<std::int64_t>(dense.bias.size());
    const std::int64_t k = in_shape().elements();
    const std::int64_t rows = rounded_to_row_group(images);
    fill_with_bias(dense.bias, rows, out());
    network.vector_.multiply({in(), dense.weight.data(), out(), rows, n, k, k, n});
    clamp();
  }

  void operator()(const models::Conv& conv) const {
    const WindowGeometry geometry{conv.window, in_shape(), node().shape};
    if (is_depthwise(conv.groups, in_shape(), node().shape)) {
      depthwise(geometry, conv);
    } else {
      const std::int64_t rows = rounded_to_row_group(images * geometry.out.pixels());
      fill_with_bias(conv.bias, rows, out());
      for (std::int64_t group = 0; group < conv.groups; ++group) {
        convolve(geometry, conv, group, rows);
      }
    }
    clamp();
  }

  /// One group's channels, in chunks of rows that stay in the cache.
  void convolve(const WindowGeometry& g, const models::Conv& conv, std::int64_t group,
                std::int64_t all_rows) const {
    const std::int64_t channels = g.in.channels / conv.groups;
    const std::int64_t n = g.out.channels / conv.groups;
    const std::int64_t k = g.taps() * channels;
    const float* weight = conv.weight.data() + group * n * k;
    float* result = out() + group * n;
    if (g.is_pointwise() && conv.groups == 1) {
      network.vector_.multiply({in(), weight, result, all_rows, n, k, k, n});
      return;
    }
    const std::int64_t real_rows = images * g.out.pixels();
    const std::int64_t chunk = rows_per_chunk(k * std::int64_t{sizeof(float)});
    for (std::int64_t first = 0; first < all_rows; first += chunk) {
      const std::int64_t rows = std::min(chunk, all_rows - first);
      gather_rows(g, in(), first, std::min(rows, real_rows - first), {group * channels, channels},
                  0.0F, workspace.rows.data());
      network.vector_.multiply({workspace.rows.data(), weight, result + first * g.out.channels,
                                rows, n, k, k, g.out.channels});
    }
  }

  void depthwise(const WindowGeometry& g, const models::Conv& conv) const {
    const std::int64_t channels = g.in.channels;
    const float* weights = network.depthwise_[index].data();
    float* results = out();
    for_each_place(
        g, in(), images, [&](std::int64_t pixel, const WindowPlace& place, const float* image) {
          float* __restrict result = results + pixel * channels;
          std::copy(conv.bias.begin(), conv.bias.end(), result);
          for_each_tap(g, place, image, [&](std::int64_t tap, const float* __restrict from) {
            const float* __restrict weight = weights + tap * channels;
            for (std::int64_t c = 0; c < channels; ++c) result[c] += from[c] * weight[c];
          });
        });
  }

  void operator()(const models::Add&) const {
    std::transform(in(0), in(0) + count(), in(1), out(), std::plus<>());
    clamp();
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
    max_pool({pool.window, in_shape(), node().shape}, in(), images, -kInfinity, out());
  }

  void operator()(const models::AveragePool& pool) const {
    const WindowGeometry g{pool.window, in_shape(), node().shape};
    const std::int64_t channels = g.in.channels;
    float* results = out();
    for_each_place(
        g, in(), images, [&](std::int64_t pixel, const WindowPlace& place, const float* image) {
          float* __restrict result = results + pixel * channels;
          std::fill_n(result, channels, 0.0F);
          for_each_tap(g, place, image, [&](std::int64_t, const float* __restrict from) {
            for (std::int64_t c = 0; c < channels; ++c) result[c] += from[c];
          });
          const auto places = static_cast<float>(pool.count_include_pad ? g.taps() : place.taps());
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
      depthwise_(count_) {
  if (std::holds_alternative<models::Softmax>(graph.output().operation)) --count_;
  if (fusion == Fusion::activations) {
    auto fused = fuse_activations(graph);
    clamp_ = std::move(fused.clamp);
    in_place_ = std::move(fused.into_its_input);
  }
  std::vector<TensorUse> uses;
  for (std::size_t index = 0; index < count_; ++index) {
    const models::Node& made = node(index);
    if (std::holds_alternative<models::Flatten>(made.operation)) in_place_[index] = 1;
    uses.push_back({made.inputs, made.shape.elements(), in_place_[index] != 0});
    const auto* conv = std::get_if<models::Conv>(&made.operation);
    if (conv == nullptr) continue;
    const auto k = static_cast<std::int64_t>(conv->weight.size() / conv->bias.size());
    row_elements_ = std::max(row_elements_, k * rows_per_chunk(k * std::int64_t{sizeof(float)}));
    if (is_depthwise(conv->groups, graph.node(made.inputs[0]).shape, made.shape)) {
      depthwise_[index] = tap_major(conv->weight, conv->groups);
    }
  }
  plan_ = plan_tensors(uses);
  group_ = images_per_group(plan_, sizeof(float));
}

Fp32Network::Workspace Fp32Network::make_workspace() const {
  Workspace workspace;
  for (const std::int64_t elements : plan_.slot_elements) {
    workspace.slots.emplace_back(static_cast<std::size_t>(elements * group_));
  }
  workspace.rows.resize(static_cast<std::size_t>(row_elements_));
  return workspace;
}

const models::Node& Fp32Network::output() const {
  return node(count_ - 1);
}

std::span<const float> Fp32Network::forward(std::span<const std::uint8_t> pixels,
                                            Workspace& workspace, const Visit& visit) const {
  const std::int64_t images = count_images(pixels, graph_.nodes().front().shape);
  TILEWAVE_CHECK(images, <=, group_, "more images than the workspace holds");
  std::span<const float> values;
  for (std::size_t index = 0; index < count_; ++index) {
    const Fp32Step step{*this, workspace, pixels, index, images};
    if (in_place_[index] == 0) std::visit(step, node(index).operation);
    values = {step.out(), static_cast<std::size_t>(step.count())};
    if (visit) visit(static_cast<models::NodeId>(index), values);
  }
  return values;
}

namespace {

class CpuFp32 final : public Reference {
 public:
  CpuFp32(const models::Graph& graph, ReferenceOptions options)
      : network_(graph, best_vector_kernels(), Fp32Network::Fusion::activations),
        input_(graph.nodes().front().shape),
        options_(options),
        workspaces_(static_cast<std::size_t>(options.threads)) {
    for (auto& workspace : workspaces_) workspace = network_.make_workspace();
  }

  std::string name() const override { return "cpu fp32 (Eigen)"; }

  Outputs run(std::span<const std::uint8_t> pixels) override {
    const std::int64_t images = count_images(pixels, input_);
    Outputs outputs;
    outputs.classes = network_.output().shape.elements();
    outputs.real.resize(static_cast<std::size_t>(images * outputs.classes));
    const auto image_size = static_cast<std::size_t>(input_.elements());
    for_each_group(
        images, network_.group(), options_,
        [&](std::size_t worker, std::int64_t first, std::int64_t count) {
          const auto values =
              network_.forward(pixels.subspan(static_cast<std::size_t>(first) * image_size,
                                              static_cast<std::size_t>(count) * image_size),
                               workspaces_[worker]);
          std::copy(values.begin(), values.end(), outputs.real.begin() + first * outputs.classes);
        });
    return outputs;
  }

 private:
  Fp32Network network_;
  models::Shape input_;
  ReferenceOptions options_;
  std::vector<Fp32Network::Workspace> workspaces_;
};

}  // namespace

std::unique_ptr<Reference> make_cpu_fp32(const models::Graph& graph, ReferenceOptions options) {
  validate(options);
  return std::make_unique<CpuFp32>(graph, options);
}

}  // namespace tilewave::kernels
