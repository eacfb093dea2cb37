#include "kernels/cuda/layers.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/error.h"

namespace tilewave::kernels::gpu {
namespace {

std::int32_t narrowed(std::int64_t size, const std::string& where) {
  constexpr std::int64_t kLimit = 1 << 30;
  if (size <= kLimit) return static_cast<std::int32_t>(size);
  throw InputError(where, "has a window or image of size " + std::to_string(size),
                   "up to " + std::to_string(kLimit) + " on a GPU");
}

}  // namespace

WindowPlaces window_places(const WindowGeometry& geometry, const std::string& where) {
  const models::Window& w = geometry.window;
  const auto narrow = [&](std::int64_t size) { return narrowed(size, where); };
  narrow(geometry.in.height + w.pad_top + w.pad_bottom);
  narrow(geometry.in.width + w.pad_left + w.pad_right);
  return {narrow(w.kernel_height),   narrow(w.kernel_width),       narrow(w.stride_height),
          narrow(w.stride_width),    narrow(w.dilation_height),    narrow(w.dilation_width),
          narrow(w.pad_top),         narrow(w.pad_left),           narrow(geometry.in.height),
          narrow(geometry.in.width), narrow(geometry.in.channels), narrow(geometry.out.height),
          narrow(geometry.out.width)};
}

ProductSizes product_sizes(std::int64_t groups, std::int64_t rows, std::int64_t n, std::int64_t k,
                           std::int64_t vector, const std::string& where) {
  ProductSizes sizes{groups,
                     rows,
                     n,
                     k,
                     ceil_div(n, kChannelMultiple) * kChannelMultiple,
                     ceil_div(k, vector) * vector};
  const std::int64_t longest = std::max(sizes.padded_n, sizes.padded_k);
  if (checked_product({groups, sizes.padded_rows(1), longest}, INT32_MAX) &&
      checked_product({groups, sizes.padded_n, sizes.padded_k}, INT32_MAX)) {
    return sizes;
  }
  throw InputError(where, "its matrices for one image are too large for the GPU path",
                   "up to " + std::to_string(INT32_MAX) + " values");
}

Layers::Layers(Backend& backend, const std::vector<TensorUse>& uses, std::int64_t element_bytes,
               const Limits& limits)
    : backend_(backend), limits_(limits), plan_(plan_tensors(uses)) {
  // Kernels count their elements in 31 bits.
  TILEWAVE_CHECK(limits.tensor_bytes, <=, Bytes{INT32_MAX}, "bytes of tensors");
  TILEWAVE_CHECK(limits.scratch_bytes, <=, Bytes{INT32_MAX}, "bytes of a product");
  const Bytes image = element_bytes * std::accumulate(plan_.slot_elements.begin(),
                                                      plan_.slot_elements.end(), std::int64_t{0});
  capacity_ = std::clamp<std::int64_t>(limits.tensor_bytes / image, 1, limits.batch);
  for (const std::int64_t elements : plan_.slot_elements) {
    slots_.push_back(backend_.allocate(elements * element_bytes * capacity_));
  }
}

void Layers::add(const Work& work, std::int64_t elements) {
  steps_.push_back(
      [this, work, elements](std::int64_t images) { backend_.run(work, images * elements); });
}

std::int64_t Layers::reserve_chunk(const ProductSizes& sizes, std::int64_t element_bytes) {
  const Bytes row_bytes = sizes.groups * sizes.padded_k * element_bytes;
  const Bytes sum_bytes = sizes.groups * sizes.padded_n * std::int64_t{sizeof(std::int32_t)};
  const std::int64_t chunk = std::clamp<std::int64_t>(
      limits_.scratch_bytes / (sizes.rows * std::max(row_bytes, sum_bytes)), 1, capacity_);
  rows_bytes_ = std::max(rows_bytes_, row_bytes * sizes.padded_rows(chunk));
  sums_bytes_ = std::max(sums_bytes_, sum_bytes * sizes.padded_rows(chunk));
  return chunk;
}

void Layers::finish() {
  if (rows_bytes_ > 0) rows_ = backend_.allocate(rows_bytes_);
  if (sums_bytes_ > 0) sums_ = backend_.allocate(sums_bytes_);
}

void Layers::run(std::int64_t images) const {
  TILEWAVE_CHECK(images, <=, capacity_, "more images than the tensors hold");
  for (const auto& step : steps_) step(images);
}

}  // namespace tilewave::kernels::gpu
