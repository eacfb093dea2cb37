#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/graph.h"

namespace tilewave::flow {

/// The size of a layer with weights. inputs, outputs: values per image.
struct LayerFacts {
  std::string name;
  std::int64_t macs = 0;  ///< per image
  std::int64_t weights = 0;
  std::int64_t biases = 0;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
};
std::vector<LayerFacts> layer_facts(const models::Graph& graph);

/// The size of a network, for lists.
struct ModelFacts {
  std::int64_t layers = 0;  ///< nodes with weights
  std::int64_t macs = 0;    ///< per image
  std::int64_t parameters = 0;
};
ModelFacts model_facts(const models::Graph& graph);

}  // namespace tilewave::flow
