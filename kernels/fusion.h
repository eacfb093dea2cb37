#pragma once

#include <limits>
#include <vector>

#include "models/graph.h"

namespace tilewave::kernels {

/// What is done to a Conv's, Dense's or Add's values before they are stored.
struct FusedClamp {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  bool operator==(const FusedClamp&) const = default;
};

/// Relu and Clip that alone read a Conv, Dense or Add are done with it.
struct Fusion {
  std::vector<FusedClamp> clamp;     ///< [nodes]
  std::vector<char> into_its_input;  ///< [nodes]: nothing is left to be done for it
};
Fusion fuse_activations(const models::Graph& graph);

}  // namespace tilewave::kernels
