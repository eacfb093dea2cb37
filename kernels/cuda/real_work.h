#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.h"
#include "kernels/cuda/half.h"
#include "kernels/cuda/matrix.h"
#include "kernels/cuda/window_places.h"

// What networks of real numbers do to single elements; T is float or Half, arithmetic is fp32.

namespace tilewave::kernels::gpu {

TILEWAVE_HOST_DEVICE inline float to_float(float x) {
  return x;
}
template <typename T>
TILEWAVE_HOST_DEVICE T to_stored(float x) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return x;
  } else {
    return to_half(x);
  }
}

/// Values below and above become the bounds; infinite bounds change nothing.
struct Clamp {
  float low, high;
  TILEWAVE_HOST_DEVICE float operator()(float x) const {
    const float raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
};

template <typename T>
struct LoadPixels {
  const std::uint8_t* in;
  T* out;
  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    out[i] = to_stored<T>(static_cast<float>(in[i]) / 255.0F);
  }
};

/// A product's sums to activations.
template <typename T>
struct AddBias {
  const float* sums;
  const float* bias;
  T* out;
  SumPlaces places;
  Clamp clamp;
  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    out[i] = to_stored<T>(clamp(sums[places.of(i)] + bias[i % places.channels]));
  }
};

/// weight: [tap][channel]
template <typename T>
struct Depthwise {
  WindowPlaces window;
  const T* in;
  const T* weight;
  const float* bias;
  T* out;
  Clamp clamp;
  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    const auto channels = static_cast<std::uint32_t>(window.channels);
    const std::uint32_t channel = i % channels;
    float sum = bias[channel];
    window.for_each_tap(i / channels, [&](std::int32_t tap, std::int64_t element) {
      sum += to_float(in[element + channel]) *
             to_float(weight[std::int64_t{tap} * channels + channel]);
    });
    out[i] = to_stored<T>(clamp(sum));
  }
};

template <typename T>
struct AddReal {
  const T* a;
  const T* b;
  T* out;
  Clamp clamp;
  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    out[i] = to_stored<T>(clamp(to_float(a[i]) + to_float(b[i])));
  }
};

enum class RealFunction : std::uint8_t { clamp, sigmoid, tanh };

template <typename T>
struct MapReal {
  RealFunction function;
  const T* in;
  T* out;
  Clamp clamp;  ///< of the function of that name
  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    const float x = to_float(in[i]);
    const float y = function == RealFunction::clamp     ? clamp(x)
                    : function == RealFunction::sigmoid ? 1.0F / (1.0F + ::expf(-x))
                                                        : ::tanhf(x);
    out[i] = to_stored<T>(y);
  }
};

template <typename T>
struct AverageReal {
  WindowPlaces window;
  const T* in;
  T* out;
  bool count_include_pad;
  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    const auto channels = static_cast<std::uint32_t>(window.channels);
    float sum = 0;
    const std::int32_t inside = window.for_each_tap(
        i / channels,
        [&](std::int32_t, std::int64_t element) { sum += to_float(in[element + i % channels]); });
    out[i] = to_stored<T>(sum / static_cast<float>(count_include_pad ? window.taps() : inside));
  }
};

}  // namespace tilewave::kernels::gpu
