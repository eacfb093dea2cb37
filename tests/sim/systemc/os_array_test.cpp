// The output-stationary array against a naive product, and each sum's way out against the cycle
// that docs/timing.md gives it.

#include "sim/systemc/os_array.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <tuple>

#include "base/error.h"

using namespace tilewave;
using namespace tilewave::sim;
using systemc::OsArray;

namespace {

/// A product of `pixels` rows by T steps by `cols` columns, with room for the array's pointers.
struct Fold {
  Tile tile;
  Operation multiply;
  std::vector<std::int16_t> activations;  ///< [steps][pixels]
  std::vector<std::int16_t> weights;      ///< [steps][cols]

  std::int64_t sum(std::int64_t pixel, std::int64_t column) const {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < tile.rows; ++k) {
      sum +=
          std::int64_t{
              activations[static_cast<std::size_t>(k * multiply.instruction.rows + pixel)]} *
          weights[static_cast<std::size_t>(k * tile.cols + column)];
    }
    return sum;
  }
};

std::int16_t random_value(int bits) {
  const int most = (1 << (bits - 1)) - 1;
  return static_cast<std::int16_t>(*rc::gen::inRange(-most, most + 1));
}

std::unique_ptr<Fold> random_fold(const Chip& chip, std::int64_t steps) {
  auto fold = std::make_unique<Fold>();
  fold->tile.rows = steps;
  fold->tile.cols = *rc::gen::inRange<std::int64_t>(1, chip.array.cols + 1);
  fold->multiply.tile = &fold->tile;
  fold->multiply.instruction.rows =
      *rc::gen::inRange<std::uint32_t>(1, static_cast<std::uint32_t>(chip.array.rows) + 1);
  for (std::int64_t i = 0; i < steps * fold->multiply.instruction.rows; ++i) {
    fold->activations.push_back(random_value(chip.precision.activation_bits));
  }
  for (std::int64_t i = 0; i < steps * fold->tile.cols; ++i) {
    fold->weights.push_back(random_value(chip.precision.weight_bits));
  }
  return fold;
}

/// What left the array: by fold, row and column, in which clock and with what sum.
using Left = std::map<std::tuple<const Operation*, std::int64_t, std::int64_t>,
                      std::pair<std::int64_t, std::int32_t>>;

class Bench {
 public:
  explicit Bench(const Chip& chip) : passes_(chip.passes()), array_(chip) {}

  void idle(std::int64_t clocks) {
    for (; clocks > 0; --clocks) clock({}, nullptr, nullptr);
  }
  /// The steps of a fold, one every `interval` clocks.
  void enter(const Fold& fold, std::int64_t interval) {
    for (std::int64_t k = 0; k < fold.tile.rows; ++k) {
      for (int pass = 0; pass < passes_; ++pass) {
        clock({&fold.multiply, pass, pass == passes_ - 1, k == 0, k == fold.tile.rows - 1},
              fold.activations.data() + k * fold.multiply.instruction.rows,
              fold.weights.data() + k * fold.tile.cols);
      }
      idle(interval - passes_);
    }
  }
  std::int64_t now() const { return now_; }
  const Left& left() const { return left_; }
  bool is_quiet() const { return array_.is_quiet(); }

 private:
  void clock(const OsArray::Entry& entry, const std::int16_t* activations,
             const std::int16_t* weights) {
    array_.clock(entry, activations, weights);
    array_.for_each_leaving(
        [&](const Operation& multiply, std::int64_t row, std::int64_t column, std::int32_t sum) {
          const bool is_new = left_.insert({{&multiply, row, column}, {now_, sum}}).second;
          TILEWAVE_CHECK(is_new, ==, true, "a sum leaves once");
        });
    ++now_;
  }

  int passes_;
  OsArray array_;
  std::int64_t now_ = 0;
  Left left_;
};

Chip array(std::int64_t rows, std::int64_t cols, bool is_double_buffered) {
  Chip chip;
  chip.array.rows = rows;
  chip.array.cols = cols;
  chip.array.double_buffered_weights = is_double_buffered;
  return chip;
}

}  // namespace

