#include "quant/requantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace tilewave::quant {
namespace {

constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();

std::int32_t saturate(std::int64_t x) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(x, kMin, kMax));
}

std::int32_t clamp_sum(std::int32_t x, std::int32_t zero_point, std::int32_t low,
                       std::int32_t high) {
  const std::int64_t sum = std::int64_t{x} + zero_point;
  return static_cast<std::int32_t>(sum > low ? std::min<std::int64_t>(sum, high) : low);
}

/// clamp(round_half_even(x) + zero_point, low, high); NaN gives `low`. The sum is taken in double,
/// which is exact wherever the clamp does not decide.
std::int32_t round_and_clamp(float x, std::int32_t zero_point, std::int32_t low,
                             std::int32_t high) {
  const double sum = static_cast<double>(std::nearbyint(x)) + zero_point;
  if (!(sum > low)) return low;
  return sum < high ? static_cast<std::int32_t>(sum) : high;
}

/// A multiply followed by a shift left saturates before it multiplies.
std::int32_t saturating_shift_left(std::int32_t x, int shift) {
  return saturate(std::int64_t{x} * (std::int64_t{1} << std::min(shift, 32)));
}

}  // namespace

std::int32_t quantize(float x, const Quantization& q) {
  return round_and_clamp(x / q.scale, q.zero_point, q.format.qmin(), q.format.qmax());
}

float dequantize(std::int32_t value, const Quantization& q) {
  return q.scale * static_cast<float>(std::int64_t{value} - q.zero_point);
}

FixedPointMultiplier to_fixed_point(double multiplier) {
  if (!(multiplier > 0)) return {0, 0};
  if (!std::isfinite(multiplier)) return {kMax, kMaxExponent};
  int exponent = 0;
  const double fraction = std::frexp(multiplier, &exponent);  // in [1/2, 1)
  auto q31 = static_cast<std::int64_t>(std::round(std::ldexp(fraction, 31)));
  if (q31 == std::int64_t{1} << 31) {  // rounded up to the next power of two
    q31 /= 2;
    ++exponent;
  }
  if (exponent < -31) return {0, 0};
  if (exponent > kMaxExponent) return {kMax, kMaxExponent};
  return {static_cast<std::int32_t>(q31), exponent};
}

std::int32_t saturating_rounding_doubling_high_multiply(std::int32_t a, std::int32_t b) {
  if (a == kMin && b == kMin) return kMax;
  // 2ab / 2^32 = ab / 2^31. An arithmetic shift rounds down, so half a unit more rounds ties up.
  const std::int64_t half = std::int64_t{1} << 30;
  return static_cast<std::int32_t>((std::int64_t{a} * b + half) >> 31);
}

std::int32_t rounding_shift_right(std::int32_t x, int exponent) {
  TILEWAVE_CHECK(exponent, >=, 0, "shift");
  TILEWAVE_CHECK(exponent, <=, 31, "shift");
  const std::int64_t divisor = std::int64_t{1} << exponent;
  const std::int64_t half = divisor / 2;
  return static_cast<std::int32_t>((x >= 0 ? x + half : x - half) / divisor);
}

std::int32_t multiply_by_fixed_point(std::int32_t acc, FixedPointMultiplier multiplier) {
  const int exponent = multiplier.exponent;
  const std::int32_t shifted = exponent > 0 ? saturating_shift_left(acc, exponent) : acc;
  const std::int32_t high = saturating_rounding_doubling_high_multiply(shifted, multiplier.q31);
  return rounding_shift_right(high, exponent < 0 ? std::min(-exponent, 31) : 0);
}

std::int32_t requantize_float(std::int32_t acc, float multiplier, std::int32_t zero_point,
                              std::int32_t low, std::int32_t high) {
  return round_and_clamp(static_cast<float>(acc) * multiplier, zero_point, low, high);
}

std::int32_t requantize_fixed_point(std::int32_t acc, FixedPointMultiplier multiplier,
                                    std::int32_t zero_point, std::int32_t low, std::int32_t high) {
  return clamp_sum(multiply_by_fixed_point(acc, multiplier), zero_point, low, high);
}

