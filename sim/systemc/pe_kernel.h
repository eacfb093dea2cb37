#pragma once

#include <cstdint>

namespace tilewave::sim::systemc {

/// How an addition of the array ends: at the accumulator's width, by wrapping or by saturating.
struct Adders {
  int bits = 32;
  bool saturates = false;
};

/// The registers of all processing elements, [rows][columns], and what is outside of the array's
/// left and upper edge.
struct PeRegisters {
  std::int64_t rows = 0, cols = 0;
  std::int16_t* activation = nullptr;
  const std::int16_t* weight = nullptr;
  std::int32_t* psum = nullptr;
  std::int32_t* product = nullptr;     ///< collects the passes of one product; null if there is one
  const std::int16_t* left = nullptr;  ///< [rows] activations that come in
  const std::int32_t* top = nullptr;   ///< [cols] partial sums that come in: zeros
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

/// One clock: activations move right, partial sums down, every PE multiplies and adds.
void clock_array(const PeRegisters& pe, const Adders& adders);
/// The same with products of several passes.
void clock_array(const PeRegisters& pe, const Adders& adders, const PassControl& control);

}  // namespace tilewave::sim::systemc
