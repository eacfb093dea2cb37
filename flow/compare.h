#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "flow/run.h"
#include "sim/report/comparison.h"

namespace tilewave::flow {

struct CompareOptions {
  std::vector<std::int64_t> batches = {1, 256, 512, 1024};  ///< at most as many as images are used
  std::optional<std::int64_t> images = {};                  ///< the first so many; nothing: all
  int threads = 1;
  double seconds_per_measurement = 0.5;  ///< how long each path of this machine is repeated, about
  bool roofline = false;
  Progress progress = {};  ///< may be empty
};

/// The network on this CPU (fp32 and int8), on a GPU (fp32, TF32, fp16, int8) and on the simulated
/// chip, for each batch size. What cannot run here is in `missing`. Throws as `run` does.
sim::Comparison compare(const Workload& workload, const sim::Chip& chip,
                        const CompareOptions& options);

}  // namespace tilewave::flow
