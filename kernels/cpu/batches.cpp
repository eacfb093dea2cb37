#include "kernels/cpu/batches.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/units.h"

namespace tilewave::kernels {
namespace {

/// Found by measurement with the MNIST network; changes no result.
constexpr Bytes kLargestTensorBytes = 1 << 19;

}  // namespace

std::int64_t images_per_group(const TensorPlan& plan, std::int64_t element_bytes) {
  const std::int64_t largest = std::ranges::max(plan.slot_elements) * element_bytes;
  const std::int64_t images = std::clamp<std::int64_t>(kLargestTensorBytes / largest, 4, 256);
  return ceil_div(images, kRowGroup) * kRowGroup;
}

std::int64_t count_images(std::span<const std::uint8_t> pixels, const models::Shape& shape) {
  const auto size = static_cast<std::int64_t>(pixels.size());
  if (size % shape.elements() != 0) {
    throw InputError(
        "images", std::to_string(size) + " bytes are not whole images",
        "a multiple of the network's " + std::to_string(shape.elements()) + " values per image");
  }
  return size / shape.elements();
}

void validate(const ReferenceOptions& options) {
  if (options.threads < 1) {
    throw InputError("threads", std::to_string(options.threads), "1 or more");
  }
  if (options.batch < 1) throw InputError("batch", std::to_string(options.batch), "1 or more");
}

void check_accumulators(const quant::Scheme& scheme) {
  if (scheme.accumulator_bits.value_or(quant::kMaxAccumulatorBits) != quant::kMaxAccumulatorBits) {
    throw InputError("scheme: accumulator_bits",
                     "is " + std::to_string(*scheme.accumulator_bits) +
                         ", and native paths have 32-bit accumulators",
                     "32, or a simulated chip");
  }
  if (scheme.overflow.value_or(quant::Overflow::wrap) != quant::Overflow::wrap) {
    throw InputError(
        "scheme: overflow",
        "is " + quant::name_of(*scheme.overflow) + ", and native paths have accumulators that wrap",
        "wrap, or a simulated chip");
  }
}

}  // namespace tilewave::kernels
