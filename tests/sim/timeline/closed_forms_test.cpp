// The closed forms of docs/timing.md, on chips where nothing but the array takes time.

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "sim/compiler/compiler.h"
#include "sim/engine.h"
#include "tests/support/hand_program.h"

namespace {

using tilewave::Cycles;
using namespace tilewave::sim;
using tilewave::test::frictionless_chip;
using tilewave::test::tile_chain;

/// Cycles from the start of the first shift-in, load or multiply to the last result.
Cycles shift_to_result(const Chip& chip, const Program& program) {
  RunOptions options;
  options.trace = true;
  const RunResult result = make_timeline()->time(chip, program, 1, options);
  Cycles first = result.cycles;
  Cycles last = 0;
  for (const Slice& slice : result.trace) {
    if (slice.unit == Unit::weight_shift || slice.unit == Unit::matrix) {
      first = std::min(first, slice.start);
    }
    if (slice.unit == Unit::matrix) last = std::max(last, slice.done);
  }
  return last - first;
}

struct Size {
  std::int64_t rows, cols, batch;
};

const std::vector<Size> kSizes = {{1, 1, 1},   {4, 4, 1},     {8, 8, 100},     {5, 3, 4},
                                  {3, 5, 2},   {12, 20, 7},   {20, 12, 20},    {33, 17, 40},
                                  {17, 33, 1}, {128, 64, 17}, {256, 256, 200}, {256, 256, 256}};

}  // namespace

TEST_CASE("one cold tile takes R + B + R + C - 2 cycles from shift-in to the last result") {
  for (const auto& [rows, cols, batch] : kSizes) {
    CAPTURE(rows, cols, batch);
    CHECK(shift_to_result(frictionless_chip(rows, cols), tile_chain(rows, cols, batch, 1)) ==
          rows + batch + rows + cols - 2);
  }
}

TEST_CASE("n double-buffered tiles take R + (n - 1) max(B, R) + B + R + C - 2 cycles") {
  for (const auto& [rows, cols, batch] : kSizes) {
    for (const std::int64_t n : {2, 3, 9}) {
      CAPTURE(rows, cols, batch, n);
      CHECK(shift_to_result(frictionless_chip(rows, cols), tile_chain(rows, cols, batch, n)) ==
            rows + (n - 1) * std::max(batch, rows) + batch + rows + cols - 2);
    }
  }
}

TEST_CASE("n tiles without double buffering take n (2R + C + B - 2) cycles") {
  for (const auto& [rows, cols, batch] : kSizes) {
    for (const std::int64_t n : {1, 2, 9}) {
      CAPTURE(rows, cols, batch, n);
      Chip chip = frictionless_chip(rows, cols);
      chip.array.double_buffered_weights = false;
      CHECK(shift_to_result(chip, tile_chain(rows, cols, batch, n)) ==
            n * (2 * rows + cols + batch - 2));
    }
  }
}

TEST_CASE("a memory-bound stream takes ceil(tile bytes / bandwidth) cycles per tile") {
  Chip chip = frictionless_chip(256, 256);
  chip.weight_memory.bandwidth = 34'000'000'000;
  const Cycles few = make_timeline()->time(chip, tile_chain(256, 256, 8, 10), 1).cycles;
  const Cycles more = make_timeline()->time(chip, tile_chain(256, 256, 8, 11), 1).cycles;
  CHECK(more - few == 1350);  // ceil(65536 * 700 MHz / 34 GB/s) = ceil(1349.27)
}

