#pragma once

#include <vector>

#include "sim/chip/chip.h"
#include "sim/isa/decoder.h"

namespace tilewave::sim {

/// By instruction of a decoded launch: whether some input could make an addition of the multiply
/// leave the accumulators' width. Where it says no, wrapping and saturating accumulators give the
/// exact sums, whatever the order. False for all that are not multiplies.
std::vector<char> may_overflow(const Chip& chip, const Program& program,
                               const std::vector<Operation>& launch);

}  // namespace tilewave::sim
