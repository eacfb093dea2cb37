// systemc/pe's array against the same array in SystemVerilog, register by register, each clock.

#include <RtlArray5x3.h>
#include <RtlArray8x8.h>
#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "sim/systemc/pe_array.h"

using namespace tilewave;
using namespace tilewave::sim;
using systemc::PeArray;

namespace {

constexpr std::int64_t kTiles = 5;

/// What should happen in a clock, if it can: a tile in the FIFO to shift in, a row to enter, and
/// whether the row is the first for the tile that is in the shadow plane.
struct Wish {
  bool shifts_in = false, enters = false, swaps = false;
};

std::ostream& operator<<(std::ostream& out, const Wish& wish) {
  return out << (wish.shifts_in ? "shift-in " : "") << (wish.enters ? "row " : "")
             << (wish.swaps ? "swap" : "");
}

rc::Gen<Wish> wishes() {
  return rc::gen::build<Wish>(rc::gen::set(&Wish::shifts_in), rc::gen::set(&Wish::enters),
                              rc::gen::set(&Wish::swaps));
}

std::vector<std::int16_t> random_values(std::int64_t count, std::mt19937& random) {
  std::vector<std::int16_t> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<std::int16_t>(static_cast<int>(random() % 256) - 128));
  }
  return values;
}

/// Tiles of all sizes that fit, with random weights.
Program random_tiles(std::int64_t rows, std::int64_t cols, std::mt19937& random) {
  Program program;
  for (std::int64_t i = 0; i < kTiles; ++i) {
    const bool is_full = random() % 2 == 0;
    Tile tile;
    tile.rows = is_full ? rows : 1 + random() % rows;
    tile.cols = is_full ? cols : 1 + random() % cols;
    tile.offset = static_cast<std::int64_t>(program.weights.size());
    const std::vector<std::int16_t> weights = random_values(tile.rows * tile.cols, random);
    program.weights.insert(program.weights.end(), weights.begin(), weights.end());
    program.tiles.push_back(tile);
  }
  return program;
}

/// Both arrays, with the control that gives both the same tiles and rows.
template <typename Rtl, std::int64_t rows, std::int64_t cols>
class Pair {
 public:
  explicit Pair(std::uint32_t seed)
      : random_(seed), program_(random_tiles(rows, cols, random_)), array_(chip(), program_) {
    rtl_.clk = 0;
    rtl_.eval();
  }

  /// One clock of both. Nothing more is asked of either than that a tile is complete before it is
  /// used, and used before the next one comes; that one may begin in the clock of the swap.
  void clock(const Wish& wish) {
    const bool swaps = wish.enters && wish.swaps && shadow_is_full_ && rows_to_shift_ == 0;
    if (swaps) begin_multiply();
    if (wish.shifts_in && !shadow_is_full_) begin_shift_in();
    put_weights();
    put_row(wish.enters && !multiplies_.empty(), swaps);
    rtl_.clk = 1;
    rtl_.eval();
    rtl_.clk = 0;
    rtl_.eval();
  }

  /// Registers that differ; empty if none do.
  std::string differences() const {
    std::ostringstream text;
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t col = 0; col < cols; ++col) {
        const auto compare = [&](const char* name, std::int32_t expected, Register reg) {
          const std::int32_t actual =
              array_.read(reg, static_cast<std::int64_t>(row), static_cast<std::int64_t>(col));
          if (expected == actual) return;
          text << "pe_" << row << "_" << col << "." << name << ": " << expected << " / " << actual
               << "\n";
        };
        compare("activation", signed8(rtl_.activation[row][col]), Register::activation);
        compare("weight", signed8(rtl_.weight[row][col]), Register::weight);
        compare("shadow", signed8(rtl_.shadow[row][col]), Register::shadow);
        compare("psum", static_cast<std::int32_t>(rtl_.psum[row][col]), Register::psum);
      }
    }
    return text.str();
  }
  std::size_t multiplies() const { return multiplies_.size(); }

 private:
  static Chip chip() {
    Chip chip;
    chip.array.rows = rows;
    chip.array.cols = cols;
    return chip;
  }
  static std::int8_t signed8(CData value) { return static_cast<std::int8_t>(value); }
  static CData bits8(std::int16_t value) { return static_cast<CData>(value & 0xff); }

  void begin_shift_in() {
    shadow_tile_ = &program_.tiles[random_() % kTiles];
    rows_to_shift_ = rows;
    shadow_is_full_ = true;
    array_.begin_shift_in(*shadow_tile_);
  }

  void begin_multiply() {
    multiplies_.emplace_back().tile = shadow_tile_;
    shadow_is_full_ = false;
    array_.begin_swap();
  }

  void put_weights() {
    top_ = {};
    rtl_.weights_valid_in = rows_to_shift_ > 0;
    if (rows_to_shift_ == 0) return;
    const std::int64_t row = --rows_to_shift_;
    rtl_.weights_row_in = static_cast<CData>(row);
    const Tile& tile = *shadow_tile_;
    if (row < tile.rows) {
      top_ = {program_.weights.data() + tile.offset + row * tile.cols, tile.cols};
    }
    for (std::int64_t col = 0; col < cols; ++col) {
      const bool is_used = row < tile.rows && col < tile.cols;
      const std::int64_t at = is_used ? tile.offset + row * tile.cols + col : 0;
      rtl_.weights_in[static_cast<std::size_t>(col)] =
          is_used ? bits8(program_.weights[static_cast<std::size_t>(at)]) : CData{0};
    }
  }

  void put_row(bool enters, bool swaps) {
    PeArray::Entry entry;
    std::vector<std::int16_t> values(static_cast<std::size_t>(rows));
    if (enters) {
      entry.multiply = &multiplies_.back();
      entry.is_last_pass = true;
      values = random_values(entry.multiply->tile->rows, random_);
      values.resize(static_cast<std::size_t>(rows));
    }
    rtl_.swap_in = swaps;
    for (std::size_t row = 0; row < values.size(); ++row) {
      rtl_.activation_in[row] = bits8(values[row]);
    }
    array_.clock(entry, values.data(), top_);
  }

  std::mt19937 random_;
  Program program_;
  PeArray array_;
  Rtl rtl_;
  const Tile* shadow_tile_ = nullptr;
  bool shadow_is_full_ = false;  ///< or on the way to be
  std::int64_t rows_to_shift_ = 0;
  PeArray::Values top_;               ///< of the weights that enter in this clock
  std::deque<Operation> multiplies_;  ///< all so far, since their rows may still be in the array
};

using Pair8x8 = Pair<RtlArray8x8, 8, 8>;
using Pair5x3 = Pair<RtlArray5x3, 5, 3>;

}  // namespace

TEMPLATE_TEST_CASE("registers are those of the SystemVerilog array in every clock", "", Pair8x8,
                   Pair5x3) {
  REQUIRE(rc::check([](std::uint32_t seed) {
    TestType pair(seed);
    for (const Wish& wish : *rc::gen::container<std::vector<Wish>>(wishes())) {
      pair.clock(wish);
      const std::string found = pair.differences();
      RC_LOG() << found;
      RC_ASSERT(found.empty());
    }
  }));
}

TEMPLATE_TEST_CASE("registers are those of the SystemVerilog array when nothing waits", "", Pair8x8,
                   Pair5x3) {
  TestType pair(1);
  for (int i = 0; i < 200; ++i) {
    pair.clock({true, true, true});
    REQUIRE(pair.differences() == "");
  }
  CHECK(pair.multiplies() >= 20);
}
