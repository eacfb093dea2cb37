#include "quant/requantize.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tilewave::quant {

std::int32_t quantize(float x, const Quantization& q) {
  return element::round_and_clamp(x / q.scale, q.zero_point, q.format.qmin(), q.format.qmax());
}

float dequantize(std::int32_t value, const Quantization& q) {
  return q.scale * static_cast<float>(std::int64_t{value} - q.zero_point);
}

FixedPointMultiplier to_fixed_point(double multiplier) {
  if (!(multiplier > 0)) return {0, 0};
  if (!std::isfinite(multiplier)) return {element::kMax, kMaxExponent};
  int exponent = 0;
  const double fraction = std::frexp(multiplier, &exponent);  // in [1/2, 1)
  auto q31 = static_cast<std::int64_t>(std::round(std::ldexp(fraction, 31)));
  if (q31 == std::int64_t{1} << 31) {  // rounded up to the next power of two
    q31 /= 2;
    ++exponent;
  }
  if (exponent < -31) return {0, 0};
  if (exponent > kMaxExponent) return {element::kMax, kMaxExponent};
  return {static_cast<std::int32_t>(q31), exponent};
}

std::int32_t Requantizer::apply(std::int32_t acc, std::size_t channel) const {
  if (mode == RequantizeMode::float_multiplier) {
    return requantize_float(acc, multiplier[channel], zero_point, low, high);
  }
  return requantize_fixed_point(acc, fixed_point[channel], mode, zero_point, low, high);
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
  return element::kMax / std::max(-format.qmin(), format.qmax());
}

}  // namespace tilewave::quant
