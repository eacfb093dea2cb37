#pragma once

#include <memory>
#include <vector>

#include "models/graph.h"
#include "quant/observer.h"
#include "quant/scheme.h"

namespace tilewave::quant {

/// What calibration images say about a network. Immutable once made (kernels/calibrate.h does);
/// any number of schemes with the same calibration_part can be quantized from it.
struct Calibration {
  std::shared_ptr<const models::Graph> graph;
  Scheme scheme;                                           ///< a calibration_part
  std::vector<std::shared_ptr<const Observer>> observers;  ///< one per node of the graph
};

}  // namespace tilewave::quant
