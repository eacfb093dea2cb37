#pragma once

#include <cstdint>
#include <functional>

#include "kernels/cpu/tensor_plan.h"
#include "kernels/reference.h"

namespace tilewave::kernels {

/// How many images go through the network together: enough to use weights more than once, few
/// enough that the tensors stay in the cache. A multiple of 4, so that no sum depends on it.
std::int64_t images_per_group(const TensorPlan& plan, std::int64_t element_bytes);

/// Rows of an im2col matrix that are made and multiplied together. A multiple of 4.
std::int64_t rows_per_chunk(std::int64_t row_bytes);

/// Images in `pixels`. Throws InputError unless they are whole.
std::int64_t count_images(std::span<const std::uint8_t> pixels, const models::Shape& shape);

/// Throws InputError unless threads and batch are positive.
void validate(const ReferenceOptions& options);
/// Throws InputError if the scheme asks for accumulators that native paths do not have: theirs are
/// of 32 bits and wrap.
void check_accumulators(const quant::Scheme& scheme);

/// Splits images [0, images) into batches, and each batch into groups of at most `group` images
/// over the threads. `work(worker, first, count)`, worker in [0, threads), never runs twice at
/// once for one worker. Throws Stopped between groups if options.stop says so.
using GroupWork = std::function<void(std::size_t worker, std::int64_t first, std::int64_t count)>;
void for_each_group(std::int64_t images, std::int64_t group, const ReferenceOptions& options,
                    const GroupWork& work);

}  // namespace tilewave::kernels
