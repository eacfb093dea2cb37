#pragma once

#include <cstdint>

#include "sim/systemc/activation_lines.h"

namespace tilewave::sim::systemc {

/// What of a value takes part in a pass: one of its bytes, or all of it where it has just one.
inline constexpr int kWhole = -1;
constexpr std::int16_t part_of(std::int16_t value, int byte) {
  if (byte == kWhole) return value;
  return static_cast<std::int16_t>(byte == 0 ? value & 0xff : value >> 8);
}

/// How an addition of the array ends: at the accumulator's width, by wrapping or by saturating.
struct Adders {
  int bits = 32;
  bool saturates = false;
};

/// The registers of all processing elements, [rows][columns].
struct PeRegisters {
  std::int64_t rows = 0, cols = 0;
  const ActivationLines& activation;  ///< as this clock leaves them
  const std::int16_t* weight = nullptr;
  std::int32_t* psum = nullptr;
  std::int64_t weight_top = 0;  ///< row of `weight` in which the first row of PEs has its own
  /// Of each sum, how many additions left the adders' width: where `psum` has the sum. Null if
  /// nobody needs to know.
  std::int32_t* overflows = nullptr;
};

/// What the control that travels with the wavefront tells the PEs at (row, column), by row +
/// column, when a product takes several passes.
struct PassControl {
  const std::int32_t* weight_shift = nullptr;   ///< to the byte of the weight that is used
  const std::int32_t* weight_mask = nullptr;    ///< which takes off what is above that byte
  const std::int32_t* product_shift = nullptr;  ///< the weight of the byte product
  const std::int32_t* keeps_product = nullptr;  ///< all ones, but zero in the first pass
  const std::int32_t* is_last = nullptr;        ///< all ones in the last pass: add to the sum
};

/// One clock: every PE adds its product to a sum. Sums that move down the array lie where they are
/// throughout their way: row r of the array has found them in row (psum_top + r) mod rows, so that
/// nothing needs to be done where activations are zero. Row psum_top is to start from zeros. Where
/// sums stay and weights move down, it is the other way round: psum_top is 0, weight_top moves.
void clock_array(const PeRegisters& pe, std::int64_t psum_top, const Adders& adders);
/// One clock where products take several passes. `product` collects them; sums wait until the last,
/// and so lie in the row that they have reached. `top`: [cols] zeros.
void clock_array(const PeRegisters& pe, std::int32_t* product, const std::int32_t* top,
                 const Adders& adders, const PassControl& control);

}  // namespace tilewave::sim::systemc
