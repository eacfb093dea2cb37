#pragma once

#include <cstdint>

#include "models/graph.h"

namespace tilewave::flow {

/// The size of a network, for lists.
struct ModelFacts {
  std::int64_t layers = 0;  ///< nodes with weights
  std::int64_t macs = 0;    ///< per image
  std::int64_t parameters = 0;
};
ModelFacts model_facts(const models::Graph& graph);

}  // namespace tilewave::flow
