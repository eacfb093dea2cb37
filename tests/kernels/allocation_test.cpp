#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>

#include "kernels/reference.h"
#include "quant/quantizer.h"
#include "tests/kernels/network_builder.h"
#include "tests/support/random_graph.h"

// glibc's own names of what is replaced here for the whole program, so that it can be counted.
extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_realloc(void* place, std::size_t size);             // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT
}

namespace {

std::atomic<long> allocations = 0;

}  // namespace

extern "C" {
void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* place, std::size_t size) {
  ++allocations;
  return __libc_realloc(place, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
}

namespace tilewave::kernels {
namespace {

/// What the second of two runs asks for.
long allocations_of_second_run(Reference& reference, const std::vector<std::uint8_t>& pixels) {
  Outputs outputs;
  reference.run_into(pixels, outputs);
  const long before = allocations;
  reference.run_into(pixels, outputs);
  return allocations - before;
}

TEST_CASE("allocations are counted, of new and of over-aligned types too") {
  struct alignas(64) Line {
    float values[16];
  };
  const long before = allocations;
  const std::vector<int> plain(100);
  CHECK(allocations == before + 1);
  const std::vector<Line> aligned(2);
  CHECK(allocations == before + 2);
}

TEST_CASE("the CPU paths allocate nothing once they have run") {
  auto builder = tests::every_operation(3);
  quant::Scheme wide;
  wide.weight_bits = 16;
  const auto narrow = test::quantize_randomly(builder.graph, {}, 5);
  const auto wider = test::quantize_randomly(builder.graph, wide, 5);
  for (const int threads : {1, 2, 3}) {
    for (const std::int64_t batch : {1, 16, 256}) {
      CAPTURE(threads, batch);
      const auto pixels = builder.images(256);
      const ReferenceOptions options{.threads = threads, .batch = batch};
      CHECK(allocations_of_second_run(*make_cpu_fp32(builder.graph, options), pixels) == 0);
      CHECK(allocations_of_second_run(*make_cpu_int8(narrow, options), pixels) == 0);
      CHECK(allocations_of_second_run(*make_cpu_int8(wider, options), pixels) == 0);
    }
  }
}

}  // namespace
}  // namespace tilewave::kernels
