#pragma once

#include <cstdint>

#include "sim/systemc/pe_kernel.h"

namespace tilewave::sim::systemc {

/// What travels with the wavefront through an output-stationary array, by row + column, when a
/// product takes several passes.
struct OsPassControl {
  const std::int32_t* product_shift = nullptr;  ///< the weight of the byte product
  const std::int32_t* keeps_product = nullptr;  ///< all ones, but zero in the first pass
  const std::int32_t* is_last = nullptr;        ///< all ones in the last pass: add to the sum
};

/// One clock where sums stay and products take several passes, which `product` collects.
void clock_os_array(const PeRegisters& pe, std::int32_t* product, const Adders& adders,
                    const OsPassControl& control);

}  // namespace tilewave::sim::systemc
