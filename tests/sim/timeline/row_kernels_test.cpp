// Both builds of the inner loops against plain loops, equal bits.

#include "sim/timeline/row_kernels.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <vector>

#include "quant/requantize.h"
#include "sim/accumulate.h"

using namespace tilewave::sim;

namespace {

const RowKernels* builds[] = {&row_kernels(), &portable_row_kernels()};

template <typename T>
std::vector<T> random_values(std::mt19937& random, std::int64_t count, int low, int high) {
  std::uniform_int_distribution<int> any(low, high);
  std::uniform_int_distribution<int> edge(0, 9);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) {
    const int choice = edge(random);
    value = static_cast<T>(choice == 0 ? low : choice == 1 ? high : any(random));
  }
  return values;
}

}  // namespace

TEST_CASE("multiply gives the wrapped sums of a triple loop for any sizes") {
  REQUIRE(rc::check([] {
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    const int rows = *rc::gen::inRange(1, 12);
    const int pairs = *rc::gen::inRange(1, 20);
    const int columns = 8 * *rc::gen::inRange(1, 6);
    const int stride = columns + 8 * *rc::gen::inRange(0, 2);
    const bool with_start = *rc::gen::arbitrary<bool>();
    const auto values = random_values<std::int16_t>(random, rows * 2 * pairs, -32768, 32767);
    const auto weights = random_values<std::int16_t>(random, columns * 2 * pairs, -32768, 32767);
    const auto start = random_values<std::int32_t>(random, columns, -1000000, 1000000);
    const auto before = random_values<std::int32_t>(random, rows * stride, -1000000, 1000000);
    for (const RowKernels* kernels : builds) {
      std::vector<std::int32_t> sums = before;
      kernels->multiply(values.data(), rows, {weights.data(), pairs, columns},
                        with_start ? start.data() : nullptr, sums.data(), stride);
      for (int row = 0; row < rows; ++row) {
        for (int n = 0; n < stride; ++n) {
          std::int64_t sum = before[row * stride + n];
          if (n < columns) {
            if (with_start) sum = start[n];
            for (int k = 0; k < 2 * pairs; ++k) {
              sum += std::int64_t{values[row * 2 * pairs + k]} *
                     weights[(k / 2 * columns + n) * 2 + k % 2];
            }
          }
          RC_ASSERT(sums[row * stride + n] == wrap(sum, 32));
        }
      }
    }
  }));
}

TEST_CASE("multiply_narrow ends each addition at its width and counts those that did not fit") {
  REQUIRE(rc::check([] {
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    const int rows = *rc::gen::inRange(1, 10);
    const int pairs = *rc::gen::inRange(1, 20);
    const int columns = 8 * *rc::gen::inRange(1, 4);
    const int stride = columns + 8 * *rc::gen::inRange(0, 2);
    const int bits = *rc::gen::elementOf(std::vector{12, 15, 16, 24, 30, 31, 32});
    const bool saturates = *rc::gen::arbitrary<bool>();
    const bool with_start = *rc::gen::arbitrary<bool>();
    const std::int64_t span = std::int64_t{1} << (bits - 1);
    const auto least = static_cast<int>(-span);
    const auto most = static_cast<int>(span - 1);
    const auto values = random_values<std::int16_t>(random, rows * 2 * pairs, -32768, 32767);
    const auto weights = random_values<std::int16_t>(random, columns * 2 * pairs, -32768, 32767);
    const auto start = random_values<std::int32_t>(random, columns, least, most);
    const auto before = random_values<std::int32_t>(random, rows * stride, least, most);
    for (const RowKernels* kernels : builds) {
      std::vector<std::int32_t> sums = before;
      const std::int64_t overflows = kernels->multiply_narrow(
          values.data(), rows, {weights.data(), pairs, columns},
          with_start ? start.data() : nullptr, sums.data(), stride, bits, saturates);
      std::int64_t expected = 0;
      const auto add = [&](std::int64_t a, std::int64_t b) {
        std::int64_t sum = a + b;
        if (sum < -span || sum >= span) {
          ++expected;
          sum = saturates ? (sum < 0 ? -span : span - 1) : sum - 2 * span * (sum < 0 ? -1 : 1);
          while (sum < -span) sum += 2 * span;
          while (sum >= span) sum -= 2 * span;
        }
        return sum;
      };
      for (int row = 0; row < rows; ++row) {
        for (int n = 0; n < stride; ++n) {
          std::int64_t entry = before[row * stride + n];
          if (n < columns) {
            std::int64_t partial = 0;
            for (int k = 0; k < 2 * pairs; ++k) {
              partial = add(partial, std::int64_t{values[row * 2 * pairs + k]} *
                                         weights[(k / 2 * columns + n) * 2 + k % 2]);
            }
            entry = add(with_start ? start[n] : entry, partial);
          }
          RC_ASSERT(sums[row * stride + n] == entry);
        }
      }
      RC_ASSERT(overflows == expected);
    }
  }));
}

TEST_CASE("requantize_float equals the normative arithmetic for each column") {
  REQUIRE(rc::check([] {
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    const int columns = *rc::gen::inRange(1, 40);
    auto sums = random_values<std::int32_t>(random, columns, std::numeric_limits<int>::min(),
                                            std::numeric_limits<int>::max());
    std::vector<float> multiplier(static_cast<std::size_t>(columns));
    for (int n = 0; n < columns; ++n) {
      // Often an exact tie: an odd sum times one half.
      const bool tie = random() % 2 == 0;
      multiplier[n] = tie ? 0.5F : std::uniform_real_distribution<float>(1e-7F, 2)(random);
      if (tie) sums[n] = static_cast<int>(random() % 600) - 300;
    }
    const bool wide = *rc::gen::arbitrary<bool>();
    const int low = wide ? -32768 : *rc::gen::inRange(-128, 10);
    const int high = wide ? 32767 : *rc::gen::inRange(low, 128);
    const int zero_point = *rc::gen::inRange(wide ? -32768 : -128, wide ? 32768 : 128);
    for (const RowKernels* kernels : builds) {
      std::vector<std::int32_t> out(static_cast<std::size_t>(columns));
      kernels->requantize_float(sums.data(), multiplier.data(), columns, zero_point, low, high,
                                out.data());
      for (int n = 0; n < columns; ++n) {
        RC_ASSERT(out[n] ==
                  tilewave::quant::requantize_float(sums[n], multiplier[n], zero_point, low, high));
      }
    }
  }));
}

TEST_CASE("column_max takes the largest of each column") {
  const std::vector<std::int32_t> a = {1, -5, 7};
  const std::vector<std::int32_t> b = {2, -6, 7};
  const std::int32_t* rows[] = {a.data(), b.data()};
  for (const RowKernels* kernels : builds) {
    std::vector<std::int32_t> out(3);
    kernels->column_max(rows, 2, 3, out.data());
    CHECK(out == std::vector<std::int32_t>{2, -5, 7});
  }
}
