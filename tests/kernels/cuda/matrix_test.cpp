#include "kernels/cuda/matrix.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "base/error.h"
#include "kernels/cuda/half.h"
#include "kernels/cuda/layers.h"
#include "tests/kernels/random_window.h"
#include "tests/support/naive.h"

namespace tilewave::kernels::gpu {
namespace {

using tests::pick;
using tests::random_window;

WindowGeometry random_geometry(std::int64_t channels) {
  const models::Window window = random_window(4);
  const models::Shape in{pick(10, 14), pick(10, 14), channels};
  return {window, in, models::windowed_shape(window, in, "test")};
}

template <typename T>
T numbered(std::int64_t i) {
  if constexpr (std::is_same_v<T, Half>) {
    return {static_cast<std::uint16_t>(i * 7919)};
  } else {
    return static_cast<T>(i * 7919);
  }
}

template <typename T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// The matrix as the definition has it, place by place, from the naive walk over windows.
template <typename T>
std::vector<T> naive_matrix(const WindowGeometry& g, const std::vector<T>& in, std::int64_t images,
                            std::int64_t groups, std::int64_t padded_k, T padding) {
  std::vector<T> matrix;
  const std::int64_t channels = g.in.channels / groups;
  for (std::int64_t group = 0; group < groups; ++group) {
    for (std::int64_t row = 0; row < images * g.out.pixels(); ++row) {
      const std::int64_t image = row / g.out.pixels();
      const std::int64_t pixel = row % g.out.pixels();
      const std::size_t start = matrix.size();
      test::for_each_place(
          g.window, g.in, pixel / g.out.width, pixel % g.out.width,
          [&](bool inside, std::int64_t y, std::int64_t x) {
            for (std::int64_t c = 0; c < channels; ++c) {
              const std::int64_t at = ((image * g.in.height + y) * g.in.width + x) * g.in.channels +
                                      group * channels + c;
              matrix.push_back(inside ? in[static_cast<std::size_t>(at)] : padding);
            }
          });
      matrix.resize(start + static_cast<std::size_t>(padded_k), T{});
    }
  }
  return matrix;
}

template <typename T>
void check_gathering() {
  REQUIRE(rc::check([] {
    const std::int64_t groups = pick(1, 3);
    // Multiples of a vector as often as not.
    const std::int64_t per_group = pick(0, 1) == 0 ? pick(1, 37) : pick(1, 3) * kVector<T>;
    const WindowGeometry g = random_geometry(groups * per_group);
    const std::int64_t images = pick(1, 3);
    std::vector<Vector<T>> aligned(
        static_cast<std::size_t>(ceil_div(images * g.in.elements(), kVector<T>)));
    T* in = aligned[0].values;
    std::vector<T> values;
    for (std::int64_t i = 0; i < images * g.in.elements(); ++i) {
      values.push_back(in[i] = numbered<T>(i));
    }
    const T padding = numbered<T>(3);
    const ProductSizes sizes =
        product_sizes(groups, g.out.pixels(), 1, g.taps() * per_group, kVector<T>, "test");
    const std::int64_t rows = images * g.out.pixels();
    const std::int64_t padded_rows = sizes.padded_rows(images);
    const std::int64_t vectors = sizes.padded_k / kVector<T>;
    std::vector<Vector<T>> out(static_cast<std::size_t>(groups * padded_rows * vectors));
    const Im2col<T> gather{window_places(g, "test"),
                           in,
                           out[0].values,
                           static_cast<std::uint32_t>(rows),
                           static_cast<std::uint32_t>(padded_rows),
                           static_cast<std::uint32_t>(per_group),
                           static_cast<std::uint32_t>(vectors),
                           padding};
    for (std::int64_t i = 0; i < groups * rows * vectors; ++i) {
      gather(static_cast<std::uint32_t>(i));
    }
    const auto expected = naive_matrix(g, values, images, groups, sizes.padded_k, padding);
    for (std::int64_t row = 0; row < groups * rows; ++row) {
      for (std::int64_t k = 0; k < sizes.padded_k; ++k) {
        const std::int64_t padded = row / rows * padded_rows + row % rows;
        RC_ASSERT(same(out[0].values[padded * sizes.padded_k + k],
                       expected[static_cast<std::size_t>(row * sizes.padded_k + k)]));
      }
    }
  }));
}

TEST_CASE("gathered rows are those of the naive walk over windows, in vectors of int8") {
  check_gathering<std::int8_t>();
}
TEST_CASE("gathered rows are those of the naive walk over windows, in vectors of fp16") {
  check_gathering<Half>();
}
TEST_CASE("gathered rows are those of the naive walk over windows, in vectors of fp32") {
  check_gathering<float>();
}

TEST_CASE("packed weights have zeros where rows and channels are filled up") {
  // Two groups of 3 channels with 5 weights each, to 16 channels of 16.
  const ProductSizes sizes = product_sizes(2, 1, 3, 5, kVector<std::int8_t>, "test");
  CHECK(sizes.padded_n == 16);
  CHECK(sizes.padded_k == 16);
  std::vector<std::int16_t> weight;
  for (std::int16_t i = 1; i <= 30; ++i) weight.push_back(i);
  const auto packed = packed_weights<std::int8_t>(
      weight, sizes, [](std::int16_t w) { return static_cast<std::int8_t>(w); });
  REQUIRE(packed.size() == 2 * 16 * 16);
  for (std::size_t group = 0; group < 2; ++group) {
    for (std::size_t n = 0; n < 16; ++n) {
      for (std::size_t k = 0; k < 16; ++k) {
        const bool used = n < 3 && k < 5;
        const std::size_t expected = used ? 1 + (group * 3 + n) * 5 + k : 0;
        CHECK(packed[(group * 16 + n) * 16 + k] == static_cast<std::int8_t>(expected));
      }
    }
  }
}

TEST_CASE("rows are filled up to what cuBLAS needs for int8") {
  const ProductSizes sizes = product_sizes(1, 49, 10, 9 * 512, kVector<std::int8_t>, "test");
  CHECK(sizes.padded_rows(1) == 64);
  CHECK(sizes.padded_rows(2) == 128);
  CHECK(sizes.padded_k == 4608);
  CHECK(product_sizes(1, 1, 10, 4, kVector<float>, "test").padded_k == 4);
  CHECK(product_sizes(1, 1, 10, 9, kVector<Half>, "test").padded_k == 16);
}

TEST_CASE("what 31 bits cannot count is refused by name") {
  CHECK_THROWS_WITH(product_sizes(1, 65536, 8, 65536, 16, "net: conv"),
                    Catch::StartsWith("net: conv: its matrices for one image are too large"));
  const WindowGeometry geometry{{.stride_height = std::int64_t{1} << 31}, {1, 1, 1}, {1, 1, 1}};
  CHECK_THROWS_WITH(window_places(geometry, "net: conv"), Catch::Contains("up to 1073741824"));
}

}  // namespace
}  // namespace tilewave::kernels::gpu
