#include "kernels/cpu/batches.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/parallel.h"
#include "base/units.h"

namespace tilewave::kernels {
namespace {

// Both found by measurement with the MNIST network; neither changes a result.
constexpr Bytes kLargestTensorBytes = 2 << 20;
constexpr Bytes kChunkBytes = 256 << 10;

std::int64_t round_up_to_4(std::int64_t n) {
  return ceil_div(n, 4) * 4;
}

}  // namespace

std::int64_t images_per_group(const TensorPlan& plan, std::int64_t element_bytes) {
  const std::int64_t largest = std::ranges::max(plan.slot_elements) * element_bytes;
  return round_up_to_4(std::clamp<std::int64_t>(kLargestTensorBytes / largest, 4, 256));
}

std::int64_t rows_per_chunk(std::int64_t row_bytes) {
  return round_up_to_4(std::clamp<std::int64_t>(kChunkBytes / row_bytes, 128, 1024));
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

void for_each_group(std::int64_t images, std::int64_t group, const ReferenceOptions& options,
                    const GroupWork& work) {
  for (std::int64_t batch = 0; batch < images; batch += options.batch) {
    const std::int64_t end = batch + std::min(options.batch, images - batch);
    const std::int64_t share = round_up_to_4(ceil_div(end - batch, options.threads));
    const std::int64_t size = std::min(group, share);
    const std::int64_t step = size * options.threads;
    parallel_for(options.threads, options.threads, [&](std::int64_t worker) {
      for (std::int64_t first = batch + worker * size; first < end; first += step) {
        check_stop(options.stop);
        work(static_cast<std::size_t>(worker), first, std::min(size, end - first));
      }
    });
  }
}

}  // namespace tilewave::kernels
