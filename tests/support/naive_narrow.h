#pragma once

#include <cstdint>
#include <vector>

#include "quant/quantized_graph.h"
#include "sim/chip/chip.h"

namespace tilewave::test {

/// The accumulators of a stand-alone Dense for one image, in the array's order of additions
/// (docs/numerics.md, "Matrix multiply"): bias preloaded; within each tile of array.rows places, or
/// of all of them on an output-stationary array, the
/// partial sum passes in increasing k; the tile's sum is then added to the entry. Each addition
/// wraps or saturates at the chip's accumulator width.
std::vector<std::int64_t> narrow_sums(const quant::QDense& dense, std::int32_t zero_point,
                                      const std::vector<std::int16_t>& image,
                                      const sim::Chip& chip);

}  // namespace tilewave::test
