#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "flow/run.h"
#include "flow/workload.h"
#include "sim/chip/chip.h"
#include "sim/report/diagnosis.h"

namespace tilewave::flow {

struct DiagnoseOptions {
  std::optional<std::int64_t> images = {};  ///< the first so many test images; nothing: all
  std::int64_t batch = 256;                 ///< of the chip; no figure but overflows depends on it
  int threads = 1;                          ///< no result depends on it
  Progress progress = {};                   ///< may be empty
  std::stop_token stop = {};
};

/// Which layer of the quantized network costs how much, and why: runs it on the chip, for its
/// accuracy and the overflows, and layer by layer natively, beside fp32. The layers' errors are
/// those of 32-bit accumulators, whatever the chip's. Throws as run does.
sim::Diagnosis diagnose(const Workload& workload, const sim::Chip& chip,
                        const DiagnoseOptions& options);

}  // namespace tilewave::flow
