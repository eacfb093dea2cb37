#include "flow/model_facts.h"

namespace tilewave::flow {
namespace {

template <typename Weighted>
void count(const Weighted& operation, const models::Shape& output, ModelFacts& facts) {
  const auto weights = static_cast<std::int64_t>(operation.weight.size());
  ++facts.layers;
  // Each weight takes part once in each output pixel of its channel.
  facts.macs += weights * output.pixels();
  facts.parameters += weights + static_cast<std::int64_t>(operation.bias.size());
}

}  // namespace

ModelFacts model_facts(const models::Graph& graph) {
  ModelFacts facts;
  for (const models::Node& node : graph.nodes()) {
    if (const auto* conv = std::get_if<models::Conv>(&node.operation)) {
      count(*conv, node.shape, facts);
    } else if (const auto* dense = std::get_if<models::Dense>(&node.operation)) {
      count(*dense, node.shape, facts);
    }
  }
  return facts;
}

}  // namespace tilewave::flow
