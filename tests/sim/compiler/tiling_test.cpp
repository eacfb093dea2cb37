#include "sim/compiler/tiling.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <random>

using namespace tilewave;
using namespace tilewave::sim;

namespace {

/// A matrix step with weights and what it points into.
struct Weights {
  Weights(std::int64_t kernel_pixels, std::int64_t in, std::int64_t out, std::int64_t groups)
      : in_channels(in), bias(static_cast<std::size_t>(out)) {
    std::mt19937 random(7);
    const std::int64_t k = kernel_pixels * in / groups;
    for (std::int64_t i = 0; i < out * k; ++i) {
      values.push_back(static_cast<std::int16_t>(static_cast<int>(random() % 255) - 127));
    }
    step.window.kernel_width = kernel_pixels;
    step.groups = groups;
    step.weight = &values;
    step.bias = &bias;
  }
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  std::int64_t in_channels;
  std::vector<std::int16_t> values;
  std::vector<std::int32_t> bias;
  MatrixStep step;
};

Array array_of(std::int64_t rows, std::int64_t cols) {
  Array array;
  array.rows = rows;
  array.cols = cols;
  return array;
}

/// {out_first, out_count, channel_first, channel_count} of each column tile.
using Cuts = std::vector<std::vector<std::int64_t>>;
Cuts cuts(const Weights& weights, const Array& array) {
  Cuts all;
  for (const ColumnTile& tile : tile_weights(weights.step, weights.in_channels, array)) {
    all.push_back({tile.out_first, tile.out_count, tile.channel_first, tile.channel_count});
  }
  return all;
}

std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

TEST_CASE("weights that do not divide evenly leave narrower tiles at the end") {
  const Weights weights(9, 5, 20, 1);
  CHECK(cuts(weights, array_of(16, 8)) == Cuts{{0, 8, 0, 5}, {8, 8, 0, 5}, {16, 4, 0, 5}});
  for (const ColumnTile& tile : tile_weights(weights.step, 5, array_of(16, 8))) {
    REQUIRE(tile.row_tiles.size() == 3);
    CHECK(tile.row_tiles[0].k_first == 0);
    CHECK(tile.row_tiles[1].k_first == 16);
    CHECK(tile.row_tiles[2].k_first == 32);
    CHECK(tile.row_tiles[2].k_count == 45 - 32);
  }
}

TEST_CASE("as many groups share a tile as fit in both directions") {
  // Depthwise 3 x 3: 9 weights of each channel.
  CHECK(cuts({9, 6, 6, 6}, array_of(32, 17)) == Cuts{{0, 3, 0, 3}, {3, 3, 3, 3}});
  CHECK(cuts({9, 6, 6, 6}, array_of(64, 2)) == Cuts{{0, 2, 0, 2}, {2, 2, 2, 2}, {4, 2, 4, 2}});
  CHECK(cuts({9, 5, 5, 5}, array_of(20, 17)) == Cuts{{0, 2, 0, 2}, {2, 2, 2, 2}, {4, 1, 4, 1}});
  // A group that is taller than the array has its tiles for itself.
  CHECK(cuts({9, 4, 6, 2}, array_of(8, 8)) == Cuts{{0, 3, 0, 2}, {3, 3, 2, 2}});
}

TEST_CASE("a group wider than the array is cut into equal planes that stay within it") {
  const Weights weights(1, 4, 20, 2);
  CHECK(cuts(weights, array_of(8, 4)).size() == 10);  // 2 divides 10, 3 and 4 do not
  CHECK(cuts(weights, array_of(8, 5)) ==
        Cuts{{0, 5, 0, 2}, {5, 5, 0, 2}, {10, 5, 2, 2}, {15, 5, 2, 2}});
  CHECK(cuts(weights, array_of(8, 1)).size() == 20);
}

TEST_CASE("useful weights are all but the zeros between groups") {
  Program program;
  const Weights weights(9, 6, 6, 6);
  const auto tiles = tile_weights(weights.step, 6, array_of(32, 17));
  add_tile(program, weights.step, 6, tiles[0], tiles[0].row_tiles[0]);
  CHECK(program.tiles[0].rows == 27);
  CHECK(program.tiles[0].cols == 3);
  CHECK(program.tiles[0].useful == 27);
  CHECK(program.weights.size() == 81);
}

TEST_CASE("the tiles' products add up to the grouped convolution, whatever the array") {
  REQUIRE(rc::check([] {
    const std::int64_t groups = *rc::gen::inRange(1, 7);
    const std::int64_t inputs = *rc::gen::inRange(1, 6);  // per group
    const std::int64_t outputs = *rc::gen::inRange(1, 8);
    const std::int64_t pixels = *rc::gen::inRange(1, 5);
    const Array array = array_of(*rc::gen::inRange(1, 40), *rc::gen::inRange(1, 20));
    const Weights weights(pixels, groups * inputs, groups * outputs, groups);
    std::mt19937 random(3);
    std::vector<std::int64_t> x(at(pixels * groups * inputs));
    for (auto& value : x) value = random() % 256;

    std::vector<std::int64_t> expected;
    for (std::int64_t out = 0; out < groups * outputs; ++out) {
      std::int64_t sum = 0;
      for (std::int64_t p = 0; p < pixels; ++p) {
        for (std::int64_t c = 0; c < inputs; ++c) {
          sum += x[at(p * groups * inputs + out / outputs * inputs + c)] *
                 weights.values[at((out * pixels + p) * inputs + c)];
        }
      }
      expected.push_back(sum);
    }

    Program program;
    std::vector<std::int64_t> got;
    std::int64_t useful = 0;
    for (const ColumnTile& tile : tile_weights(weights.step, weights.in_channels, array)) {
      RC_ASSERT(at(tile.out_first) == got.size());
      RC_ASSERT(tile.out_count <= array.cols);
      got.resize(got.size() + at(tile.out_count), 0);
      for (const RowTile& rows : tile.row_tiles) {
        RC_ASSERT(rows.k_count <= array.rows);
        add_tile(program, weights.step, weights.in_channels, tile, rows);
        const Tile& made = program.tiles.back();
        useful += made.useful;
        for (std::int64_t k = 0; k < rows.k_count; ++k) {
          const std::int64_t place = rows.k_first + k;
          const std::int64_t value = x[at(place / tile.channel_count * groups * inputs +
                                          tile.channel_first + place % tile.channel_count)];
          for (std::int64_t n = 0; n < tile.out_count; ++n) {
            got[at(tile.out_first + n)] +=
                value * program.weights[at(made.offset + k * made.cols + n)];
          }
        }
      }
    }
    RC_ASSERT(got == expected);
    RC_ASSERT(at(useful) == weights.values.size());
  }));
}
