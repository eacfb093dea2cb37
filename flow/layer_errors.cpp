#include "flow/layer_errors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/error.h"
#include "base/parallel.h"
#include "kernels/cpu/fp32.h"
#include "kernels/cpu/integer_network.h"
#include "quant/requantize.h"

namespace tilewave::flow {
namespace {

using Layers = std::vector<LayerErrors>;

void add(ErrorSums& sums, const ErrorSums& more) {
  sums.signal += more.signal;
  sums.error += more.error;
  sums.product += more.product;
  sums.power += more.power;
}

void add(ErrorSums& sums, double x, double y) {
  sums.signal += x * x;
  sums.error += (x - y) * (x - y);
  sums.product += x * y;
  sums.power += y * y;
}

void add(LayerErrors& layer, const LayerErrors& more) {
  add(layer.network, more.network);
  add(layer.own, more.own);
  layer.clipped += more.clipped;
  layer.values += more.values;
  layer.saturated += more.saturated;
  layer.least_sum = std::min(layer.least_sum, more.least_sum);
  layer.most_sum = std::max(layer.most_sum, more.most_sum);
  for (std::size_t bin = 0; bin < layer.histogram.size(); ++bin) {
    layer.histogram[bin] += more.histogram[bin];
  }
}

/// A node of the integer network, beside the fp32 node that makes the same tensor.
struct Pair {
  models::NodeId real = 0;
  bool is_input = false;
  /// Whether a value at this end of the format has been clamped to it by requantization: not where
  /// a fused activation ends there, and not in a node that only passes integers on.
  bool low_saturates = false, high_saturates = false;
};

Pair made_pair(const quant::QNode& node, models::NodeId real, const kernels::FusedClamp& clamp) {
  const bool is_input = std::holds_alternative<quant::QInput>(node.operation);
  const bool requantizes = is_input || std::holds_alternative<quant::QConv>(node.operation) ||
                           std::holds_alternative<quant::QDense>(node.operation) ||
                           std::holds_alternative<quant::QAdd>(node.operation);
  const kernels::FusedClamp none;
  return {real, is_input, requantizes && clamp.low == none.low,
          requantizes && clamp.high == none.high};
}

std::vector<Pair> pair_nodes(const models::Graph& graph, const quant::QuantizedGraph& quantized) {
  std::map<std::string, models::NodeId> ids;
  for (std::size_t id = 0; id < graph.nodes().size(); ++id) {
    ids[graph.nodes()[id].name] = static_cast<models::NodeId>(id);
  }
  const kernels::Fusion fusion = kernels::fuse_activations(graph);
  std::vector<Pair> pairs;
  for (const quant::QNode& node : quantized.nodes) {
    const auto found = ids.find(node.name);
    TILEWAVE_CHECK((found != ids.end()), ==, true, node.name + " is a node of the fp32 network");
    pairs.push_back(
        made_pair(node, found->second, fusion.clamp[static_cast<std::size_t>(found->second)]));
  }
  return pairs;
}

/// Measures groups of images; one per thread.
class Meter {
 public:
  Meter(const kernels::Fp32Network& real, const kernels::IntegerNetwork& integers,
        const quant::QuantizedGraph& quantized, const std::vector<Pair>& pairs)
      : real_(real),
        integers_(integers),
        quantized_(quantized),
        pairs_(pairs),
        real_tensors_(real.make_tensors()),
        real_scratch_(real.make_scratch()),
        integer_tensors_(integers.make_tensors()),
        integer_scratch_(integers.make_scratch()),
        tensors_(quantized.nodes.size()) {}

  Layers measure(std::span<const std::uint8_t> pixels) {
    Layers layers(quantized_.nodes.size());
    run_fp32(pixels);
    kernels::IntegerNetwork::Watch watch;
    watch.sums = [&](std::size_t node, std::span<const std::int32_t> sums) {
      const auto [least, most] = std::minmax_element(sums.begin(), sums.end());
      layers[node].least_sum = std::min(layers[node].least_sum, *least);
      layers[node].most_sum = std::max(layers[node].most_sum, *most);
    };
    watch.tensor = [&](std::size_t node, std::span<std::int16_t> values) {
      compare(node, values, layers[node]);
    };
    integers_.forward(pixels, integer_tensors_, integer_scratch_, watch);
    kernels::IntegerNetwork::Watch alone;
    alone.tensor = [&](std::size_t node, std::span<std::int16_t> values) {
      compare_own(node, values, layers[node]);
    };
    integers_.forward(pixels, integer_tensors_, integer_scratch_, alone);
    return layers;
  }

