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

/// Columns that are worked on together, so that the compiler can vectorize.
constexpr int kColumns = 8;

struct NarrowSums {
  std::int64_t value[kColumns] = {};
  std::int64_t overflows[kColumns] = {};
};

template <bool Saturates>
void add(NarrowSums& sums, const std::int64_t* terms, int bits) {
  const std::int64_t most = (std::int64_t{1} << (bits - 1)) - 1;
  const int unused = 64 - bits;
  for (int n = 0; n < kColumns; ++n) {
    const std::int64_t exact = sums.value[n] + terms[n];
    std::int64_t kept = 0;
    if (Saturates) {
      kept = exact > most ? most : exact < -most - 1 ? -most - 1 : exact;
    } else {
      const std::uint64_t top = static_cast<std::uint64_t>(exact) << unused;
      kept = static_cast<std::int64_t>(top) >> unused;
    }
    sums.overflows[n] += kept != exact ? 1 : 0;
    sums.value[n] = kept;
  }
}

template <bool Saturates>
std::int64_t multiply_narrow(const std::int16_t* values, std::int32_t rows, const PackedTile& tile,
                             const std::int32_t* start, std::int32_t* sums, std::int64_t stride,
                             int bits) {
  std::int64_t overflows = 0;
  for (std::int32_t row = 0; row < rows; ++row, values += 2 * tile.pairs, sums += stride) {
    for (std::int32_t column = 0; column < tile.columns_padded; column += kColumns) {
      NarrowSums partial;
      for (std::int32_t k = 0; k < 2 * tile.pairs; ++k) {
        const std::int16_t* weights =
            tile.weights + 2 * (std::int64_t{k / 2} * tile.columns_padded + column) + k % 2;
        std::int64_t products[kColumns];
        for (int n = 0; n < kColumns; ++n) products[n] = values[k] * weights[2 * n];
        add<Saturates>(partial, products, bits);
      }
      const std::int32_t* from = start != nullptr ? start : sums;
      std::int64_t entries[kColumns];
      for (int n = 0; n < kColumns; ++n) entries[n] = from[column + n];
      add<Saturates>(partial, entries, bits);
      for (int n = 0; n < kColumns; ++n) {
        sums[column + n] = static_cast<std::int32_t>(partial.value[n]);
        overflows += partial.overflows[n];
      }
    }
  }
  return overflows;
}

std::int64_t multiply_narrow(const std::int16_t* values, std::int32_t rows, const PackedTile& tile,
                             const std::int32_t* start, std::int32_t* sums, std::int64_t stride,
                             int bits, bool saturates) {
  return saturates ? multiply_narrow<true>(values, rows, tile, start, sums, stride, bits)
                   : multiply_narrow<false>(values, rows, tile, start, sums, stride, bits);
}

}  // namespace portable

const RowKernels& portable_row_kernels() {
  static constexpr RowKernels kKernels{
      portable::gather<std::int8_t>,  portable::gather<std::uint8_t>,
      portable::gather<std::int16_t>, portable::multiply,
      portable::multiply_narrow,      portable::column_max,
      portable::requantize_float};
  return kKernels;
}

}  // namespace tilewave::sim
