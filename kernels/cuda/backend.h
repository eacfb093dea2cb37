#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "base/units.h"
#include "kernels/cuda/integer_work.h"
#include "kernels/cuda/real_work.h"
#include "kernels/gpu.h"

namespace tilewave::kernels::gpu {

/// Padded places count as `lowest`.
template <typename T>
struct MaxPool {
  WindowPlaces window;
  const T* in;
  T* out;
  T lowest;
  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    const auto channels = static_cast<std::uint32_t>(window.channels);
    T largest = lowest;
    window.for_each_tap(i / channels, [&](std::int32_t, std::int64_t element) {
      const T value = in[element + i % channels];
      if constexpr (std::is_integral_v<T>) {
        largest = value > largest ? value : largest;
      } else {
        largest = to_float(value) > to_float(largest) ? value : largest;
      }
    });
    out[i] = largest;
  }
};

/// One kernel: called once for each of its elements, in any order.
using Work = std::variant<LoadPixels<float>, LoadPixels<Half>, Im2col<float>, Im2col<Half>,
                          Im2col<std::int8_t>, AddBias<float>, AddBias<Half>, Depthwise<float>,
                          Depthwise<Half>, AddReal<float>, AddReal<Half>, MapReal<float>,
                          MapReal<Half>, AverageReal<float>, AverageReal<Half>, MaxPool<float>,
                          MaxPool<Half>, MaxPool<std::int8_t>, Requantize, DepthwiseIntegers,
                          AddIntegers, AverageIntegers, Lookup<std::uint8_t>, Lookup<std::int8_t>>;

/// sums[group][m][n] = sum over k of rows[group][m][k] * weights[group][n][k]; all packed, in the
/// sizes that matrix.h asks for. The sums are s32 for s8 factors, else fp32.
struct Product {
  GpuPrecision precision;
  const void* weights;
  const void* rows;
  void* sums;
  std::int64_t groups, m, n, k;
};

/// What a network may take.
struct Limits {
  std::int64_t batch = 256;         ///< images that run at once, at most
  Bytes tensor_bytes = INT32_MAX;   ///< fewer images where their tensors would take more
  Bytes scratch_bytes = 256 << 20;  ///< for the matrices of a product, unless one image's do
};

/// Something that has memory of its own and does work in the order in which it was given; a GPU,
/// or what a test puts in its place.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Aligned to 256 bytes; lives as long as the backend.
  virtual void* allocate(std::int64_t bytes) = 0;
  /// Done when it returns.
  virtual void upload(void* to, const void* from, std::int64_t bytes) = 0;
  /// `elements` are below 2^31.
  virtual void run(const Work& work, std::int64_t elements) = 0;
  virtual void multiply(const Product& product) = 0;
};

}  // namespace tilewave::kernels::gpu
