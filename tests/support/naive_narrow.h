#pragma once

#include <cstdint>

#include "sim/chip/chip.h"
#include "tests/support/naive.h"

namespace tilewave::test {

struct NarrowSum {
  std::int32_t value = 0;
  std::int64_t overflows = 0;  ///< additions whose exact result left the width
};

/// The product in the array's order of additions (docs/numerics.md, "Order of the sum"): bias
/// preloaded, with what the zero_point adds taken away; within each tile of array.rows places, or
/// of all of them on an output-stationary array, the partial sum passes in increasing k; the tile's
/// sum is then added to the entry. Each addition wraps or saturates at the chip's accumulator
/// width.
NarrowSum narrow_sum(const Product& product, const sim::Chip& chip);

}  // namespace tilewave::test
