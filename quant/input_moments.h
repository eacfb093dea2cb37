#pragma once

#include <cstdint>
#include <vector>

namespace tilewave::quant {

/// What a Conv or Dense multiplies its weights by, over all output pixels of the calibration
/// images: moments of the k values of a window (padded places are 0), for each group.
struct InputMoments {
  std::int64_t groups = 1;
  std::int64_t k = 0;
  std::vector<double> mean;    ///< [groups][k]; empty unless the scheme needs it
  std::vector<double> square;  ///< [groups][k][k], the mean of x x^T; empty unless it needs that
};

}  // namespace tilewave::quant
