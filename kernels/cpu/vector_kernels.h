#pragma once

#include <cstdint>

namespace tilewave::kernels {

/// c[m][n] += sum over k of a[m][k] * b[n][k]; rows of a and c may lie apart, b is packed.
template <typename Factor, typename Sum>
struct MatrixProduct {
  const Factor* a = nullptr;
  const Factor* b = nullptr;
  Sum* c = nullptr;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t a_stride = 0, c_stride = 0;
};

/// The inner loops, compiled once per instruction set. Everything in integers is exact and the
/// same in every set; fp32 sums are the same on every processor that runs the set.
struct VectorKernels {
  const char* name;
  /// Eigen's matrix product. A row of c does not depend on the other rows as long as m is a
  /// multiple of kRowGroup.
  void (*multiply)(const MatrixProduct<float, float>& product);
  /// s32 sums that wrap.
  void (*multiply_integers)(const MatrixProduct<std::int16_t, std::int32_t>& product);
  void (*to_float)(const std::int16_t* in, float* out, std::int64_t count);
  /// sum[i] += in[i] (wrapping), each in[i] an integer.
  void (*add_to_integers)(const float* in, std::int32_t* sum, std::int64_t count);
};

/// Eigen treats the rows of a in groups of four, and adds up what is left over in another order.
inline constexpr std::int64_t kRowGroup = 4;

/// What every processor of this architecture runs.
const VectorKernels& portable_vector_kernels();
/// The fastest that this processor runs.
const VectorKernels& best_vector_kernels();

}  // namespace tilewave::kernels
