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

/// How an addition ends. `fitting`: by lanes, minus the number of those whose result fitted.
template <bool Saturates>
struct NarrowAdders {
  __m256i least, most;
  int unused;
  explicit NarrowAdders(int bits)
      : least(_mm256_set1_epi32(-(1 << (bits - 1)))),
        most(_mm256_set1_epi32((1 << (bits - 1)) - 1)),
        unused(32 - bits) {}

  /// Of at most 31 bits: no product or sum leaves 32.
  __m256i add(__m256i a, __m256i b, __m256i& fitting) const {
    const __m256i exact = _mm256_add_epi32(a, b);
    const __m256i kept = Saturates ? _mm256_min_epi32(_mm256_max_epi32(exact, least), most)
                                   : _mm256_srai_epi32(_mm256_slli_epi32(exact, unused), unused);
    fitting = _mm256_add_epi32(fitting, _mm256_cmpeq_epi32(kept, exact));
    return kept;
  }
};

/// Of 32 bits: a sum does not fit if its sign is that of neither term.
template <bool Saturates>
struct WideAdders {
  explicit WideAdders(int /*bits*/) {}

  __m256i add(__m256i a, __m256i b, __m256i& fitting) const {
    const __m256i sum = _mm256_add_epi32(a, b);
    const __m256i leaves =
        _mm256_srai_epi32(_mm256_and_si256(_mm256_xor_si256(a, sum), _mm256_xor_si256(b, sum)), 31);
    fitting = _mm256_add_epi32(fitting, _mm256_xor_si256(leaves, _mm256_set1_epi32(-1)));
    if (!Saturates) return sum;
    const __m256i limit = _mm256_xor_si256(_mm256_srai_epi32(a, 31), _mm256_set1_epi32(0x7fffffff));
    return _mm256_blendv_epi8(sum, limit, leaves);
  }
};

/// Rows x 8 sums; of how many additions the result fitted.
template <int Rows, typename Adders>
std::int64_t multiply_narrow_block(const std::int16_t* values, std::int64_t values_stride,
                                   const std::int16_t* weights, std::int32_t pairs,
                                   std::int64_t weights_stride, const std::int32_t* start,
                                   std::int32_t* sums, std::int64_t stride, const Adders& adders) {
  __m256i sum[Rows], fitting[Rows];
  for (int row = 0; row < Rows; ++row) sum[row] = fitting[row] = _mm256_setzero_si256();
  for (std::int32_t pair = 0; pair < pairs; ++pair, weights += weights_stride) {
    const __m256i weight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
    for (int row = 0; row < Rows; ++row) {
      std::uint32_t two = 0;
      __builtin_memcpy(&two, values + row * values_stride + 2 * pair, sizeof two);
      // One product at a time: the other one of the pair is of a zero.
      const __m256i first = _mm256_set1_epi32(static_cast<int>(two & 0xffffU));
      const __m256i second = _mm256_set1_epi32(static_cast<int>(two & 0xffff0000U));
      sum[row] = adders.add(sum[row], _mm256_madd_epi16(first, weight), fitting[row]);
      sum[row] = adders.add(sum[row], _mm256_madd_epi16(second, weight), fitting[row]);
    }
  }
  __m256i all = _mm256_setzero_si256();
  for (int row = 0; row < Rows; ++row) {
    auto* const at = reinterpret_cast<__m256i*>(sums + row * stride);
    const __m256i entry = start != nullptr
                              ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(start))
                              : _mm256_loadu_si256(at);
    _mm256_storeu_si256(at, adders.add(entry, sum[row], fitting[row]));
    all = _mm256_sub_epi32(all, fitting[row]);
  }
  std::int32_t lanes[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), all);
  std::int64_t total = 0;
  for (const std::int32_t lane : lanes) total += lane;
  return total;
}

template <typename Adders>
std::int64_t multiply_narrow(const std::int16_t* values, std::int32_t rows, const PackedTile& tile,
                             const std::int32_t* start, std::int32_t* sums, std::int64_t stride,
                             const Adders& adders) {
  const std::int64_t values_stride = 2 * std::int64_t{tile.pairs};
  const std::int64_t weights_stride = 2 * std::int64_t{tile.columns_padded};
  std::int64_t fitting = 0;
  for (std::int32_t column = 0; column < tile.columns_padded; column += 8) {
    const std::int16_t* weights = tile.weights + 2 * column;
    const std::int32_t* from = start != nullptr ? start + column : nullptr;
    std::int32_t row = 0;
    for (; row + 4 <= rows; row += 4) {
      fitting += multiply_narrow_block<4>(values + row * values_stride, values_stride, weights,
                                          tile.pairs, weights_stride, from,
                                          sums + row * stride + column, stride, adders);
    }
    for (; row < rows; ++row) {
      fitting += multiply_narrow_block<1>(values + row * values_stride, values_stride, weights,
                                          tile.pairs, weights_stride, from,
                                          sums + row * stride + column, stride, adders);
    }
  }
  return std::int64_t{rows} * tile.columns_padded * (2 * std::int64_t{tile.pairs} + 1) - fitting;
}

std::int64_t multiply_narrow(const std::int16_t* values, std::int32_t rows, const PackedTile& tile,
                             const std::int32_t* start, std::int32_t* sums, std::int64_t stride,
                             int bits, bool saturates) {
  const auto with = [&](const auto& adders) {
    return multiply_narrow(values, rows, tile, start, sums, stride, adders);
  };
  if (bits == 32) return saturates ? with(WideAdders<true>(bits)) : with(WideAdders<false>(bits));
  return saturates ? with(NarrowAdders<true>(bits)) : with(NarrowAdders<false>(bits));
}

}  // namespace avx2

const RowKernels* avx2_row_kernels() {
  static constexpr RowKernels kKernels{avx2::gather<std::int8_t>,  avx2::gather<std::uint8_t>,
                                       avx2::gather<std::int16_t>, avx2::multiply,
                                       avx2::multiply_narrow,      avx2::column_max,
                                       avx2::requantize_float};
  return &kKernels;
}
#else
const RowKernels* avx2_row_kernels() {
  return nullptr;
}
#endif

}  // namespace tilewave::sim
