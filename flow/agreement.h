#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flow/run.h"
#include "flow/workload.h"
#include "sim/chip/chip.h"

namespace tilewave::flow {

/// What every engine gave, alike.
struct Agreement {
  std::vector<std::string> engines;
  std::int64_t images = 0;
  Cycles cycles = 0;
};

/// Runs one program on every engine and compares all outputs, the cycles, and each counter of each
/// layer. Throws InternalError naming the first difference; InputError as `run` does, and where
/// this build has no SystemC.
Agreement check_agreement(const Workload& workload, const sim::Chip& chip, std::int64_t images,
                          std::int64_t batch, const Progress& progress);

}  // namespace tilewave::flow
