#include <cstring>
#include <limits>

#include "base/error.h"
#include "kernels/cuda/layers.h"
#include "kernels/cuda/network.h"
#include "kernels/fusion.h"

namespace tilewave::kernels::gpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Nodes that run: a final Softmax is left to the host.
std::size_t running_nodes(const models::Graph& graph) {
  const bool softmax = std::holds_alternative<models::Softmax>(graph.output().operation);
  return graph.nodes().size() - (softmax ? 1 : 0);
}

std::vector<TensorUse> tensor_uses(const models::Graph& graph, const Fusion& fusion) {
  std::vector<TensorUse> uses;
  for (std::size_t index = 0; index < running_nodes(graph); ++index) {
    const models::Node& node = graph.nodes()[index];
    const bool in_place = fusion.into_its_input[index] != 0 ||
                          std::holds_alternative<models::Flatten>(node.operation);
    uses.push_back({node.inputs, node.shape.elements(), in_place});
  }
  return uses;
}

/// T: how tensors are stored.
template <typename T>
class RealNetwork final : public Network {
 public:
  RealNetwork(const models::Graph& graph, GpuPrecision precision, const Limits& limits,
              Backend& backend)
      : graph_(graph),
        precision_(precision),
        fusion_(fuse_activations(graph)),
        layers_(backend, tensor_uses(graph, fusion_), sizeof(T), limits),
        pixels_(layers_.allocate<std::uint8_t>(layers_.capacity() * input_shape().elements())) {
    for (index_ = 0; index_ < running_nodes(graph); ++index_) {
      if (fusion_.into_its_input[index_] != 0) continue;
      std::visit([&](const auto& operation) { add(operation); }, node().operation);
    }
    index_ = running_nodes(graph) - 1;
    layers_.finish();
  }

  std::int64_t capacity() const override { return layers_.capacity(); }
  std::uint8_t* pixels() const override { return pixels_; }
  const models::Shape& input_shape() const override { return graph_.nodes().front().shape; }
  const void* results() const override { return out(); }
  std::int64_t result_bytes() const override {
    return node().shape.elements() * std::int64_t{sizeof(T)};
  }
  void run(std::int64_t images) const override { layers_.run(images); }

  void append(const std::byte* results, std::int64_t images, Outputs& outputs) const override {
    outputs.classes = node().shape.elements();
    for (std::int64_t i = 0; i < images * outputs.classes; ++i) {
      T value;
      std::memcpy(&value, results + i * std::int64_t{sizeof(T)}, sizeof(T));
      outputs.real.push_back(to_float(value));
    }
  }

 private:
  const models::Node& node() const { return graph_.nodes()[index_]; }
  const models::Shape& in_shape() const { return graph_.node(node().inputs[0]).shape; }
  const T* in(std::size_t i = 0) const {
    return layers_.template tensor<T>(static_cast<std::size_t>(node().inputs[i]));
  }
  T* out() const { return layers_.template tensor<T>(index_); }
  Clamp clamp() const { return {fusion_.clamp[index_].low, fusion_.clamp[index_].high}; }
  WindowPlaces places(const models::Window& window) const {
    return window_places({window, in_shape(), node().shape}, node().name);
  }
  void add_work(const Work& work) { layers_.add(work, node().shape.elements()); }

  void add_product(const std::vector<float>& weight, const std::vector<float>& bias,
                   std::int64_t groups, const WindowGeometry& geometry) {
    const std::string where = graph_.name() + ": " + node().name;
    window_places(geometry, where);
    const auto n = static_cast<std::int64_t>(bias.size());
    const ProductSizes sizes =
        product_sizes(groups, geometry.out.pixels(), n / groups,
                      static_cast<std::int64_t>(weight.size()) / n, kVector<T>, where);
    const T* packed = layers_.upload(packed_weights<T>(weight, sizes, to_stored<T>));
    layers_.add_product(ProductLayer<T>{where, precision_, geometry, sizes, in(), packed, T{}},
                        AddBias<T>{nullptr, layers_.upload(bias), out(), {}, clamp()});
  }

  void add(const models::Input&) { add_work(LoadPixels<T>{pixels_, out()}); }
  void add(const models::Conv& conv) {
    const WindowGeometry geometry{conv.window, in_shape(), node().shape};
    if (!is_depthwise(conv.groups, in_shape(), node().shape)) {
      return add_product(conv.weight, conv.bias, conv.groups, geometry);
    }
    std::vector<T> weight;
    for (const float w : tap_major(conv.weight, conv.groups)) weight.push_back(to_stored<T>(w));
    add_work(Depthwise<T>{places(conv.window), in(), layers_.upload(weight),
                          layers_.upload(conv.bias), out(), clamp()});
  }
  void add(const models::Dense& dense) {
    add_product(dense.weight, dense.bias, 1,
                {{}, {1, 1, in_shape().elements()}, {1, 1, node().shape.elements()}});
  }
  void add(const models::Add&) { add_work(AddReal<T>{in(0), in(1), out(), clamp()}); }
  void add(const models::Relu&) { add_map(RealFunction::clamp, {0, kInfinity}); }
  void add(const models::Clip& clip) { add_map(RealFunction::clamp, {clip.low, clip.high}); }
  void add(const models::Sigmoid&) { add_map(RealFunction::sigmoid, {}); }
  void add(const models::Tanh&) { add_map(RealFunction::tanh, {}); }
  void add_map(RealFunction function, Clamp clamp) {
    add_work(MapReal<T>{function, in(), out(), clamp});
  }
  void add(const models::MaxPool& pool) {
    add_work(MaxPool<T>{places(pool.window), in(), out(), to_stored<T>(-kInfinity)});
  }
  void add(const models::AveragePool& pool) {
    add_work(AverageReal<T>{places(pool.window), in(), out(), pool.count_include_pad});
  }
  void add(const models::Flatten&) {}
  void add(const models::Softmax&) { throw InternalError("a Softmax before the end"); }

  const models::Graph& graph_;
  GpuPrecision precision_;
  Fusion fusion_;
  Layers layers_;
  std::uint8_t* pixels_;
  std::size_t index_ = 0;  ///< of the node that is being added, later of the output
};

}  // namespace

std::unique_ptr<Network> make_real_network(const models::Graph& graph, GpuPrecision precision,
                                           const Limits& limits, Backend& backend) {
  if (precision == GpuPrecision::fp16) {
    return std::make_unique<RealNetwork<Half>>(graph, precision, limits, backend);
  }
  return std::make_unique<RealNetwork<float>>(graph, precision, limits, backend);
}

}  // namespace tilewave::kernels::gpu