TEST_CASE("every sum of random folds in a row is right and leaves in its cycle") {
  REQUIRE(rc::check([] {
    Chip chip =
        array(*rc::gen::inRange(1, 9), *rc::gen::inRange(1, 9), *rc::gen::arbitrary<bool>());
    chip.precision.activation_bits = *rc::gen::element(4, 8, 16);
    chip.precision.weight_bits = *rc::gen::element(8, 16);
    const std::int64_t rows = chip.array.rows, cols = chip.array.cols;
    const std::int64_t passes = chip.passes();
    Bench bench(chip);
    std::vector<std::unique_ptr<Fold>> folds;
    std::vector<std::int64_t> last_passes;  // when each fold's last pass enters
    const int count = *rc::gen::inRange(1, 5);
    for (int i = 0; i < count; ++i) {
      folds.push_back(random_fold(chip, *rc::gen::inRange<std::int64_t>(1, 12)));
      const Fold& fold = *folds.back();
      const std::int64_t interval = passes + *rc::gen::inRange(0, 3);
      const std::int64_t to_last = (fold.tile.rows - 1) * interval + passes - 1;
      if (i > 0) {
        const std::int64_t earliest = chip.array.double_buffered_weights
                                          ? last_passes.back() + rows - to_last
                                          : last_passes.back() + 2 * rows + cols - 1;
        bench.idle(earliest - bench.now());
      }
      last_passes.push_back(bench.now() + to_last);
      bench.enter(fold, interval);
    }
    bench.idle(2 * rows + cols);
    RC_ASSERT(bench.is_quiet());
    RC_ASSERT(bench.left().size() == static_cast<std::size_t>(count * rows * cols));
    for (std::size_t i = 0; i < folds.size(); ++i) {
      const Fold& fold = *folds[i];
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < cols; ++column) {
          const auto [clock, sum] = bench.left().at({&fold.multiply, row, column});
          RC_ASSERT(clock == last_passes[i] + 2 * rows - 1 - row + column);
          const bool is_used = row < fold.multiply.instruction.rows && column < fold.tile.cols;
          RC_ASSERT(sum == (is_used ? static_cast<std::int32_t>(fold.sum(row, column)) : 0));
        }
      }
    }
  }));
}

TEST_CASE("a fold of 2 x 3 PEs and 4 steps: the cycle of each sum, by hand") {
  // The last step enters in cycle 3. PE (1, 0) adds its last product in cycle 4 and its sum leaves
  // in cycle 5, the one above it in cycle 6; each column follows a cycle after the one before it.
  const Chip chip = array(2, 3, false);
  Fold fold;
  fold.tile = {4, 3, 0, 12};
  fold.multiply.tile = &fold.tile;
  fold.multiply.instruction.rows = 2;
  fold.activations.assign(8, 1);
  fold.weights = {1, 2, 3, 10, 20, 30, 100, 200, 300, 1000, 2000, 3000};
  Bench bench(chip);
  bench.enter(fold, 1);
  bench.idle(8);
  const auto left = [&](std::int64_t row, std::int64_t column) {
    return bench.left().at({&fold.multiply, row, column});
  };
  CHECK(left(1, 0) == std::pair<std::int64_t, std::int32_t>{5, 1111});
  CHECK(left(0, 0) == std::pair<std::int64_t, std::int32_t>{6, 1111});
  CHECK(left(1, 1) == std::pair<std::int64_t, std::int32_t>{6, 2222});
  CHECK(left(0, 1) == std::pair<std::int64_t, std::int32_t>{7, 2222});
  CHECK(left(1, 2) == std::pair<std::int64_t, std::int32_t>{7, 3333});
  CHECK(left(0, 2) == std::pair<std::int64_t, std::int32_t>{8, 3333});  // 2R + C + T - 2 in all
}

TEST_CASE("sums saturate or wrap at every addition") {
  Chip chip = array(1, 1, true);
  chip.precision.accumulator_bits = 12;  // -2048 to 2047
  chip.precision.overflow = GENERATE(Overflow::saturate, Overflow::wrap);
  chip.precision.activation_bits = GENERATE(8, 16);  // in one pass or two
  Fold fold;
  fold.tile = {3, 1, 0, 3};
  fold.multiply.tile = &fold.tile;
  fold.multiply.instruction.rows = 1;
  fold.activations = {100, 100, 100};
  fold.weights = {20, 20, -1};
  Bench bench(chip);
  bench.enter(fold, chip.passes());
  bench.idle(3);
  const std::int32_t sum = bench.left().at({&fold.multiply, 0, 0}).second;
  CHECK(sum == (chip.precision.overflow == Overflow::saturate ? 2047 - 100 : 4000 - 4096 - 100));
}

TEST_CASE("a fold too early for its drain registers is noticed") {
  const bool is_double_buffered = GENERATE(false, true);
  const Chip chip = array(3, 1, is_double_buffered);
  Fold fold;
  fold.tile = {1, 1, 0, 1};
  fold.multiply.tile = &fold.tile;
  fold.multiply.instruction.rows = 1;
  fold.activations = {1};
  fold.weights = {1};
  // The last sum of three leaves in cycle 5 of one register, and its second register is free for
  // a last step from cycle 3 on.
  const std::int64_t earliest = is_double_buffered ? 3 : 6;
  Bench early(chip);
  early.enter(fold, 1);
  early.idle(earliest - 2);
  CHECK_THROWS_AS(early.enter(fold, 1), InternalError);
  Bench on_time(chip);
  Fold second = fold;
  second.multiply.tile = &second.tile;
  on_time.enter(fold, 1);
  on_time.idle(earliest - 1);
  CHECK_NOTHROW(on_time.enter(second, 1));
}
