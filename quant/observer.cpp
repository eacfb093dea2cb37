#include "quant/observer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "quant/histogram.h"
#include "quant/range_search.h"

namespace tilewave::quant {
namespace {

/// Every exponent bit of a float is set in infinities and NaN, and in nothing else.
bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  bool finite = true;
  for (const float value : values) {
    finite &= (std::bit_cast<std::uint32_t>(value) & kExponent) != kExponent;
  }
  return finite;
}

void check_finite(std::span<const float> values, const std::string& name) {
  if (all_finite(values)) return;
  const bool has_nan = std::any_of(values.begin(), values.end(), [](float v) { return v != v; });
  throw InputError(name, has_nan ? "has NaN among its values" : "has an infinity among its values",
                   "finite values only");
}

/// Widens the range to the values, in lanes that the compiler can keep in one register.
void widen(std::span<const float> values, Observer::Range& range) {
  constexpr std::size_t kLanes = 8;
  std::array<float, kLanes> low;
  std::array<float, kLanes> high;
  low.fill(range.low);
  high.fill(range.high);
  std::size_t at = 0;
  for (; at + kLanes <= values.size(); at += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float value = values[at + lane];
      low[lane] = value < low[lane] ? value : low[lane];
      high[lane] = value > high[lane] ? value : high[lane];
    }
  }
  for (; at < values.size(); ++at) {
    low[0] = std::min(low[0], values[at]);
    high[0] = std::max(high[0], values[at]);
  }
  range.low = *std::min_element(low.begin(), low.end());
  range.high = *std::max_element(high.begin(), high.end());
}

class MinMaxObserver : public Observer {
 public:
  explicit MinMaxObserver(std::string name) : name_(std::move(name)) {}

  void observe(std::span<const float> values) override {
    check_finite(values, name_);
    widen(values, range_);
  }

  Range range(const Format& /*format*/) const override { return range_; }

 private:
  std::string name_;
  Range range_;
};

class MovingAverageObserver : public Observer {
 public:
  MovingAverageObserver(double momentum, std::string name)
      : name_(std::move(name)), momentum_(momentum) {}

  void observe(std::span<const float> values) override {
    check_finite(values, name_);
    Range image;
    widen(values, image);
    const double kept = first_ ? 0 : momentum_;
    low_ = kept * low_ + (1 - kept) * static_cast<double>(image.low);
    high_ = kept * high_ + (1 - kept) * static_cast<double>(image.high);
    first_ = false;
  }

  Range range(const Format& /*format*/) const override {
    return {static_cast<float>(low_), static_cast<float>(high_)};
  }

 private:
  std::string name_;
  double momentum_;
  bool first_ = true;
  double low_ = 0;
  double high_ = 0;
};

/// Counts the values by their magnitude, each sign for itself.
class HistogramObserver : public Observer {
 public:
  explicit HistogramObserver(std::string name) : name_(std::move(name)) {}

  void observe(std::span<const float> values) override {
    check_finite(values, name_);
    for (const float value : values) {
      (value < 0 ? negative_ : positive_).add(std::abs(static_cast<double>(value)));
    }
    widen(values, seen_);
  }

 protected:
  Histogram negative_, positive_;  // of magnitudes
  Range seen_;

 private:
  std::string name_;
};

/// Leaves out the same share of values at both ends. An end is the outer edge of the bin that
/// holds the percentile (the smallest value with at least that share at or below it), so it is
/// never inside of the exact percentile and less than one bin width outside; nor is it outside of
/// the values seen. A bin is 2^-12 of the largest magnitude seen at the widest.
class PercentileObserver : public HistogramObserver {
 public:
  PercentileObserver(double percentile, std::string name)
      : HistogramObserver(std::move(name)), percentile_(percentile) {}

  Range range(const Format& /*format*/) const override {
    const std::int64_t count = negative_.total() + positive_.total();
    const auto rank =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(count) * (percentile_ / 100)));
    return {-end(negative_, positive_.total(), rank, -seen_.low),
            end(positive_, negative_.total(), rank, seen_.high)};
  }

 private:
  /// The `rank`-th value when all of the other side's come first.
  static float end(const Histogram& side, std::int64_t before, std::int64_t rank, float seen) {
    const std::int64_t rest = std::min(rank - before, side.total());
    if (rest <= 0) return 0;
    return static_cast<float>(std::min(side.edge_of(rest), static_cast<double>(seen)));
  }

  double percentile_;
};

class MseObserver : public HistogramObserver {
 public:
  using HistogramObserver::HistogramObserver;
  Range range(const Format& format) const override {
    return least_squares_range(joined(negative_, positive_), seen_, format);
  }
};

class EntropyObserver : public HistogramObserver {
 public:
  using HistogramObserver::HistogramObserver;
  Range range(const Format& format) const override {
    return least_divergence_range(joined(negative_, positive_), seen_, format);
  }
};

}  // namespace

std::unique_ptr<Observer> make_observer(const Scheme& scheme, const std::string& name) {
  switch (scheme.observer) {
    case ObserverKind::min_max:
      return std::make_unique<MinMaxObserver>(name);
    case ObserverKind::moving_average:
      return std::make_unique<MovingAverageObserver>(scheme.momentum, name);
    case ObserverKind::percentile:
      return std::make_unique<PercentileObserver>(scheme.percentile, name);
    case ObserverKind::mse:
      return std::make_unique<MseObserver>(name);
    case ObserverKind::entropy:
      return std::make_unique<EntropyObserver>(name);
  }
  throw InternalError("an observer that does not exist");
}

Quantization choose_quantization(Observer::Range range, Format format) {
  const double low = std::min(range.low, 0.0F);
  const double high = std::max(range.high, 0.0F);
  TILEWAVE_CHECK(high - low, <=, 2.0 * std::numeric_limits<float>::max(), "a finite range");
  Quantization q{format, 1.0F, 0};
  const bool centred = format.symmetric && format.is_signed;
  const double width = centred ? 2 * std::max(-low, high) : high - low;
  if (width > 0) {
    const double real = width / (format.qmax() - format.qmin());
    q.scale = std::max(static_cast<float>(real), std::numeric_limits<float>::min());
  }
  if (!centred) {
    const double zero = std::nearbyint(format.qmin() - low / static_cast<double>(q.scale));
    q.zero_point =
        static_cast<std::int32_t>(std::clamp<double>(zero, format.qmin(), format.qmax()));
  }
  return q;
}

}  // namespace tilewave::quant
