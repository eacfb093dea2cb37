#pragma once

#include <cstdint>

#include "quant/scheme.h"
#include "sim/chip/chip.h"

namespace tilewave::test {

/// A small chip of any shape, with the scheme's precisions: arrays 1 x 1 to 33 x 17, FIFOs of 1 to
/// 8 tiles, with and without double buffering, unlimited and tight bandwidths, few accumulators,
/// bounded and unbounded queues. The same seed gives the same chip.
sim::Chip random_chip(std::uint64_t seed, const quant::Scheme& scheme,
                      sim::Dataflow dataflow = sim::Dataflow::weight_stationary);

}  // namespace tilewave::test
