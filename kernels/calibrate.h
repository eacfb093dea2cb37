#pragma once

#include "models/dataset.h"
#include "models/graph.h"
#include "quant/quantized_graph.h"
#include "quant/scheme.h"

namespace tilewave::kernels {

/// Runs the fp32 network on the first scheme.calibration_images of `calibration` (InputError if
/// there are fewer), observes every tensor, and quantizes the network. The result does not depend
/// on `threads`.
quant::QuantizedGraph quantize(const models::Graph& graph, const models::Images& calibration,
                               const quant::Scheme& scheme, int threads = 1);

}  // namespace tilewave::kernels
