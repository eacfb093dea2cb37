#pragma once

#include "sim/report/report.h"

namespace tilewave::sim::sample {

/// A run made by hand: two layers (3 x 5 x 4 and 1 x 2 x 15 per image) on an array of 4 x 5, two
/// launches of 2 images, of which 3 images were asked for.
Chip chip();
Program program();
RunResult result();
inline constexpr std::int64_t kLaunches = 2;
Report report();

}  // namespace tilewave::sim::sample
