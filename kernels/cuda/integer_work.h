#pragma once

#include <cstdint>
#include <type_traits>

#include "base/host_device.h"
#include "kernels/cuda/matrix.h"
#include "kernels/cuda/window_places.h"
#include "quant/arithmetic.h"

// What networks of integers do to single elements. Activations are stored as q - shift: 0 for
// signed formats, 128 for unsigned ones, so that all are s8, which is what cuBLAS multiplies.

namespace tilewave::kernels::gpu {

TILEWAVE_HOST_DEVICE inline std::int32_t wrapping_add(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

/// One multiplier per output channel, in the GPU's memory: what quant::Requantizer holds.
struct ChannelScales {
  quant::RequantizeMode mode;
  const float* multiplier;                   ///< float mode
  const quant::FixedPointMultiplier* fixed;  ///< the fixed-point modes
  std::int32_t zero_point, low, high;
  std::int32_t shift;  ///< of the output

  TILEWAVE_HOST_DEVICE std::int8_t stored(std::int32_t acc, std::uint32_t channel) const {
    const std::int32_t q =
        mode == quant::RequantizeMode::float_multiplier
            ? quant::requantize_float(acc, multiplier[channel], zero_point, low, high)
            : quant::requantize_fixed_point(acc, fixed[channel], mode, zero_point, low, high);
    return static_cast<std::int8_t>(q - shift);
  }
};

/// A product's sums to activations. bias: with what the input's zero point and shift add taken
/// away.
struct Requantize {
  const std::int32_t* sums;
  const std::int32_t* bias;
  std::int8_t* out;
  SumPlaces places;
  ChannelScales scales;
  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    const std::uint32_t channel = i % places.channels;
    out[i] = scales.stored(wrapping_add(sums[places.of(i)], bias[channel]), channel);
  }
};

/// weight: [tap][channel]; `zero`: the input's zero_point as it is stored.
struct DepthwiseIntegers {
  WindowPlaces window;
  const std::int8_t* in;
  const std::int8_t* weight;
  const std::int32_t* bias;
  std::int8_t* out;
  std::int32_t zero;
  ChannelScales scales;
  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    const auto channels = static_cast<std::uint32_t>(window.channels);
    const std::uint32_t channel = i % channels;
    std::int32_t acc = bias[channel];
    window.for_each_tap(i / channels, [&](std::int32_t tap, std::int64_t element) {
      acc = wrapping_add(
          acc, (in[element + channel] - zero) * weight[std::int64_t{tap} * channels + channel]);
    });
    out[i] = scales.stored(acc, channel);
  }
};

struct AddIntegers {
  const std::int8_t* a;
  const std::int8_t* b;
  std::int8_t* out;
  quant::Adder adder;
  std::int32_t shift;  ///< of all three
  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    out[i] = static_cast<std::int8_t>(adder.apply(a[i] + shift, b[i] + shift) - shift);
  }
};

struct AverageIntegers {
  WindowPlaces window;
  const std::int8_t* in;
  std::int8_t* out;
  bool count_include_pad;
  quant::RequantizeMode mode;
  std::int32_t zero_point;
  std::int32_t shift;
  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    const auto channels = static_cast<std::uint32_t>(window.channels);
    std::int32_t sum = 0;
    const std::int32_t inside = window.for_each_tap(
        i / channels,
        [&](std::int32_t, std::int64_t element) { sum += in[element + i % channels] + shift; });
    const std::int32_t places = count_include_pad ? window.taps() : inside;
    sum += (places - inside) * zero_point;
    out[i] = static_cast<std::int8_t>(quant::rounded_average(sum, places, mode) - shift);
  }
};

/// table: [256]. T is std::uint8_t for pixels, std::int8_t for activations as they are stored.
template <typename T>
struct Lookup {
  const T* in;
  const std::int8_t* table;
  std::int8_t* out;
  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    constexpr std::int32_t kFirst = std::is_signed_v<T> ? -128 : 0;
    out[i] = table[in[i] - kFirst];
  }
};

}  // namespace tilewave::kernels::gpu
