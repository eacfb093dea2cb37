#include "quant/equalize.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace tilewave::quant {
namespace {

using models::NodeId;

/// Factors nearer to 1 than this, for all channels, end the iteration.
constexpr double kTolerance = 1e-3;
constexpr int kMaxRounds = 20;

/// A layer's weights as [out][...], and which input channel each of them reads.
struct Weights {
  std::vector<float>* weight = nullptr;
  std::vector<float>* bias = nullptr;
  std::size_t inputs = 1;  ///< channels of the tensor that it reads
  std::size_t groups = 1;

  std::size_t outputs() const { return bias->size(); }
  std::size_t output_of(std::size_t i) const { return i / (weight->size() / outputs()); }
  /// In NHWC order the channel runs fastest, within a group.
  std::size_t input_of(std::size_t i) const {
    const std::size_t of_group = inputs / groups;
    const std::size_t group = output_of(i) / (outputs() / groups);
    return group * of_group + i % of_group;
  }
};

/// The largest magnitude of the weights of each channel, as `channel_of` counts them.
template <typename ChannelOf>
std::vector<double> largest(const Weights& layer, std::size_t channels,
                            const ChannelOf& channel_of) {
  std::vector<double> most(channels);
  for (std::size_t i = 0; i < layer.weight->size(); ++i) {
    double& channel = most[channel_of(i)];
    channel = std::max(channel, std::abs(double{(*layer.weight)[i]}));
  }
  return most;
}

/// Two layers, the channels that the first makes being those that the second reads.
struct Pair {
  Weights first, second;

  /// How far the largest factor is from 1.
  double equalize() const {
    const std::size_t channels = first.outputs();
    const auto made = largest(first, channels, [&](std::size_t i) { return first.output_of(i); });
    const auto read = largest(second, channels, [&](std::size_t i) { return second.input_of(i); });
    std::vector<float> factor(channels, 1);
    double farthest = 0;
    for (std::size_t c = 0; c < channels; ++c) {
      if (made[c] == 0 || read[c] == 0) continue;
      factor[c] = static_cast<float>(std::sqrt(made[c] / read[c]));
      farthest = std::max(farthest, std::abs(std::log(double{factor[c]})));
    }
    for (std::size_t i = 0; i < first.weight->size(); ++i) {
      (*first.weight)[i] /= factor[first.output_of(i)];
    }
    for (std::size_t c = 0; c < channels; ++c) (*first.bias)[c] /= factor[c];
    for (std::size_t i = 0; i < second.weight->size(); ++i) {
      (*second.weight)[i] *= factor[second.input_of(i)];
    }
    return farthest;
  }
};

class Equalizer {
 public:
  explicit Equalizer(const models::Graph& graph) : graph_(graph) {
    for (const models::Node& node : graph.nodes()) operations_.push_back(node.operation);
  }

  models::Graph run() {
    std::vector<Pair> pairs;
    for (NodeId id = 0; id < static_cast<NodeId>(operations_.size()); ++id) {
      if (const auto pair = pair_before(id)) pairs.push_back(*pair);
    }
    double farthest = kTolerance;
    for (int round = 0; round < kMaxRounds && farthest >= kTolerance; ++round) {
      farthest = 0;
      for (const Pair& pair : pairs) farthest = std::max(farthest, pair.equalize());
    }
    const models::Node& input = graph_.node(0);
    models::Graph result(graph_.name(), input.shape, input.name);
    for (std::size_t id = 1; id < operations_.size(); ++id) {
      const models::Node& node = graph_.nodes()[id];
      result.add(node.name, std::move(operations_[id]), node.inputs);
    }
    return result;
  }

 private:
  std::optional<Weights> weights_of(NodeId id) {
    models::Operation& operation = operations_[static_cast<std::size_t>(id)];
    if (auto* conv = std::get_if<models::Conv>(&operation)) {
      return Weights{&conv->weight, &conv->bias, 1, static_cast<std::size_t>(conv->groups)};
    }
    if (auto* dense = std::get_if<models::Dense>(&operation)) {
      return Weights{&dense->weight, &dense->bias, 1, 1};
    }
    return std::nullopt;
  }

  /// Whether f(a x) = a f(x) channel by channel, for any a > 0.
  bool is_homogeneous(NodeId id) const {
    const models::Operation& operation = operations_[static_cast<std::size_t>(id)];
    return std::holds_alternative<models::Relu>(operation) ||
           std::holds_alternative<models::MaxPool>(operation) ||
           std::holds_alternative<models::AveragePool>(operation) ||
           std::holds_alternative<models::Flatten>(operation);
  }

  /// The pair whose second layer is `id`.
  std::optional<Pair> pair_before(NodeId id) {
    auto second = weights_of(id);
    if (!second) return std::nullopt;
    NodeId from = graph_.node(id).inputs[0];
    while (is_homogeneous(from) && graph_.consumers(from).size() == 1) {
      from = graph_.node(from).inputs[0];
    }
    const auto first = weights_of(from);
    if (!first || graph_.consumers(from).size() != 1) return std::nullopt;
    // A flat tensor holds the channels of each pixel one after the other.
    second->inputs = first->outputs();
    return Pair{*first, *second};
  }

  const models::Graph& graph_;
  std::vector<models::Operation> operations_;
};

}  // namespace

models::Graph equalized(const models::Graph& graph) {
  return Equalizer(graph).run();
}

}  // namespace tilewave::quant
