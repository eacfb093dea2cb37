#include <algorithm>

#include "base/units.h"
#include "kernels/cpu/integer_product.h"
#include "kernels/cpu/vector_kernels.h"

namespace tilewave::kernels {
namespace {

/// Weight: the narrowest type that holds the weights, which are read once per image of a Dense.
template <typename Weight>
class PackedIntegers final : public IntegerProduct {
 public:
  using Kernel = void (*)(const PackedProduct<Weight>& product);
  PackedIntegers(const ProductWeights& weights, Kernel kernel)
      : kernel_(kernel), pairs_(ceil_div(weights.run_length, 2)) {
    const auto n = static_cast<std::int64_t>(weights.bias.size());
    const std::int64_t panels = ceil_div(n, kPanel);
    panel_weights_ = weights.runs * pairs_ * 2 * kPanel;
    weights_.resize(static_cast<std::size_t>(panels * panel_weights_));
    bias_.resize(static_cast<std::size_t>(panels * kPanel));
    std::ranges::copy(weights.bias, bias_.begin());
    auto weight = weights.weight.begin();
    for (std::int64_t channel = 0; channel < n; ++channel) {
      for (std::int64_t run = 0; run < weights.runs; ++run) {
        for (std::int64_t i = 0; i < weights.run_length; ++i) {
          const std::int64_t pair = run * pairs_ + i / 2;
          const std::int64_t at =
              channel / kPanel * panel_weights_ + pair * 2 * kPanel + channel % kPanel * 2 + i % 2;
          weights_[static_cast<std::size_t>(at)] = static_cast<Weight>(*weight++);
        }
      }
    }
  }

  void multiply(const FactorRows& factors, Range channels, std::int32_t* sums,
                std::int64_t sums_stride, ProductScratch& /*scratch*/) const override {
    PackedProduct<Weight> product;
    product.rows = factors.rows.data();
    product.m = static_cast<std::int64_t>(factors.rows.size());
    product.runs = factors.runs.data();
    product.run_count = static_cast<std::int64_t>(factors.runs.size());
    product.pairs = pairs_;
    product.weights = weights_.data() + channels.first / kPanel * panel_weights_;
    product.start = bias_.data() + channels.first;
    product.sums = sums + channels.first;
    product.panels = ceil_div(channels.end - channels.first, kPanel);
    product.sums_stride = sums_stride;
    kernel_(product);
  }

 private:
  Kernel kernel_;
  std::int64_t pairs_;              ///< of a run
  std::int64_t panel_weights_ = 0;  ///< from one panel to the next
  std::vector<Weight> weights_;
  std::vector<std::int32_t> bias_;
};

}  // namespace

std::unique_ptr<IntegerProduct> make_packed_product(const ProductWeights& weights,
                                                    const VectorKernels& vector) {
  if (weights.weight_format.bits > 8) {
    return std::make_unique<PackedIntegers<std::int16_t>>(weights, vector.multiply_words);
  }
  return std::make_unique<PackedIntegers<std::int8_t>>(weights, vector.multiply_bytes);
}

}  // namespace tilewave::kernels
