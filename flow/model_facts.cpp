#include "flow/model_facts.h"

namespace tilewave::flow {
namespace {

template <typename Weighted>
LayerFacts facts_of(const Weighted& operation, const models::Node& node,
                    const models::Graph& graph) {
  const auto weights = static_cast<std::int64_t>(operation.weight.size());
  // Each weight takes part once in each output pixel of its channel.
  return {node.name,
          weights * node.shape.pixels(),
          weights,
          static_cast<std::int64_t>(operation.bias.size()),
          graph.node(node.inputs[0]).shape.elements(),
          node.shape.elements()};
}

}  // namespace

std::vector<LayerFacts> layer_facts(const models::Graph& graph) {
  std::vector<LayerFacts> layers;
  for (const models::Node& node : graph.nodes()) {
    if (const auto* conv = std::get_if<models::Conv>(&node.operation)) {
      layers.push_back(facts_of(*conv, node, graph));
    } else if (const auto* dense = std::get_if<models::Dense>(&node.operation)) {
      layers.push_back(facts_of(*dense, node, graph));
    }
  }
  return layers;
}

ModelFacts model_facts(const models::Graph& graph) {
  ModelFacts facts;
  for (const LayerFacts& layer : layer_facts(graph)) {
    ++facts.layers;
    facts.macs += layer.macs;
    facts.parameters += layer.weights + layer.biases;
  }
  return facts;
}

}  // namespace tilewave::flow
