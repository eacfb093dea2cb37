#pragma once

#include <cstdint>
#include <vector>

#include "quant/arithmetic.h"
#include "quant/format.h"

// The normative integer arithmetic of docs/numerics.md, on tensors; that of one element is in
// arithmetic.h.

namespace tilewave::quant {

/// clamp(round_half_even(x / scale) + zero_point, qmin, qmax). Infinities clamp; NaN is the
/// caller's error (it gives qmin).
std::int32_t quantize(float x, const Quantization& q);
float dequantize(std::int32_t value, const Quantization& q);

/// The multiplier rounded to 31 bits, ties away from zero. Below about 2^-32 (nothing of a 32-bit
/// accumulator would be left), zero and NaN: q31 = 0. From 2^30 on: the largest value there is.
FixedPointMultiplier to_fixed_point(double multiplier);
inline constexpr int kMaxExponent = 30;

/// What turns a column's accumulator into an activation: one multiplier per output channel.
struct Requantizer {
  RequantizeMode mode = RequantizeMode::float_multiplier;
  std::vector<float> multiplier;                  ///< float_multiplier mode: [channels]
  std::vector<FixedPointMultiplier> fixed_point;  ///< the other modes: [channels]
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

Adder make_adder(const Quantization& a, const Quantization& b, const Quantization& y,
                 RequantizeMode mode, std::int32_t low, std::int32_t high);

/// Places that an average may have, so that its sum of values of the format fits 32 bits.
std::int64_t most_averaged_places(const Format& format);

}  // namespace tilewave::quant
