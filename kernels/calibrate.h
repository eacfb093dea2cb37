#pragma once

#include <stop_token>

#include "models/dataset.h"
#include "models/graph.h"
#include "quant/quantized_graph.h"
#include "quant/scheme.h"

namespace tilewave::kernels {

/// Runs the fp32 network on the first scheme.calibration_images of `calibration` (InputError if
/// there are fewer), observes every tensor, and quantizes the network. The result does not depend
/// on `threads`. Throws Stopped if that is asked for.
quant::QuantizedGraph quantize(const models::Graph& graph, const models::ImagesView& calibration,
                               const quant::Scheme& scheme, int threads = 1,
                               const std::stop_token& stop = {});

}  // namespace tilewave::kernels
