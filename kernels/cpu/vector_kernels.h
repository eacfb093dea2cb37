#pragma once

#include <cstdint>

namespace tilewave::kernels {

/// Packed weights are aligned to this.
inline constexpr std::int64_t kLineFloats = 16;
struct alignas(64) Line {
  float values[kLineFloats];
};

/// c[m][n] += sum over k of a[m][k] * b[n][k] for n in [first, end); rows of a and c may lie apart,
/// b is as `pack` lays it out.
struct RealProduct {
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  float* scratch = nullptr;  ///< m * min(k, kRealBlock)
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t first = 0, end = 0;  ///< first: a multiple of VectorKernels::real_panel
  std::int64_t a_stride = 0, c_stride = 0;
};

/// Values of k whose products are added before they are added to c. The panels of both sides stay
/// in a first cache of 32 KiB (24 channels and 4 rows of fp32).
inline constexpr std::int64_t kRealBlock = 256;

/// Weights of a panel's channels lie side by side: [panel][pair of k][channel][2].
inline constexpr std::int64_t kPanel = 16;

/// sums[row][channel] = start[channel] + sum over k of factor[row][k] * weight[channel][k], in s32
/// that wraps. A row of factors is a number of runs, each from rows[row] + runs[run] on; the last
/// pair of a run may read one value beyond it, times a weight of 0.
template <typename Weight>
struct PackedProduct {
  const std::int16_t* const* rows = nullptr;
  std::int64_t m = 0;
  const std::int64_t* runs = nullptr;
  std::int64_t run_count = 0, pairs = 0;  ///< pairs: of one run
  const Weight* weights = nullptr;
  const std::int32_t* start = nullptr;  ///< whole panels
  std::int32_t* sums = nullptr;         ///< whole panels
  std::int64_t panels = 0, sums_stride = 0;
};

/// The inner loops, compiled once per instruction set. Everything in integers is exact and the
/// same in every set; fp32 sums are the same on every processor that runs the set.
struct VectorKernels {
  const char* name;
  std::int64_t real_panel;  ///< channels that Eigen multiplies together
  /// weights [n][k] to n * k floats from the start of a Line on.
  void (*pack)(const float* weights, std::int64_t n, std::int64_t k, float* packed);
  /// Eigen's matrix product. A row of c does not depend on the other rows as long as m is a
  /// multiple of kRowGroup.
  void (*multiply)(const RealProduct& product);
  void (*multiply_bytes)(const PackedProduct<std::int8_t>& product);
  void (*multiply_words)(const PackedProduct<std::int16_t>& product);
  /// into[i] = the larger of into[i] and from[i].
  void (*take_larger)(const std::int32_t* from, std::int32_t* into, std::int64_t count);
  void (*take_larger_real)(const float* from, float* into, std::int64_t count);
  void (*clamp)(const float* from, float low, float high, float* to, std::int64_t count);
};

/// Eigen treats the rows of a in groups of four, and adds up what is left over in another order.
inline constexpr std::int64_t kRowGroup = 4;

/// What every processor of this architecture runs.
const VectorKernels& portable_vector_kernels();
/// The fastest that this processor runs.
const VectorKernels& best_vector_kernels();

}  // namespace tilewave::kernels
