#pragma once

#include <memory>
#include <vector>

#include "models/graph.h"
#include "quant/input_moments.h"
#include "quant/observer.h"
#include "quant/scheme.h"

namespace tilewave::quant {

/// What calibration images say about a network. Immutable once made (kernels/calibrate.h does);
/// any number of schemes with the same calibration_part can be quantized from it.
struct Calibration {
  std::shared_ptr<const models::Graph> graph;              ///< equalized if the scheme says so
  Scheme scheme;                                           ///< a calibration_part
  std::vector<std::shared_ptr<const Observer>> observers;  ///< one per node of the graph
  /// One per node, for a Conv and a Dense not empty; none at all if the scheme needs none.
  std::vector<InputMoments> moments = {};
};

}  // namespace tilewave::quant
