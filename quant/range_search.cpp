#include "quant/range_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tilewave::quant {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double quantized(double value, const Quantization& q) {
  const double rounded = std::nearbyint(value / static_cast<double>(q.scale)) + q.zero_point;
  return std::clamp<double>(rounded, q.format.qmin(), q.format.qmax());
}

double squared_error(const Bins& bins, const Quantization& q) {
  double sum = 0;
  for (std::size_t i = 0; i < bins.value.size(); ++i) {
    const double held = static_cast<double>(q.scale) * (quantized(bins.value[i], q) - q.zero_point);
    const double error = bins.value[i] - held;
    sum += bins.count[i] * error * error;
  }
  return sum;
}

/// Without the bin that holds 0.
Bins without_zero(const Bins& bins) {
  Bins rest;
  for (std::size_t i = 0; i < bins.value.size(); ++i) {
    if (bins.value[i] == 0) continue;
    rest.value.push_back(bins.value[i]);
    rest.count.push_back(bins.count[i]);
  }
  return rest;
}

/// The sum of p ln(p / q) over the bins of each quantized value; infinite for fewer than `least`
/// bins.
double divergence(const Bins& bins, Observer::Range range, const Quantization& quantization,
                  std::ptrdiff_t least) {
  const auto begin = bins.value.begin();
  const auto first = std::lower_bound(begin, bins.value.end(), double{range.low}) - begin;
  const auto last = std::upper_bound(begin, bins.value.end(), double{range.high}) - begin;
  if (last - first < least) return kInfinity;
  std::vector<double> counts(bins.count.begin() + first, bins.count.begin() + last);
  const double inside = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double total = std::accumulate(bins.count.begin(), bins.count.end(), 0.0);
  std::vector<double> p = counts;
  p.front() += std::accumulate(bins.count.begin(), bins.count.begin() + first, 0.0);
  p.back() += std::accumulate(bins.count.begin() + last, bins.count.end(), 0.0);

  double sum = 0;
  const auto level = [&](std::size_t i) {
    return quantized(bins.value[static_cast<std::size_t>(first) + i], quantization);
  };
  for (std::size_t from = 0, to = 0; from < p.size(); from = to) {
    double count = 0;
    for (to = from; to < p.size() && level(to) == level(from); ++to) count += counts[to];
    const double q = count / static_cast<double>(to - from) / inside;
    for (std::size_t i = from; i < to; ++i) sum += p[i] / total * std::log(p[i] / total / q);
  }
  return sum;
}

/// The first of the candidates with the least cost(candidate, its quantization).
template <typename Cost>
Observer::Range search(Observer::Range seen, const Format& format, const Cost& cost) {
  Observer::Range best = seen;
  double least = kInfinity;
  for (int i = kRangeCandidates; i > 0; --i) {
    const float share = static_cast<float>(i) / kRangeCandidates;
    const Observer::Range range{seen.low * share, seen.high * share};
    const double found = cost(range, choose_quantization(range, format));
    if (found >= least) continue;
    least = found;
    best = range;
  }
  return best;
}

}  // namespace

Observer::Range least_squares_range(const Bins& bins, Observer::Range seen, const Format& format) {
  return search(seen, format,
                [&](Observer::Range, const Quantization& q) { return squared_error(bins, q); });
}

Observer::Range least_divergence_range(const Bins& bins, Observer::Range seen,
                                       const Format& format) {
  const Bins counted = without_zero(bins);
  return search(seen, format, [&](Observer::Range range, const Quantization& q) {
    const bool is_seen = range.low == seen.low && range.high == seen.high;
    return divergence(counted, range, q, is_seen ? 1 : format.qmax() - format.qmin() + 1);
  });
}

}  // namespace tilewave::quant
