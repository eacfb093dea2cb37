#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "base/host_device.h"
#include "quant/requantize_mode.h"

// The arithmetic of one element of docs/numerics.md, in functions that host and GPU compile alike:
// without fused multiply-add on either. Exact and defined for every input; rounding ties are named
// in each function.

namespace tilewave::quant {

/// A positive real multiplier as q31 * 2^(exponent - 31), q31 in [2^30, 2^31), as TFLite has it.
struct FixedPointMultiplier {
  std::int32_t q31 = 1 << 30;
  int exponent = 1;
  bool operator==(const FixedPointMultiplier&) const = default;
};

namespace element {

inline constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();

TILEWAVE_HOST_DEVICE inline std::int32_t saturate(std::int64_t x) {
  return static_cast<std::int32_t>(x < kMin ? kMin : x > kMax ? kMax : x);
}

TILEWAVE_HOST_DEVICE inline std::int32_t clamp_sum(std::int32_t x, std::int32_t zero_point,
                                                   std::int32_t low, std::int32_t high) {
  const std::int64_t sum = std::int64_t{x} + zero_point;
  if (sum <= low) return low;
  return sum < high ? static_cast<std::int32_t>(sum) : high;
}

/// clamp(round_half_even(x) + zero_point, low, high); NaN gives `low`. The sum is taken in double,
/// which is exact wherever the clamp does not decide.
TILEWAVE_HOST_DEVICE inline std::int32_t round_and_clamp(float x, std::int32_t zero_point,
                                                         std::int32_t low, std::int32_t high) {
  const double sum = static_cast<double>(::rintf(x)) + zero_point;
  if (!(sum > low)) return low;
  return sum < high ? static_cast<std::int32_t>(sum) : high;
}

/// A multiply followed by a shift left saturates before it multiplies.
TILEWAVE_HOST_DEVICE inline std::int32_t saturating_shift_left(std::int32_t x, int shift) {
  return saturate(std::int64_t{x} * (std::int64_t{1} << (shift < 32 ? shift : 32)));
}

}  // namespace element

/// High 32 bits of 2ab, rounded, ties towards plus infinity, as gemmlowp and so TFLite round them;
/// INT32_MIN * INT32_MIN saturates.
TILEWAVE_HOST_DEVICE inline std::int32_t saturating_rounding_doubling_high_multiply(
    std::int32_t a, std::int32_t b) {
  if (a == element::kMin && b == element::kMin) return element::kMax;
  // 2ab / 2^32 = ab / 2^31. An arithmetic shift rounds down, so half a unit more rounds ties up.
  const std::int64_t half = std::int64_t{1} << 30;
  return static_cast<std::int32_t>((std::int64_t{a} * b + half) >> 31);
}

/// x / 2^exponent rounded, ties away from zero; exponent in [0, 31].
TILEWAVE_HOST_DEVICE inline std::int32_t rounding_shift_right(std::int32_t x, int exponent) {
#ifndef __CUDA_ARCH__
  TILEWAVE_CHECK(exponent, >=, 0, "shift");
  TILEWAVE_CHECK(exponent, <=, 31, "shift");
#endif
  const std::int64_t divisor = std::int64_t{1} << exponent;
  const std::int64_t half = divisor / 2;
  return static_cast<std::int32_t>((x >= 0 ? x + half : x - half) / divisor);
}

/// acc * multiplier, rounded twice by the two functions above (a positive exponent shifts left
/// first, saturating).
TILEWAVE_HOST_DEVICE inline std::int32_t multiply_by_fixed_point(std::int32_t acc,
                                                                 FixedPointMultiplier multiplier) {
  const int exponent = multiplier.exponent;
  const std::int32_t shifted = exponent > 0 ? element::saturating_shift_left(acc, exponent) : acc;
  const std::int32_t high = saturating_rounding_doubling_high_multiply(shifted, multiplier.q31);
  return rounding_shift_right(high, exponent >= 0 ? 0 : exponent < -31 ? 31 : -exponent);
}

/// acc * multiplier, rounded once, ties towards plus infinity; saturates. As TFLite built with
/// TFLITE_SINGLE_ROUNDING. The exponent is at most 31.
TILEWAVE_HOST_DEVICE inline std::int32_t multiply_by_fixed_point_once(
    std::int32_t acc, FixedPointMultiplier multiplier) {
  const int exponent = multiplier.exponent < -31 ? -31 : multiplier.exponent;
  const int shift = 31 - exponent;  // 0 to 62
  const std::int64_t half = shift > 0 ? std::int64_t{1} << (shift - 1) : 0;
  return element::saturate((std::int64_t{acc} * multiplier.q31 + half) >> shift);
}

/// acc * multiplier in a fixed-point mode.
TILEWAVE_HOST_DEVICE inline std::int32_t multiply_by_fixed_point(std::int32_t acc,
                                                                 FixedPointMultiplier multiplier,
                                                                 RequantizeMode mode) {
  return mode == RequantizeMode::fixed_point ? multiply_by_fixed_point(acc, multiplier)
                                             : multiply_by_fixed_point_once(acc, multiplier);
}

/// Requantize with one multiplier, float mode:
/// clamp(round_half_even(float(acc) * multiplier) + zero_point, low, high).
TILEWAVE_HOST_DEVICE inline std::int32_t requantize_float(std::int32_t acc, float multiplier,
                                                          std::int32_t zero_point, std::int32_t low,
                                                          std::int32_t high) {
  return element::round_and_clamp(static_cast<float>(acc) * multiplier, zero_point, low, high);
}
TILEWAVE_HOST_DEVICE inline std::int32_t requantize_fixed_point(
    std::int32_t acc, FixedPointMultiplier multiplier, RequantizeMode mode, std::int32_t zero_point,
    std::int32_t low, std::int32_t high) {
  return element::clamp_sum(multiply_by_fixed_point(acc, multiplier, mode), zero_point, low, high);
}

/// Residual addition of two quantized values, rescaled to the output's scale.
/// float mode: round_half_even(float(a - za) * (sa / sy) + float(b - zb) * (sb / sy)) + zy, in
/// fp32 without contraction. The fixed-point modes: TFLite's scheme with a left shift of 20
/// (15 for 16-bit values).
struct Adder {
  RequantizeMode mode = RequantizeMode::float_multiplier;
  std::int32_t a_zero_point = 0;
  std::int32_t b_zero_point = 0;
  float a_multiplier = 1;  ///< float mode: scale_a / scale_y
  float b_multiplier = 1;
  FixedPointMultiplier a_fixed, b_fixed, y_fixed;  ///< the fixed-point modes
  int left_shift = 20;
  std::int32_t zero_point = 0;
  std::int32_t low = -128;
  std::int32_t high = 127;

