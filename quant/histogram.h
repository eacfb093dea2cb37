#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewave::quant {

/// Counts of magnitudes below 2^exponent in bins of equal width. Outgrown, the bins are merged in
/// pairs, so that the counts depend on the values only and not on their order.
class Histogram {
 public:
  static constexpr int kLogBins = 13;
  static constexpr std::size_t kBins = std::size_t{1} << kLogBins;

  void add(double magnitude) {
    if (magnitude * bins_per_unit_ >= static_cast<double>(kBins)) grow(magnitude);
    ++counts_[static_cast<std::size_t>(magnitude * bins_per_unit_)];
    ++total_;
  }

  std::int64_t total() const { return total_; }
  const std::vector<std::int64_t>& counts() const { return counts_; }
  double bin_width() const { return std::ldexp(1.0, exponent_ - kLogBins); }

  /// The upper edge of the bin with the `rank`-th smallest magnitude, 1 <= rank <= total().
  double edge_of(std::int64_t rank) const;

 private:
  void grow(double magnitude);

  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(kBins);
  std::int64_t total_ = 0;
  int exponent_ = -149;  // the smallest fp32 magnitude is 2^-149
  double bins_per_unit_ = std::ldexp(1.0, kLogBins - exponent_);
};

/// The bins of negative and positive values that are not empty, in increasing order, as wide as the
/// wider side's.
struct Bins {
  /// The middle of the bin; 0 for the one that holds 0.
  std::vector<double> value;
  std::vector<double> count;
};
Bins joined(const Histogram& negative, const Histogram& positive);

}  // namespace tilewave::quant
