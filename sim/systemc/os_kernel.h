#pragma once

#include <cstdint>

#include "sim/systemc/pe_kernel.h"

namespace tilewave::sim::systemc {

/// The registers of all processing elements of an output-stationary array, [rows][columns], and
/// what comes in at its edges.
struct OsRegisters {
  std::int64_t rows = 0, cols = 0;
  std::int16_t* activation = nullptr;
  std::int16_t* weight = nullptr;
  std::int32_t* psum = nullptr;
  std::int32_t* product = nullptr;     ///< collects the passes of one product; null if there is one
  const std::int16_t* left = nullptr;  ///< [rows] activations that come in
  const std::int16_t* top = nullptr;   ///< [cols] weights that come in
};

/// What travels with the wavefront, by row + column, when a product takes several passes.
struct OsPassControl {
  const std::int32_t* product_shift = nullptr;  ///< the weight of the byte product
  const std::int32_t* keeps_product = nullptr;  ///< all ones, but zero in the first pass
  const std::int32_t* is_last = nullptr;        ///< all ones in the last pass: add to the sum
};

/// One clock: activations move right, weights down, every PE multiplies and adds to its sum.
void clock_os_array(const OsRegisters& pe, const Adders& adders);
/// The same with products of several passes.
void clock_os_array(const OsRegisters& pe, const Adders& adders, const OsPassControl& control);

}  // namespace tilewave::sim::systemc
