#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "models/onnx/model.h"

namespace tilewave::models::onnx_reader {
namespace {

/// The place of the node that makes each tensor.
std::map<std::string, std::size_t> makers_of(const Model& model) {
  std::map<std::string, std::size_t> makers;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    for (const std::string& output : model.nodes[i].outputs) {
      if (output.empty()) continue;
      if (output == model.input || model.constants.contains(output) ||
          !makers.emplace(output, i).second) {
        throw InputError(model.nodes[i].where(), "tensor " + output + " is made twice");
      }
    }
  }
  return makers;
}

using Edges = std::vector<std::vector<std::size_t>>;

/// For every node, the nodes that it reads.
Edges read_nodes(const Model& model, const std::map<std::string, std::size_t>& makers) {
  Edges reads(model.nodes.size());
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    for (const std::string& input : model.nodes[i].inputs) {
      if (const auto maker = makers.find(input); maker != makers.end()) {
        reads[i].push_back(maker->second);
      } else if (!input.empty() && input != model.input && !model.constants.contains(input)) {
        throw InputError(model.nodes[i].where(), "reads tensor " + input + ", which nothing makes");
      }
    }
  }
  return reads;
}

/// Every unsorted node reads another unsorted one: going back along these ends in a cycle.
[[noreturn]] void fail_cycle(const Model& model, const Edges& reads,
                             const std::vector<std::size_t>& unread) {
  const auto unsorted = [&](std::size_t node) { return unread[node] > 0; };
  std::size_t at = 0;
  while (!unsorted(at)) ++at;
  std::set<std::size_t> seen;
  while (seen.insert(at).second) {
    at = *std::find_if(reads[at].begin(), reads[at].end(), unsorted);
  }
  throw InputError(model.nodes[at].where(), "depends on its own output: the graph has a cycle");
}

/// Kahn's algorithm, always taking the first in the file's order of those that are ready.
std::vector<std::size_t> sorted(const Model& model, const Edges& reads) {
  Edges readers(reads.size());
  std::vector<std::size_t> unread(reads.size());
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    unread[i] = reads[i].size();
    for (const std::size_t made : reads[i]) readers[made].push_back(i);
    if (unread[i] == 0) ready.insert(i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(next);
    for (const std::size_t reader : readers[next]) {
      if (--unread[reader] == 0) ready.insert(reader);
    }
  }
  if (order.size() != reads.size()) fail_cycle(model, reads, unread);
  return order;
}

}  // namespace

void sort_nodes(Model& model) {
  const auto makers = makers_of(model);
  const Edges reads = read_nodes(model, makers);
  const std::vector<std::size_t> order = sorted(model, reads);
  const auto output = makers.find(model.output);
  if (output == makers.end()) {
    throw InputError("output " + model.output, "is made by no node");
  }
  std::vector<bool> needed(order.size());
  needed[output->second] = true;
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    if (!needed[*at]) continue;
    for (const std::size_t made : reads[*at]) needed[made] = true;
  }
  std::vector<OnnxNode> nodes;
  for (const std::size_t at : order) {
    if (needed[at]) nodes.push_back(std::move(model.nodes[at]));
  }
  model.nodes = std::move(nodes);
}

}  // namespace tilewave::models::onnx_reader
