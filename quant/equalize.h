#pragma once

#include "models/graph.h"

namespace tilewave::quant {

/// Cross-layer equalization (Nagel et al. 2019, arXiv 1906.04721): the same function with weights
/// that are easier to quantize. Where a Conv or Dense is read by another alone, with nothing but
/// Relu, pools and Flatten between, each channel of the first is divided by a factor and the
/// weights that read it multiplied by it, so that the largest weights of both are equal. Chains of
/// layers are gone through until the factors are next to 1. Channels without weights on one side
/// stay.
models::Graph equalized(const models::Graph& graph);

}  // namespace tilewave::quant
