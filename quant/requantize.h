#pragma once

#include <cstdint>
#include <vector>

#include "quant/format.h"
#include "quant/scheme.h"

// The normative integer arithmetic of docs/numerics.md. Everything here is exact and defined for
// every input; rounding ties are named in each function.

namespace tilewave::quant {

/// clamp(round_half_even(x / scale) + zero_point, qmin, qmax). Infinities clamp; NaN is the
/// caller's error (it gives qmin).
std::int32_t quantize(float x, const Quantization& q);
float dequantize(std::int32_t value, const Quantization& q);

/// A positive real multiplier as q31 * 2^(exponent - 31), q31 in [2^30, 2^31), as TFLite has it.
struct FixedPointMultiplier {
  std::int32_t q31 = 1 << 30;
  int exponent = 1;
  bool operator==(const FixedPointMultiplier&) const = default;
};
/// The multiplier rounded to 31 bits, ties away from zero. Below about 2^-32 (nothing of a 32-bit
/// accumulator would be left), zero and NaN: q31 = 0. From 2^30 on: the largest value there is.
FixedPointMultiplier to_fixed_point(double multiplier);
inline constexpr int kMaxExponent = 30;

/// High 32 bits of 2ab, rounded, ties towards plus infinity, as gemmlowp and so TFLite round them;
/// INT32_MIN * INT32_MIN saturates.
std::int32_t saturating_rounding_doubling_high_multiply(std::int32_t a, std::int32_t b);
/// x / 2^exponent rounded, ties away from zero; exponent in [0, 31].
std::int32_t rounding_shift_right(std::int32_t x, int exponent);
/// acc * multiplier by the two functions above (a positive exponent shifts left first, saturating).
std::int32_t multiply_by_fixed_point(std::int32_t acc, FixedPointMultiplier multiplier);

/// What turns a column's accumulator into an activation: one multiplier per output channel.
struct Requantizer {
  RequantizeMode mode = RequantizeMode::float_multiplier;
  std::vector<float> multiplier;                  ///< float_multiplier mode: [channels]
  std::vector<FixedPointMultiplier> fixed_point;  ///< fixed_point mode: [channels]
  std::int32_t zero_point = 0;                    ///< of the output
  std::int32_t low = -128;                        ///< clamp range, a fused ReLU included
  std::int32_t high = 127;

  /// One accumulator of output channel `channel`.
  std::int32_t apply(std::int32_t acc, std::size_t channel) const;
  bool operator==(const Requantizer&) const = default;
};
/// out[n] = apply(acc[n], n) for n in [0, channels), in a loop that vectorises. low and high must
/// fit into 16 bits.
void requantize_row(const std::int32_t* acc, std::int64_t channels, const Requantizer& requantizer,
                    std::int16_t* out);

/// Requantize with one multiplier, float mode:
/// clamp(round_half_even(float(acc) * multiplier) + zero_point, low, high).
std::int32_t requantize_float(std::int32_t acc, float multiplier, std::int32_t zero_point,
                              std::int32_t low, std::int32_t high);
std::int32_t requantize_fixed_point(std::int32_t acc, FixedPointMultiplier multiplier,
                                    std::int32_t zero_point, std::int32_t low, std::int32_t high);

/// Residual addition of two quantized values, rescaled to the output's scale.
/// float mode: round_half_even(float(a - za) * (sa / sy) + float(b - zb) * (sb / sy)) + zy, in
/// fp32 without contraction. fixed_point mode: TFLite's scheme with a left shift of 20
/// (15 for 16-bit values).
struct Adder {
  RequantizeMode mode = RequantizeMode::float_multiplier;
  std::int32_t a_zero_point = 0;
  std::int32_t b_zero_point = 0;
  float a_multiplier = 1;  ///< float mode: scale_a / scale_y
  float b_multiplier = 1;
  FixedPointMultiplier a_fixed, b_fixed, y_fixed;  ///< fixed_point mode
  int left_shift = 20;
  std::int32_t zero_point = 0;
  std::int32_t low = -128;
  std::int32_t high = 127;

  std::int32_t apply(std::int32_t a, std::int32_t b) const;
  bool operator==(const Adder&) const = default;
};
Adder make_adder(const Quantization& a, const Quantization& b, const Quantization& y,
                 RequantizeMode mode, std::int32_t low, std::int32_t high);

/// Places that an average may have, so that its sum of values of the format fits 32 bits.
std::int64_t most_averaged_places(const Format& format);

/// sum / count rounded: half to even (float mode) or half away from zero (fixed_point mode).
std::int32_t rounded_average(std::int32_t sum, std::int32_t count, RequantizeMode mode);

}  // namespace tilewave::quant
