#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/chip/chip.h"

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

/// What an accumulator holds of a value: of a sum, or of the bias that it starts as. It is another
/// one if the value leaves the accumulator's width.
constexpr std::int32_t narrow(std::int64_t value, const Precision& precision) {
  return precision.overflow == Overflow::saturate ? saturate(value, precision.accumulator_bits)
                                                  : wrap(value, precision.accumulator_bits);
}

}  // namespace tilewave::sim
