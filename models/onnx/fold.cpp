#include <set>
#include <utility>

#include "models/onnx/model.h"

namespace tilewave::models::onnx_reader {
namespace {

/// y = scale[n] * x + shift[n], of a Conv's or Dense's outputs n.
template <typename Layer>
void fold_into(Layer& layer, const Conv& affine) {
  const std::size_t per_output = layer.weight.size() / layer.bias.size();
  for (std::size_t n = 0; n < layer.bias.size(); ++n) {
    const double scale = affine.weight[n];
    for (std::size_t k = n * per_output; k < (n + 1) * per_output; ++k) {
      layer.weight[k] = static_cast<float>(scale * double{layer.weight[k]});
    }
    layer.bias[n] = static_cast<float>(scale * double{layer.bias[n]} + double{affine.bias[n]});
  }
}

}  // namespace

Graph fold_affine(const Converted& converted) {
  std::vector<Node> nodes = converted.graph.nodes();
  std::vector<int> readers(nodes.size());
  for (const Node& node : nodes) {
    for (const NodeId input : node.inputs) ++readers[static_cast<std::size_t>(input)];
  }
  const std::set<NodeId> affine(converted.affine.begin(), converted.affine.end());
  Graph graph(converted.graph.name(), nodes[0].shape, nodes[0].name);
  std::vector<NodeId> place(nodes.size());  // where each of `nodes` is in the new graph
  std::vector<Node*> kept = {&nodes[0]};
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const NodeId before = nodes[i].inputs[0];
    Node& layer = *kept[static_cast<std::size_t>(place[static_cast<std::size_t>(before)])];
    const bool alone = readers[static_cast<std::size_t>(before)] == 1;
    if (affine.contains(static_cast<NodeId>(i)) && alone) {
      const Conv& step = std::get<Conv>(nodes[i].operation);
      place[i] = place[static_cast<std::size_t>(before)];
      if (auto* conv = std::get_if<Conv>(&layer.operation)) {
        fold_into(*conv, step);
        continue;
      }
      if (auto* dense = std::get_if<Dense>(&layer.operation)) {
        fold_into(*dense, step);
        continue;
      }
    }
    place[i] = static_cast<NodeId>(kept.size());
    kept.push_back(&nodes[i]);
  }
  for (std::size_t i = 1; i < kept.size(); ++i) {
    std::vector<NodeId> inputs;
    for (const NodeId input : kept[i]->inputs) {
      inputs.push_back(place[static_cast<std::size_t>(input)]);
    }
    graph.add(kept[i]->name, std::move(kept[i]->operation), std::move(inputs));
  }
  return graph;
}

}  // namespace tilewave::models::onnx_reader
