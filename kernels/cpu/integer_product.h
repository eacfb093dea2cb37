#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "quant/format.h"

namespace tilewave::kernels {

/// Buffers that an integer product uses over and over; one per thread.
struct ProductScratch {
  std::vector<float> factor, sum;
  std::vector<std::int8_t> bytes;
  std::vector<std::int32_t> integers;
};

/// A matrix of integer weights, prepared once for one way of multiplying by it.
class IntegerProduct {
 public:
  virtual ~IntegerProduct() = default;
  /// acc[m][n] += sum over k of a[m][k] * weight[n][k], in s32 that wraps. a is packed; rows of acc
  /// are `acc_stride` apart.
  virtual void multiply(const std::int16_t* a, std::int64_t m, std::int32_t* acc,
                        std::int64_t acc_stride, ProductScratch& scratch) const = 0;
};

/// weight: [n][k], values of `weight_format`, to be multiplied by values of `format`.
struct ProductWeights {
  std::span<const std::int16_t> weight;
  std::int64_t n = 0, k = 0;
  quant::Format format, weight_format;
};

/// Exact on every processor. Up to 8 bits: fp32 products of blocks of k whose sums of magnitudes
/// stay within 2^24, so that every partial sum is an integer that fp32 holds. Above: integer loops.
std::unique_ptr<IntegerProduct> make_portable_product(const ProductWeights& weights);

/// Through oneDNN; the formats must have 8 bits at most, and onednn_refusal() be empty.
std::unique_ptr<IntegerProduct> make_onednn_product(const ProductWeights& weights);
/// Why oneDNN's integer products are not to be had or not exact here; empty if they are.
const char* onednn_refusal();

}  // namespace tilewave::kernels
