#pragma once

#include "sim/compiler/buffer_plan.h"

namespace tilewave::sim {

/// For a network of which one image does not fit the unified buffer: which tensors stay on the
/// host, and the bands of rows in which the steps work on them. Throws InputError naming the layer
/// where even the smallest band does not fit.
BufferPlan plan_spills(const LoweredNetwork& network, const Chip& chip);

}  // namespace tilewave::sim
