#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/workers.h"
#include "quant/format.h"

namespace tilewave::kernels {

struct VectorKernels;

/// Buffers that an integer product uses over and over; one per thread.
struct ProductScratch {
  std::vector<std::int8_t> bytes;
  std::vector<std::int32_t> sums;
};

/// Rows of factors where they lie: row r is runs.size() runs, the i-th from rows[r] + runs[i] on.
struct FactorRows {
  std::span<const std::int16_t* const> rows;
  std::span<const std::int64_t> runs;
};

/// A matrix of integer weights and a bias, prepared once for one way of multiplying by it.
class IntegerProduct {
 public:
  virtual ~IntegerProduct() = default;
  /// sums[row][n] = bias[n] + sum over k of factor[row][k] * weight[n][k] for the channels n of the
  /// range, in s32 that wraps. The range starts at a multiple of kPanel; what lies beyond it in the
  /// last panel is overwritten too, so a row of sums has `sums_stride` of whole panels.
  virtual void multiply(const FactorRows& factors, Range channels, std::int32_t* sums,
                        std::int64_t sums_stride, ProductScratch& scratch) const = 0;
};

/// weight: [n][runs][run_length], values of `weight_format`, to be multiplied by those of `format`.
struct ProductWeights {
  std::span<const std::int16_t> weight;
  std::span<const std::int32_t> bias;  ///< [n]
  std::int64_t runs = 1, run_length = 0;
  quant::Format format, weight_format;
};

/// Exact for every format: pairs of 16-bit products added in 32 bits. The value after each run of
/// factors is read (and multiplied by 0).
std::unique_ptr<IntegerProduct> make_packed_product(const ProductWeights& weights,
                                                    const VectorKernels& vector);

/// Through oneDNN; the formats must have 8 bits at most, and onednn_refusal() be empty.
std::unique_ptr<IntegerProduct> make_onednn_product(const ProductWeights& weights);
/// Why oneDNN's integer products are not to be had or not exact here; empty if they are.
const char* onednn_refusal();

}  // namespace tilewave::kernels
