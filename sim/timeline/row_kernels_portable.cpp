#include "sim/timeline/row_kernels.h"

namespace tilewave::sim {
namespace portable {

#include "sim/timeline/row_kernels_body.h"

void multiply(const std::int16_t* values, std::int32_t rows, const PackedTile& tile,
              const std::int32_t* start, std::int32_t* sums, std::int64_t stride) {
  // Unsigned sums, since the accumulators wrap.
  for (std::int32_t row = 0; row < rows; ++row, values += 2 * tile.pairs, sums += stride) {
    auto* sum = reinterpret_cast<std::uint32_t*>(sums);
    if (start != nullptr) {
      for (std::int32_t n = 0; n < tile.columns_padded; ++n) sums[n] = start[n];
    }
    const std::int16_t* weights = tile.weights;
    for (std::int32_t pair = 0; pair < tile.pairs; ++pair) {
      const std::int32_t x0 = values[2 * pair];
      const std::int32_t x1 = values[2 * pair + 1];
      for (std::int32_t n = 0; n < tile.columns_padded; ++n) {
        sum[n] += static_cast<std::uint32_t>(x0 * weights[2 * n]) +
                  static_cast<std::uint32_t>(x1 * weights[2 * n + 1]);
      }
      weights += 2 * tile.columns_padded;
    }
  }
}

}  // namespace portable

const RowKernels& portable_row_kernels() {
  static constexpr RowKernels kKernels{
      portable::gather<std::int8_t>,  portable::gather<std::uint8_t>,
      portable::gather<std::int16_t>, portable::multiply,
      portable::column_max,           portable::requantize_float};
  return kKernels;
}

}  // namespace tilewave::sim
