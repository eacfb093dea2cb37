#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/reference.h"
#include "sim/engine.h"
#include "sim/report/comparison.h"

namespace tilewave::flow {

/// The smallest of the values that at least `share` (0 to 1) of them do not exceed: the nearest
/// rank. `values` are not empty.
double quantile(std::vector<double> values, double share);

/// Runs the path on one batch again and again, for about so many seconds after a warm-up, and fills
/// in latency, compute, repeats and images_per_second.
void measure(kernels::Reference& reference, std::span<const std::uint8_t> batch, double seconds,
             sim::PathFigures& figures);

/// Cycles of a traced run's first launch without its transfers from and to the host: from the
/// arrival of what came in before there was work until the last result is in the unified buffer.
Cycles compute_cycles(const sim::RunResult& result);

}  // namespace tilewave::flow
