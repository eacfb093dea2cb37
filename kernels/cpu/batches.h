#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/error.h"
#include "base/units.h"
#include "base/workers.h"
#include "kernels/cpu/tensor_plan.h"
#include "kernels/cpu/vector_kernels.h"
#include "kernels/reference.h"

namespace tilewave::kernels {

/// How many images go through the network together: enough to use weights more than once, few
/// enough that the tensors stay in the cache. A multiple of 4, so that no sum depends on it.
std::int64_t images_per_group(const TensorPlan& plan, std::int64_t element_bytes);

/// Images in `pixels`. Throws InputError unless they are whole.
std::int64_t count_images(std::span<const std::uint8_t> pixels, const models::Shape& shape);

/// Throws InputError unless threads and batch are positive.
void validate(const ReferenceOptions& options);
/// Throws InputError if the scheme asks for accumulators that native paths do not have: theirs are
/// of 32 bits and wrap.
void check_accumulators(const quant::Scheme& scheme);

/// What a worker is to do with some images.
struct GroupTask {
  std::size_t worker;  ///< whose scratch to use
  std::size_t owner;   ///< whose tensors
  std::int64_t first, count;
  std::int64_t parts;  ///< 1: the worker is alone; else all share the work on each node
};

/// Splits images [0, images) into batches, and each batch over the workers: groups of at most
/// `group` images, each for one of them, or for all where there are too few images for that. Then
/// `reset()` is called before each. Throws Stopped between groups if options.stop says so.
template <typename Reset, typename Work>
void for_each_group(std::int64_t images, std::int64_t group, const ReferenceOptions& options,
                    Workers& workers, const Reset& reset, const Work& work) {
  const std::int64_t count = workers.count();
  for (std::int64_t batch = 0; batch < images; batch += options.batch) {
    const std::int64_t end = batch + std::min(options.batch, images - batch);
    const bool together = count > 1 && end - batch < kRowGroup * count;
    const std::int64_t share = ceil_div(ceil_div(end - batch, count), kRowGroup) * kRowGroup;
    const std::int64_t size = together ? group : std::min(group, share);
    if (together) {
      for (std::int64_t first = batch; first < end; first += size) {
        check_stop(options.stop);
        reset();
        workers.run([&](int worker) {
          work(GroupTask{static_cast<std::size_t>(worker), 0, first, std::min(size, end - first),
                         count});
        });
      }
      continue;
    }
    std::atomic<std::int64_t> next = batch;
    workers.run([&](int worker) {
      const auto self = static_cast<std::size_t>(worker);
      for (std::int64_t first = next.fetch_add(size); first < end; first = next.fetch_add(size)) {
        check_stop(options.stop);
        work(GroupTask{self, self, first, std::min(size, end - first), 1});
      }
    });
  }
}

}  // namespace tilewave::kernels
