#include "sim/timeline/row_kernels_avx2.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tilewave::sim {

#if defined(__AVX2__)
namespace avx2 {

#include "sim/timeline/row_kernels_body.h"

/// Rows x (8 * Vectors) sums held in registers while all pairs pass.
template <int Rows, int Vectors>
void multiply_block(const std::int16_t* values, std::int64_t values_stride,
                    const std::int16_t* weights, std::int32_t pairs, std::int64_t weights_stride,
                    const std::int32_t* start, std::int32_t* sums, std::int64_t stride) {
  __m256i sum[Rows][Vectors];
  for (int row = 0; row < Rows; ++row) {
    for (int v = 0; v < Vectors; ++v) {
      const std::int32_t* from = start != nullptr ? start + 8 * v : sums + row * stride + 8 * v;
      sum[row][v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    }
  }
  for (std::int32_t pair = 0; pair < pairs; ++pair) {
    __m256i weight[Vectors];
    for (int v = 0; v < Vectors; ++v) {
      weight[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + 16 * v));
    }
    for (int row = 0; row < Rows; ++row) {
      std::int32_t two = 0;
      __builtin_memcpy(&two, values + row * values_stride + 2 * pair, sizeof two);
      const __m256i value = _mm256_set1_epi32(two);
      for (int v = 0; v < Vectors; ++v) {
        sum[row][v] = _mm256_add_epi32(sum[row][v], _mm256_madd_epi16(value, weight[v]));
      }
    }
    weights += weights_stride;
  }
  for (int row = 0; row < Rows; ++row) {
    for (int v = 0; v < Vectors; ++v) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + row * stride + 8 * v), sum[row][v]);
    }
  }
}

template <int Vectors>
void multiply_columns(const std::int16_t* values, std::int32_t rows, const PackedTile& tile,
                      std::int32_t column, const std::int32_t* start, std::int32_t* sums,
                      std::int64_t stride) {
  const std::int64_t values_stride = 2 * std::int64_t{tile.pairs};
  const std::int64_t weights_stride = 2 * std::int64_t{tile.columns_padded};
  const std::int16_t* weights = tile.weights + 2 * column;
  const std::int32_t* from = start != nullptr ? start + column : nullptr;
  std::int32_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    multiply_block<4, Vectors>(values + row * values_stride, values_stride, weights, tile.pairs,
                               weights_stride, from, sums + row * stride + column, stride);
  }
  for (; row < rows; ++row) {
    multiply_block<1, Vectors>(values + row * values_stride, values_stride, weights, tile.pairs,
                               weights_stride, from, sums + row * stride + column, stride);
  }
}

void multiply(const std::int16_t* values, std::int32_t rows, const PackedTile& tile,
              const std::int32_t* start, std::int32_t* sums, std::int64_t stride) {
  std::int32_t column = 0;
  for (; column + 16 <= tile.columns_padded; column += 16) {
    multiply_columns<2>(values, rows, tile, column, start, sums, stride);
  }
  if (column < tile.columns_padded) {
    multiply_columns<1>(values, rows, tile, column, start, sums, stride);
  }
}

}  // namespace avx2

const RowKernels* avx2_row_kernels() {
  static constexpr RowKernels kKernels{avx2::gather<std::int8_t>,  avx2::gather<std::uint8_t>,
                                       avx2::gather<std::int16_t>, avx2::multiply,
                                       avx2::column_max,           avx2::requantize_float};
  return &kKernels;
}
#else
const RowKernels* avx2_row_kernels() {
  return nullptr;
}
#endif

}  // namespace tilewave::sim
