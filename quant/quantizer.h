#pragma once

#include <vector>

#include "models/graph.h"
#include "quant/observer.h"
#include "quant/quantized_graph.h"

namespace tilewave::quant {

/// Post-training quantization. `ranges` holds one range per node of `graph` (as observed in fp32;
/// kernels/calibrate.h makes them). Pools, Flatten and stand-alone Relu and Clip take over their
/// input's quantization, Sigmoid's is that of [0, 1] and Tanh's that of [-1, 1]; a tensor whose
/// only reader is a fused Relu or Clip takes the range after it. Nodes that the output does not
/// depend on are left out; a fused node keeps the name of its Conv, Dense or Add.
///
/// Weights are quantized to weight / scale, rounded half to even; a channel's scale is that of its
/// largest magnitude, but never so small that its bias / (scale_x * scale_w) would pass 2^30, and
/// that of the whole tensor if the channel is all zero. Bias is rounded half to even.
/// Throws InputError naming the node if a multiplier leaves the range of fp32.
QuantizedGraph quantize_graph(const models::Graph& graph,
                              const std::vector<Observer::Range>& ranges, const Scheme& scheme);

}  // namespace tilewave::quant
