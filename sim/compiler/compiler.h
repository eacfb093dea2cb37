#pragma once

#include <stop_token>

#include "quant/quantized_graph.h"
#include "sim/chip/chip.h"
#include "sim/isa/program.h"

namespace tilewave::sim {

/// Translates a network for a chip: tiles the weights, lays out the unified buffer, and orders the
/// instructions of one launch of `batch` images. Deterministic. Throws InputError where the chip
/// cannot hold what one image needs (naming the layer, the need and the capacity) or has other
/// precisions than the network, and Stopped when `stop` says so.
Program compile(const quant::QuantizedGraph& graph, const Chip& chip, std::int64_t batch,
                const std::stop_token& stop = {});

}  // namespace tilewave::sim
