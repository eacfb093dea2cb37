#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/host_device.h"

#ifdef __CUDA_ARCH__
#include <cuda_fp16.h>
#endif

namespace tilewave::kernels::gpu {

/// A number of IEEE 754's binary16, for storage; arithmetic is in fp32.
struct Half {
  std::uint16_t bits;
};

/// Exact.
TILEWAVE_HOST_DEVICE inline float to_float(Half half) {
#ifdef __CUDA_ARCH__
  return __half2float(__ushort_as_half(half.bits));
#else
  constexpr float kSmallest = 0x1p-24F;
  const std::uint32_t sign = std::uint32_t{half.bits} >> 15 << 31;
  const std::uint32_t magnitude = half.bits & 0x7fffU;
  std::uint32_t bits = 0;
  if (magnitude >= 0x7c00) {  // infinities and NaN
    bits = 0x7f800000U | magnitude << 13;
  } else if (magnitude < 0x0400) {  // subnormal here, normal there
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * kSmallest);
  } else {
    bits = (magnitude << 13) + (std::uint32_t{127 - 15} << 23);
  }
  return std::bit_cast<float>(sign | bits);
#endif
}

/// Rounded half to even; too large a number becomes an infinity.
TILEWAVE_HOST_DEVICE inline Half to_half(float x) {
#ifdef __CUDA_ARCH__
  return {__half_as_ushort(__float2half_rn(x))};
#else
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 31 << 15;
  const float magnitude = std::fabs(x);
  std::uint32_t half = 0;
  if (std::isnan(x)) {
    half = 0x7fff;
  } else if (magnitude >= 65520.0F) {  // half way from the largest number to the next power of two
    half = 0x7c00;
  } else if (magnitude < 0x1p-14F) {  // a whole number of the smallest subnormals
    half = static_cast<std::uint32_t>(std::rint(magnitude * 0x1p24F));
  } else {
    const std::uint32_t kept = bits & 0x7fffffffU;
    half = ((kept + 0x0fffU + (kept >> 13 & 1U)) >> 13) - (std::uint32_t{127 - 15} << 10);
  }
  return {static_cast<std::uint16_t>(sign | half)};
#endif
}

}  // namespace tilewave::kernels::gpu
