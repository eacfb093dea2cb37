#include "quant/adaptive_rounding.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace tilewave::quant {
namespace {

using Matrix = Eigen::MatrixXd;

/// More passes bring next to nothing.
constexpr int kMaxPasses = 50;

/// One output channel; `error` is e in units of the scale.
void descend(const Matrix& a, const Format& format, std::span<std::int16_t> q,
             const Eigen::VectorXd& error) {
  Eigen::VectorXd gradient = a * error;
  bool changed = true;
  for (int pass = 0; changed && pass < kMaxPasses; ++pass) {
    changed = false;
    for (Eigen::Index i = 0; i < error.size(); ++i) {
      const double curvature = a(i, i);
      if (!(curvature > 0)) continue;
      auto& value = q[static_cast<std::size_t>(i)];
      // The parabola's minimum, and the integer next to it.
      const double best = std::clamp<double>(std::nearbyint(value - gradient[i] / curvature),
                                             format.qmin(), format.qmax());
      const double step = best - value;
      if (!(step * (2 * gradient[i] + step * curvature) < 0)) continue;
      value = static_cast<std::int16_t>(best);
      gradient += step * a.col(i);
      changed = true;
    }
  }
}

}  // namespace

void round_adaptively(std::span<const float> weight, std::span<const float> scale,
                      const Format& format, const InputMoments& moments, bool about_mean,
                      std::span<std::int16_t> q) {
  const auto k = static_cast<std::size_t>(moments.k);
  const std::size_t of_group = scale.size() / static_cast<std::size_t>(moments.groups);
  const auto size = static_cast<Eigen::Index>(k);
  Matrix a;
  for (std::size_t n = 0; n < scale.size(); ++n) {
    const std::size_t group = n / of_group;
    if (n % of_group == 0) {
      a = Eigen::Map<const Matrix>(moments.square.data() + group * k * k, size, size);
      const Eigen::Map<const Eigen::VectorXd> mean(moments.mean.data() + group * k, size);
      if (about_mean) a -= mean * mean.transpose();
    }
    Eigen::VectorXd error(size);
    for (std::size_t i = 0; i < k; ++i) {
      error[static_cast<Eigen::Index>(i)] =
          q[n * k + i] - static_cast<double>(weight[n * k + i]) / static_cast<double>(scale[n]);
    }
    descend(a, format, q.subspan(n * k, k), error);
  }
}

}  // namespace tilewave::quant