 private:
  void run_fp32(std::span<const std::uint8_t> pixels) {
    const auto keep = [&](models::NodeId id, std::span<const float> values) {
      for (std::size_t node = 0; node < pairs_.size(); ++node) {
        if (pairs_[node].real == id) tensors_[node].assign(values.begin(), values.end());
      }
    };
    real_.forward(pixels, real_tensors_, real_scratch_, keep);
  }

  const quant::Quantization& quantization(std::size_t node) const {
    return quantized_.nodes[node].quantization;
  }

  /// `error`: from the value in fp32. An input that is at an end of the format may just be there.
  bool is_saturated(std::size_t node, std::int16_t value, double error) const {
    const quant::Quantization& q = quantization(node);
    const Pair& pair = pairs_[node];
    if (pair.is_input && std::abs(error) < static_cast<double>(q.scale)) return false;
    return (value == q.format.qmin() && pair.low_saturates) ||
           (value == q.format.qmax() && pair.high_saturates);
  }

  void compare(std::size_t node, std::span<const std::int16_t> values, LayerErrors& layer) const {
    const quant::Quantization& q = quantization(node);
    const std::int64_t levels = q.format.qmax() - q.format.qmin() + std::int64_t{1};
    const std::int64_t bins = std::min(kHistogramBins, levels);
    layer.histogram.resize(static_cast<std::size_t>(bins));
    layer.values += static_cast<std::int64_t>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = tensors_[node][i];
      const double y = quant::dequantize(values[i], q);
      add(layer.network, x, y);
      layer.saturated += is_saturated(node, values[i], x - y);
      const std::int64_t bin = (values[i] - q.format.qmin()) * bins / levels;
      ++layer.histogram[static_cast<std::size_t>(bin)];
    }
  }

  /// Leaves in `values` what fp32 gives, so that the next layers do not see this one's error.
  void compare_own(std::size_t node, std::span<std::int16_t> values, LayerErrors& layer) const {
    const quant::Quantization& q = quantization(node);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float x = tensors_[node][i];
      const double y = quant::dequantize(values[i], q);
      add(layer.own, x, y);
      if (is_saturated(node, values[i], x - y)) layer.clipped += (x - y) * (x - y);
      values[i] = static_cast<std::int16_t>(quant::quantize(x, q));
    }
  }

  const kernels::Fp32Network& real_;
  const kernels::IntegerNetwork& integers_;
  const quant::QuantizedGraph& quantized_;
  const std::vector<Pair>& pairs_;
  kernels::Fp32Network::Tensors real_tensors_;
  kernels::Fp32Network::Scratch real_scratch_;
  kernels::IntegerNetwork::Tensors integer_tensors_;
  kernels::IntegerNetwork::Scratch integer_scratch_;
  std::vector<std::vector<float>> tensors_;  ///< in fp32, by node of the integer network
};

}  // namespace

std::vector<LayerErrors> measure_layers(const models::Graph& graph,
                                        const quant::QuantizedGraph& quantized,
                                        std::span<const std::uint8_t> pixels, int threads,
                                        const std::stop_token& stop) {
  // The kernels that every processor has, so that all find the same figures.
  const kernels::Fp32Network real(graph, kernels::portable_vector_kernels(),
                                  kernels::Fp32Network::Fusion::activations);
  const kernels::IntegerNetwork integers(quantized, kernels::IntegerGemm::baseline,
                                         kernels::IntegerNetwork::Fusion::none);
  const std::vector<Pair> pairs = pair_nodes(graph, quantized);
  std::vector<Meter> meters(static_cast<std::size_t>(threads),
                            Meter(real, integers, quantized, pairs));
  const auto group_size = static_cast<std::size_t>(std::min(real.group(), integers.group()) *
                                                   graph.nodes().front().shape.elements());
  const auto groups = static_cast<std::int64_t>((pixels.size() + group_size - 1) / group_size);
  Layers all(quantized.nodes.size());
  std::vector<Layers> parts(meters.size());
  // As many groups at a time as there are threads; their figures are added up in order.
  for (std::int64_t group = 0; group < groups; group += threads) {
    check_stop(stop);
    const std::int64_t together = std::min<std::int64_t>(threads, groups - group);
    parallel_for(together, threads, [&](std::int64_t which) {
      const std::size_t first = static_cast<std::size_t>(group + which) * group_size;
      const auto index = static_cast<std::size_t>(which);
      parts[index] =
          meters[index].measure(pixels.subspan(first, std::min(group_size, pixels.size() - first)));
    });
    for (std::size_t which = 0; which < static_cast<std::size_t>(together); ++which) {
      for (std::size_t node = 0; node < all.size(); ++node) {
        all[node].histogram.resize(parts[which][node].histogram.size());
        add(all[node], parts[which][node]);
      }
    }
  }
  return all;
}

}  // namespace tilewave::flow
