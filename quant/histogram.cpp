#include "quant/histogram.h"

#include <algorithm>

namespace tilewave::quant {

double Histogram::edge_of(std::int64_t rank) const {
  std::size_t bin = 0;
  for (std::int64_t seen = counts_[0]; seen < rank; seen += counts_[bin]) ++bin;
  return std::ldexp(static_cast<double>(bin + 1), exponent_ - kLogBins);
}

void Histogram::grow(double magnitude) {
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  const int shift = std::min(exponent - exponent_, kLogBins);
  for (std::size_t bin = 1; bin < kBins; ++bin) {
    const std::int64_t count = counts_[bin];
    counts_[bin] = 0;
    counts_[bin >> shift] += count;
  }
  exponent_ = exponent;
  bins_per_unit_ = std::ldexp(1.0, kLogBins - exponent);
}

Bins joined(const Histogram& negative, const Histogram& positive) {
  const double width = std::max(negative.bin_width(), positive.bin_width());
  const auto merged = [&](const Histogram& side) {
    std::vector<double> counts(Histogram::kBins);
    const double ratio = side.bin_width() / width;  // a power of two, at most 1
    for (std::size_t bin = 0; bin < Histogram::kBins; ++bin) {
      counts[static_cast<std::size_t>(static_cast<double>(bin) * ratio)] +=
          static_cast<double>(side.counts()[bin]);
    }
    return counts;
  };
  Bins bins;
  const auto add = [&](double value, double count) {
    if (count == 0) return;
    bins.value.push_back(value);
    bins.count.push_back(count);
  };
  const std::vector<double> below = merged(negative);
  const std::vector<double> above = merged(positive);
  for (std::size_t bin = Histogram::kBins; bin-- > 0;) {
    add(-(static_cast<double>(bin) + 0.5) * width, below[bin]);
  }
  add(0, above[0]);
  for (std::size_t bin = 1; bin < Histogram::kBins; ++bin) {
    add((static_cast<double>(bin) + 0.5) * width, above[bin]);
  }
  return bins;
}

}  // namespace tilewave::quant
