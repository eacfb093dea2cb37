#include "kernels/fusion.h"

namespace tilewave::kernels {

Fusion fuse_activations(const models::Graph& graph) {
  const std::size_t nodes = graph.nodes().size();
  Fusion fusion{std::vector<FusedClamp>(nodes), std::vector<char>(nodes, 0)};
  for (std::size_t index = 1; index < nodes; ++index) {
    const models::Node& activation = graph.nodes()[index];
    FusedClamp clamp;
    if (const auto* clip = std::get_if<models::Clip>(&activation.operation)) {
      clamp = {clip->low, clip->high};
    } else if (std::holds_alternative<models::Relu>(activation.operation)) {
      clamp.low = 0;
    } else {
      continue;
    }
    const models::NodeId input = activation.inputs[0];
    const models::Operation& operation = graph.node(input).operation;
    const bool fits = std::holds_alternative<models::Conv>(operation) ||
                      std::holds_alternative<models::Dense>(operation) ||
                      std::holds_alternative<models::Add>(operation);
    if (!fits || graph.consumers(input).size() != 1) continue;
    fusion.clamp[static_cast<std::size_t>(input)] = clamp;
    fusion.into_its_input[index] = 1;
  }
  return fusion;
}

}  // namespace tilewave::kernels
