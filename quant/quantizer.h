#pragma once

#include <vector>

#include "models/graph.h"
#include "quant/observer.h"
#include "quant/quantized_graph.h"

namespace tilewave::quant {

/// Post-training quantization. `ranges` holds one range per node of `graph` (as observed in fp32;
/// kernels/calibrate.h makes them). Pools and Flatten take over their input's quantization; a
/// tensor whose only reader is a fused Relu or Clip takes the range after it.
/// Throws InputError where the graph has an operation that cannot be quantized.
QuantizedGraph quantize_graph(const models::Graph& graph,
                              const std::vector<Observer::Range>& ranges, const Scheme& scheme);

}  // namespace tilewave::quant