namespace {

/// One convolution without padding, all weights zero.
tilewave::quant::QuantizedGraph convolution(std::int64_t side, std::int64_t channels,
                                            std::int64_t kernel, std::int64_t stride,
                                            std::int64_t filters) {
  using namespace tilewave::quant;
  const std::int64_t out = (side - kernel) / stride + 1;
  QConv conv;
  conv.window.kernel_height = conv.window.kernel_width = kernel;
  conv.window.stride_height = conv.window.stride_width = stride;
  conv.weight.assign(static_cast<std::size_t>(filters * kernel * kernel * channels), 0);
  conv.bias.assign(static_cast<std::size_t>(filters), 0);
  conv.weight_scale.assign(static_cast<std::size_t>(filters), 1.0F);
  conv.requantizer.multiplier.assign(static_cast<std::size_t>(filters), 1.0F);
  QuantizedGraph graph;
  graph.name = "conv";
  graph.nodes.push_back({"image", QInput{}, {}, {side, side, channels}, {}});
  graph.nodes.push_back({"conv", conv, {0}, {out, out, filters}, {}});
  return graph;
}

struct AlexNetLayer {
  std::int64_t side, channels, kernel, stride, filters;
  Cycles at_128, at_32;  ///< SCALE-Sim v3's figures where docs/timing.md has them, else 0
};

const std::vector<AlexNetLayer> kAlexNet = {{227, 3, 11, 4, 96, 10220, 112283},
                                            {27, 96, 5, 1, 256, 0, 0},
                                            {13, 256, 3, 1, 384, 0, 0},
                                            {13, 384, 3, 1, 384, 40742, 278639},
                                            {13, 384, 3, 1, 256, 0, 0}};

}  // namespace

TEST_CASE("AlexNet's convolutions take SCALE-Sim v3's weight-stationary cycles plus one each") {
  for (const std::int64_t side : {128, 32}) {
    Chip chip = frictionless_chip(side, side);
    chip.array.double_buffered_weights = false;
    Cycles sum = 0;
    for (const AlexNetLayer& layer : kAlexNet) {
      const auto graph =
          convolution(layer.side, layer.channels, layer.kernel, layer.stride, layer.filters);
      // It reports the index of the last cycle.
      const Cycles cycles = shift_to_result(chip, compile(graph, chip, 1)) - 1;
      const Cycles published = side == 128 ? layer.at_128 : layer.at_32;
      if (published != 0) CHECK(cycles == published);
      sum += cycles;
    }
    CHECK(sum == (side == 128 ? 139901 : 1136239));
  }
}

namespace {

/// Cycles of each of AlexNet's convolutions on a square array whose folds do not overlap, as SCALE-
/// Sim v3 schedules them: the rows of its demand matrices. Measured with it.
struct OutsideCycles {
  Dataflow dataflow;
  std::int64_t side;
  std::array<Cycles, 5> cycles;
};
const std::vector<OutsideCycles> kOutside = {
    {Dataflow::output_stationary, 128, {14808, 26540, 7674, 11130, 7420}},
    {Dataflow::output_stationary, 32, {121125, 334832, 113568, 168864, 112576}},
    {Dataflow::input_stationary, 128, {34416, 60610, 13788, 20682, 17226}},
    {Dataflow::input_stationary, 32, {216600, 446250, 137664, 206496, 151200}}};

}  // namespace

TEST_CASE("AlexNet's convolutions take SCALE-Sim v3's cycles, and R per fold for sums to drain") {
  for (const OutsideCycles& outside : kOutside) {
    Chip chip = frictionless_chip(outside.side, outside.side);
    chip.array.dataflow = outside.dataflow;
    chip.array.double_buffered_weights = false;
    for (std::size_t i = 0; i < kAlexNet.size(); ++i) {
      CAPTURE(static_cast<int>(outside.dataflow), outside.side, i);
      const AlexNetLayer& layer = kAlexNet[i];
      const auto graph =
          convolution(layer.side, layer.channels, layer.kernel, layer.stride, layer.filters);
      const Cycles cycles = shift_to_result(chip, compile(graph, chip, 1));
      // It has every sum leave the array from its PE; here the first row's passes R PEs.
      const std::int64_t out = (layer.side - layer.kernel) / layer.stride + 1;
      const std::int64_t folds = tilewave::ceil_div(out * out, outside.side) *
                                 tilewave::ceil_div(layer.filters, outside.side);
      const bool drains = outside.dataflow == Dataflow::output_stationary;
      CHECK(cycles - (drains ? folds * outside.side : 0) == outside.cycles[i]);
    }
  }
}
