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
  double seconds_per_measurement = 0.5;  ///< how long each CPU path is repeated, about
  Progress progress = {};                ///< may be empty
};

/// The network in fp32 and int8 on this CPU and on the simulated chip, for each batch size.
/// Throws as `run` does.
sim::Comparison compare(const Workload& workload, const sim::Chip& chip,
                        const CompareOptions& options);

/// The smallest of the values that at least `share` (0 to 1) of them do not exceed: the nearest
/// rank. `values` are not empty.
double quantile(std::vector<double> values, double share);

}  // namespace tilewave::flow
