// Compiled once per instruction set, with TILEWAVE_VECTOR_SET naming it. Only what is inlined,
// has internal linkage or lives in the renamed Eigen namespace may be used here: a shared inline
// function would be merged by the linker, and the wrong processor might run the copy it keeps.

#include "kernels/cpu/vector_kernels.h"

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <utility>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace tilewave::kernels {

const VectorKernels& TILEWAVE_VECTOR_SET();

namespace {

// Eigen's own way of multiplying, called in its parts, so that weights are packed only once. As the
// result is c transposed, the weights are the left side.
using Index = Eigen::Index;
using Traits = Eigen::internal::gebp_traits<float, float>;
using Weights = Eigen::internal::const_blas_data_mapper<float, Index, Eigen::RowMajor>;
using Factors = Eigen::internal::const_blas_data_mapper<float, Index, Eigen::ColMajor>;
using Sums = Eigen::internal::blas_data_mapper<float, Index, Eigen::ColMajor>;
using PackWeights =
    Eigen::internal::gemm_pack_lhs<float, Index, Weights, Traits::mr, Traits::LhsProgress,
                                   Traits::LhsPacket4Packing, Eigen::RowMajor>;
using PackFactors =
    Eigen::internal::gemm_pack_rhs<float, Index, Factors, Traits::nr, Eigen::ColMajor>;
using Multiply =
    Eigen::internal::gebp_kernel<float, float, Index, Sums, Traits::mr, Traits::nr, false, false>;

std::int64_t depth_at(std::int64_t first, std::int64_t k) {
  return k - first < kRealBlock ? k - first : kRealBlock;
}

void pack(const float* weights, std::int64_t n, std::int64_t k, float* packed) {
  const Weights all(weights, k);
  for (std::int64_t first = 0; first < k; first += kRealBlock) {
    PackWeights()(packed + first * n, all.getSubMapper(0, first), depth_at(first, k), n);
  }
}

void multiply(const RealProduct& p) {
  const Factors all(p.a, p.a_stride);
  const Sums sums(p.c + p.first, p.c_stride);
  for (std::int64_t first = 0; first < p.k; first += kRealBlock) {
    const std::int64_t depth = depth_at(first, p.k);
    PackFactors()(p.scratch, all.getSubMapper(first, 0), depth, p.m);
    Multiply()(sums, p.b + first * p.n + p.first * depth, p.scratch, p.end - p.first, depth, p.m,
               1.0F);
  }
}

/// One row's sums of one panel.
#ifdef __AVX2__
struct PanelSums {
  struct Pairs {
    explicit Pairs(const std::int16_t* w)
        : low(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w))),
          high(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + kPanel))) {}
    explicit Pairs(const std::int8_t* w)
        : low(_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)))),
          high(
              _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w + kPanel)))) {
    }
    __m256i low, high;
  };
  explicit PanelSums(const std::int32_t* from)
      : low(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))),
        high(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + kPanel / 2))) {}
  void store(std::int32_t* to) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + kPanel / 2), high);
  }
  // Two products are added in 32 bits; what (-2^15)^2 + (-2^15)^2 = 2^31 gives is that, wrapped.
  void add(const std::int16_t* factors, const Pairs& weights) {
    std::int32_t two = 0;
    __builtin_memcpy(&two, factors, sizeof two);
    const __m256i both = _mm256_set1_epi32(two);
    low = _mm256_add_epi32(low, _mm256_madd_epi16(both, weights.low));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(both, weights.high));
  }
  __m256i low, high;
};
#else
struct PanelSums {
  struct Pairs {
    template <typename Weight>
    explicit Pairs(const Weight* w) {
      for (std::int64_t i = 0; i < 2 * kPanel; ++i) weight[i] = w[i];
    }
    std::int32_t weight[2 * kPanel];
  };
  explicit PanelSums(const std::int32_t* from) {
    for (std::int64_t i = 0; i < kPanel; ++i) sum[i] = static_cast<std::uint32_t>(from[i]);
  }
  void store(std::int32_t* to) const {
    for (std::int64_t i = 0; i < kPanel; ++i) to[i] = static_cast<std::int32_t>(sum[i]);
  }
  void add(const std::int16_t* factors, const Pairs& weights) {
    for (std::int64_t i = 0; i < kPanel; ++i) {
      sum[i] += static_cast<std::uint32_t>(factors[0] * weights.weight[2 * i]);
      sum[i] += static_cast<std::uint32_t>(factors[1] * weights.weight[2 * i + 1]);
    }
  }
  std::uint32_t sum[kPanel];
};
#endif

/// Rows whose sums of one panel fit the registers.
constexpr std::int64_t kRowBlock = 6;

template <int... Row, typename Weight>
void multiply_block(std::integer_sequence<int, Row...>, const PackedProduct<Weight>& p,
                    std::int64_t first, std::int64_t panel) {
  const std::int16_t* const* rows = p.rows + first;
  const Weight* weights = p.weights + panel * p.run_count * p.pairs * 2 * kPanel;
  const std::int32_t* start = p.start + panel * kPanel;
  PanelSums sums[] = {(static_cast<void>(Row), PanelSums(start))...};
  for (std::int64_t run = 0; run < p.run_count; ++run) {
    const std::int16_t* factors[] = {rows[Row] + p.runs[run]...};
    for (std::int64_t pair = 0; pair < p.pairs; ++pair) {
      const PanelSums::Pairs pairs(weights);
      (sums[Row].add(factors[Row] + 2 * pair, pairs), ...);
      weights += 2 * kPanel;
    }
  }
  std::int32_t* out = p.sums + first * p.sums_stride + panel * kPanel;
  (sums[Row].store(out + Row * p.sums_stride), ...);
}

template <int Rows, typename Weight>
void multiply_rows(const PackedProduct<Weight>& p, std::int64_t first, std::int64_t panel) {
  multiply_block(std::make_integer_sequence<int, Rows>(), p, first, panel);
}

template <typename Weight>
void multiply_packed(const PackedProduct<Weight>& p) {
  constexpr void (*kRest[])(const PackedProduct<Weight>&, std::int64_t, std::int64_t) = {
      multiply_rows<1, Weight>, multiply_rows<2, Weight>, multiply_rows<3, Weight>,
      multiply_rows<4, Weight>, multiply_rows<5, Weight>};
  for (std::int64_t panel = 0; panel < p.panels; ++panel) {
    std::int64_t row = 0;
    for (; row + kRowBlock <= p.m; row += kRowBlock) multiply_rows<kRowBlock>(p, row, panel);
    if (row < p.m) kRest[p.m - row - 1](p, row, panel);
  }
}

template <typename T>
void take_larger(const T* __restrict from, T* __restrict into, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) into[i] = from[i] > into[i] ? from[i] : into[i];
}

void clamp(const float* __restrict from, float low, float high, float* __restrict to,
           std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float x = from[i] < low ? low : from[i];
    to[i] = x > high ? high : x;
  }
}

}  // namespace

const VectorKernels& TILEWAVE_VECTOR_SET() {
  static const VectorKernels kernels{Eigen::SimdInstructionSetsInUse(),
                                     Traits::mr,
                                     pack,
                                     multiply,
                                     multiply_packed<std::int8_t>,
                                     multiply_packed<std::int16_t>,
                                     take_larger<std::int32_t>,
                                     take_larger<float>,
                                     clamp};
  return kernels;
}

}  // namespace tilewave::kernels
