#pragma once

#include "quant/calibration.h"
#include "quant/quantized_graph.h"

namespace tilewave::quant {

/// Post-training quantization, with ranges as observed in fp32. Pools, Flatten and stand-alone Relu
/// and Clip take over their input's quantization, Sigmoid's is that of [0, 1] and Tanh's that of
/// [-1, 1]; a tensor whose only reader is a fused Relu or Clip takes the range after it. Nodes that
/// the output does not depend on are left out; a fused node keeps the name of its Conv, Dense or
/// Add.
///
/// Weights are quantized to weight / scale, rounded half to even; a channel's scale is that of its
/// largest magnitude, but never so small that its bias / (scale_x * scale_w) would pass 2^30, and
/// that of the whole tensor if the channel is all zero. Bias is rounded half to even.
/// Throws InputError naming the node if a multiplier leaves the range of fp32, or if the scheme has
/// keys for a layer that does not exist or cannot have them. `calibration` must be one for
/// calibration_part(scheme).
QuantizedGraph quantize_graph(const Calibration& calibration, const Scheme& scheme);

}  // namespace tilewave::quant
