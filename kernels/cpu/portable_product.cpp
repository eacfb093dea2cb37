#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "kernels/cpu/integer_product.h"
#include "kernels/cpu/vector_kernels.h"

namespace tilewave::kernels {
namespace {

/// fp32 holds every integer up to here.
constexpr std::int64_t kExactFloat = 1 << 24;

template <typename T>
T* sized(std::vector<T>& buffer, std::int64_t size) {
  if (buffer.size() < static_cast<std::size_t>(size)) buffer.resize(static_cast<std::size_t>(size));
  return buffer.data();
}

class FloatProduct final : public IntegerProduct {
 public:
  explicit FloatProduct(const ProductWeights& weights)
      : vector_(best_vector_kernels()), n_(weights.n), k_(weights.k) {
    const std::int64_t largest =
        std::max(std::abs(weights.format.qmin()), std::abs(weights.format.qmax()));
    for (std::int64_t first = 0; first < k_;) {
      const std::int64_t last = block_end(weights, first, kExactFloat / largest);
      TILEWAVE_CHECK(last, >, first, "a single product does not fit into fp32");
      Block block{first, last - first, {}};
      for (std::int64_t n = 0; n < n_; ++n) {
        for (std::int64_t k = first; k < last; ++k) {
          block.weight.push_back(weights.weight[static_cast<std::size_t>(n * k_ + k)]);
        }
      }
      blocks_.push_back(std::move(block));
      first = last;
    }
  }

  void multiply(const std::int16_t* a, std::int64_t m, std::int32_t* acc, std::int64_t acc_stride,
                ProductScratch& scratch) const override {
    float* factor = sized(scratch.factor, m * k_);
    float* sum = sized(scratch.sum, m * n_);
    vector_.to_float(a, factor, m * k_);
    for (const Block& block : blocks_) {
      std::fill_n(sum, m * n_, 0.0F);
      vector_.multiply(
          {factor + block.first, block.weight.data(), sum, m, n_, block.length, k_, n_});
      if (acc_stride == n_) {
        vector_.add_to_integers(sum, acc, m * n_);
        continue;
      }
      for (std::int64_t row = 0; row < m; ++row) {
        vector_.add_to_integers(sum + row * n_, acc + row * acc_stride, n_);
      }
    }
  }

 private:
  struct Block {
    std::int64_t first, length;
    std::vector<float> weight;  ///< [n][length]
  };

  /// The end of the longest block from `first` on in which no row's magnitudes add up to more
  /// than `limit`.
  std::int64_t block_end(const ProductWeights& weights, std::int64_t first,
                         std::int64_t limit) const {
    std::int64_t end = k_;
    for (std::int64_t n = 0; n < n_; ++n) {
      std::int64_t magnitude = 0;
      for (std::int64_t k = first; k < end; ++k) {
        magnitude += std::abs(weights.weight[static_cast<std::size_t>(n * k_ + k)]);
        if (magnitude > limit) end = k;
      }
    }
    return end;
  }

  const VectorKernels& vector_;
  std::int64_t n_, k_;
  std::vector<Block> blocks_;
};

class LoopProduct final : public IntegerProduct {
 public:
  explicit LoopProduct(const ProductWeights& weights)
      : vector_(best_vector_kernels()),
        n_(weights.n),
        k_(weights.k),
        weight_(weights.weight.begin(), weights.weight.end()) {}

  void multiply(const std::int16_t* a, std::int64_t m, std::int32_t* acc, std::int64_t acc_stride,
                ProductScratch&) const override {
    vector_.multiply_integers({a, weight_.data(), acc, m, n_, k_, k_, acc_stride});
  }

 private:
  const VectorKernels& vector_;
  std::int64_t n_, k_;
  std::vector<std::int16_t> weight_;
};

}  // namespace

std::unique_ptr<IntegerProduct> make_portable_product(const ProductWeights& weights) {
  if (std::max(weights.format.bits, weights.weight_format.bits) > 8) {
    return std::make_unique<LoopProduct>(weights);
  }
  return std::make_unique<FloatProduct>(weights);
}

}  // namespace tilewave::kernels