std::int32_t Requantizer::apply(std::int32_t acc, std::size_t channel) const {
  if (mode == RequantizeMode::float_multiplier) {
    return requantize_float(acc, multiplier[channel], zero_point, low, high);
  }
  return requantize_fixed_point(acc, fixed_point[channel], zero_point, low, high);
}

void requantize_row(const std::int32_t* acc, std::int64_t channels, const Requantizer& requantizer,
                    std::int16_t* out) {
  constexpr std::int64_t kExact = 1 << 22;  // below it, adding kShifter leaves a rounded integer
  constexpr float kShifter = 12582912.0F;   // 1.5 * 2^23: one unit in the last place is 1
  const std::int64_t below = std::int64_t{requantizer.low} - requantizer.zero_point;
  const std::int64_t above = std::int64_t{requantizer.high} - requantizer.zero_point;
  if (requantizer.mode != RequantizeMode::float_multiplier || below > above || below < -kExact ||
      above > kExact) {
    for (std::int64_t n = 0; n < channels; ++n) {
      out[n] = static_cast<std::int16_t>(requantizer.apply(acc[n], static_cast<std::size_t>(n)));
    }
    return;
  }
  // Clamping to whole bounds before rounding gives what clamping after it gives.
  const auto least = static_cast<float>(below);
  const auto most = static_cast<float>(above);
  const std::int32_t offset = requantizer.zero_point - std::bit_cast<std::int32_t>(kShifter);
  const float* multiplier = requantizer.multiplier.data();
  for (std::int64_t n = 0; n < channels; ++n) {
    float x = static_cast<float>(acc[n]) * multiplier[n];
    x = x > least ? x : least;
    x = x < most ? x : most;
    out[n] = static_cast<std::int16_t>(std::bit_cast<std::int32_t>(x + kShifter) + offset);
  }
}

std::int32_t Adder::apply(std::int32_t a, std::int32_t b) const {
  const std::int32_t x = saturate(std::int64_t{a} - a_zero_point);
  const std::int32_t y = saturate(std::int64_t{b} - b_zero_point);
  if (mode == RequantizeMode::float_multiplier) {
    return round_and_clamp(
        static_cast<float>(x) * a_multiplier + static_cast<float>(y) * b_multiplier, zero_point,
        low, high);
  }
  const std::int64_t sum =
      std::int64_t{multiply_by_fixed_point(saturating_shift_left(x, left_shift), a_fixed)} +
      multiply_by_fixed_point(saturating_shift_left(y, left_shift), b_fixed);
  return requantize_fixed_point(saturate(sum), y_fixed, zero_point, low, high);
}

Adder make_adder(const Quantization& a, const Quantization& b, const Quantization& y,
                 RequantizeMode mode, std::int32_t low, std::int32_t high) {
  Adder adder;
  adder.mode = mode;
  adder.a_zero_point = a.zero_point;
  adder.b_zero_point = b.zero_point;
  adder.a_multiplier = a.scale / y.scale;
  adder.b_multiplier = b.scale / y.scale;
  // As TFLite: both inputs at twice the larger input scale, so that their sum cannot overflow.
  adder.left_shift = std::max({a.format.bits, b.format.bits, y.format.bits}) > 8 ? 15 : 20;
  const double common = 2.0 * std::max(a.scale, b.scale);
  adder.a_fixed = to_fixed_point(a.scale / common);
  adder.b_fixed = to_fixed_point(b.scale / common);
  adder.y_fixed = to_fixed_point(common / (std::ldexp(1.0, adder.left_shift) * y.scale));
  adder.zero_point = y.zero_point;
  adder.low = low;
  adder.high = high;
  return adder;
}

std::int64_t most_averaged_places(const Format& format) {
  return kMax / std::max(-format.qmin(), format.qmax());
}

std::int32_t rounded_average(std::int32_t sum, std::int32_t count, RequantizeMode mode) {
  TILEWAVE_CHECK(count, >, 0, "places in an average");
  const std::int64_t quotient = std::int64_t{sum} / count;  // towards zero
  const std::int64_t twice_rest = 2 * std::abs(std::int64_t{sum} % count);
  const bool up =
      twice_rest > count ||
      (twice_rest == count && (mode == RequantizeMode::fixed_point || quotient % 2 != 0));
  return static_cast<std::int32_t>(quotient + (up ? (sum < 0 ? -1 : 1) : 0));
}

}  // namespace tilewave::quant
