#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/graph.h"

namespace tilewave::kernels {

/// What a node asks for when its network is run node by node.
struct TensorUse {
  std::vector<models::NodeId> inputs;
  std::int64_t elements = 0;  ///< of its tensor, for one image
  bool in_place = false;      ///< its tensor is its first input's, unchanged
};

/// Which buffer each node's tensor lives in. A buffer is used again once its tensor's last reader
/// has run.
struct TensorPlan {
  std::vector<std::size_t> slot;            ///< [nodes]
  std::vector<std::int64_t> slot_elements;  ///< [slots], for one image
};
TensorPlan plan_tensors(const std::vector<TensorUse>& uses);

}  // namespace tilewave::kernels
