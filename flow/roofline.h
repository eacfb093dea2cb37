#pragma once

#include <cstdint>
#include <vector>

#include "flow/workload.h"
#include "sim/chip/chip.h"
#include "sim/report/roofline.h"

namespace tilewave::flow {

/// The roofs of the CPU (measured, each figure for about so many seconds), the GPU if there is
/// one, and the chip, with the network's layers under them for each batch.
std::vector<sim::Roof> roofline(const Workload& workload, const sim::Chip& chip,
                                const std::vector<std::int64_t>& batches, int threads,
                                double seconds);

}  // namespace tilewave::flow
