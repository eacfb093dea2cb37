// Compiled once per instruction set, with TILEWAVE_VECTOR_SET naming it. Only what is inlined,
// has internal linkage or lives in the renamed Eigen namespace may be used here: a shared inline
// function would be merged by the linker, and the wrong processor might run the copy it keeps.

#include "kernels/cpu/vector_kernels.h"

#define EIGEN_DONT_PARALLELIZE
// Never Eigen's other way for small products: its sums would depend on the number of rows.
#define EIGEN_GEMM_TO_COEFFBASED_THRESHOLD 1
#include <Eigen/Core>

namespace tilewave::kernels {

const VectorKernels& TILEWAVE_VECTOR_SET();

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stride = Eigen::OuterStride<>;

// Eigen splits k by the size of the caches, which changes the order of the sums. Fixed sizes give
// the same sums on every processor; these are what common ones have at least.
constexpr std::ptrdiff_t kL1Bytes = 32 * 1024;
constexpr std::ptrdiff_t kL2Bytes = 512 * 1024;
constexpr std::ptrdiff_t kL3Bytes = 4 * 1024 * 1024;

void multiply(const MatrixProduct<float, float>& p) {
  const Eigen::Map<const Matrix, 0, Stride> a(p.a, p.m, p.k, Stride(p.a_stride));
  const Eigen::Map<const Matrix> b(p.b, p.n, p.k);
  Eigen::Map<Matrix, 0, Stride> c(p.c, p.m, p.n, Stride(p.c_stride));
  c.noalias() += a * b.transpose();
}

void multiply_integers(const MatrixProduct<std::int16_t, std::int32_t>& p) {
  for (std::int64_t m = 0; m < p.m; ++m) {
    const std::int16_t* __restrict a = p.a + m * p.a_stride;
    for (std::int64_t n = 0; n < p.n; ++n) {
      const std::int16_t* __restrict b = p.b + n * p.k;
      std::uint32_t sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) {
        sum += static_cast<std::uint32_t>(std::int32_t{a[k]} * std::int32_t{b[k]});
      }
      std::int32_t& c = p.c[m * p.c_stride + n];
      c = static_cast<std::int32_t>(static_cast<std::uint32_t>(c) + sum);
    }
  }
}

void to_float(const std::int16_t* __restrict in, float* __restrict out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = in[i];
}

void add_to_integers(const float* __restrict in, std::int32_t* __restrict sum, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    sum[i] =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(sum[i]) +
                                  static_cast<std::uint32_t>(static_cast<std::int32_t>(in[i])));
  }
}

}  // namespace

const VectorKernels& TILEWAVE_VECTOR_SET() {
  static const VectorKernels kernels = [] {
    Eigen::setCpuCacheSizes(kL1Bytes, kL2Bytes, kL3Bytes);
    return VectorKernels{Eigen::SimdInstructionSetsInUse(), multiply, multiply_integers, to_float,
                         add_to_integers};
  }();
  return kernels;
}

}  // namespace tilewave::kernels
