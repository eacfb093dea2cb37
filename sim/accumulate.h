#pragma once

#include <algorithm>
#include <cstdint>

namespace tilewave::sim {

/// Two's complement at `bits` bits (1 to 32): the low bits, sign-extended.
constexpr std::int32_t wrap(std::int64_t value, int bits) {
  const int unused = 64 - bits;
  return static_cast<std::int32_t>(
      static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused);
}

/// The nearest value that `bits` bits can hold.
constexpr std::int32_t saturate(std::int64_t value, int bits) {
  const std::int64_t most = (std::int64_t{1} << (bits - 1)) - 1;
  return static_cast<std::int32_t>(std::clamp(value, -most - 1, most));
}

}  // namespace tilewave::sim