  TILEWAVE_HOST_DEVICE std::int32_t apply(std::int32_t a, std::int32_t b) const {
    const std::int32_t x = element::saturate(std::int64_t{a} - a_zero_point);
    const std::int32_t y = element::saturate(std::int64_t{b} - b_zero_point);
    if (mode == RequantizeMode::float_multiplier) {
      const float sum = static_cast<float>(x) * a_multiplier + static_cast<float>(y) * b_multiplier;
      return element::round_and_clamp(sum, zero_point, low, high);
    }
    const std::int64_t sum =
        std::int64_t{
            multiply_by_fixed_point(element::saturating_shift_left(x, left_shift), a_fixed, mode)} +
        multiply_by_fixed_point(element::saturating_shift_left(y, left_shift), b_fixed, mode);
    return requantize_fixed_point(element::saturate(sum), y_fixed, mode, zero_point, low, high);
  }
  bool operator==(const Adder&) const = default;
};

/// sum / count rounded: half to even (float mode) or half away from zero (the others).
TILEWAVE_HOST_DEVICE inline std::int32_t rounded_average(std::int32_t sum, std::int32_t count,
                                                         RequantizeMode mode) {
#ifndef __CUDA_ARCH__
  TILEWAVE_CHECK(count, >, 0, "places in an average");
#endif
  const std::int64_t quotient = std::int64_t{sum} / count;  // towards zero
  const std::int64_t rest = std::int64_t{sum} % count;
  const std::int64_t twice_rest = 2 * (rest < 0 ? -rest : rest);
  const bool up =
      twice_rest > count ||
      (twice_rest == count && (mode != RequantizeMode::float_multiplier || quotient % 2 != 0));
  return static_cast<std::int32_t>(quotient + (up ? (sum < 0 ? -1 : 1) : 0));
}

}  // namespace tilewave::quant
