// Output- and input-stationary against the closed forms of docs/timing.md and against cycles
// counted by hand, on both matrix units. The other engine has no part in it.

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/engine.h"
#include "tests/support/hand_program.h"

using namespace tilewave;
using namespace tilewave::sim;
using test::frictionless_chip;

namespace {

Chip chip_of(Dataflow dataflow, std::int64_t rows, std::int64_t cols, bool is_double_buffered) {
  Chip chip = frictionless_chip(rows, cols);
  chip.array.dataflow = dataflow;
  chip.array.double_buffered_weights = is_double_buffered;
  return chip;
}

Program chain_of(Dataflow dataflow, std::int64_t rows, std::int64_t cols, std::int64_t batch,
                 std::int64_t tiles) {
  Program program = test::tile_chain(rows, cols, batch, tiles);
  program.dataflow = dataflow;
  return program;
}

/// The slices of one unit, in the order of their starts.
struct Traced {
  RunResult result;
  std::vector<Slice> of(Unit unit) const {
    std::vector<Slice> slices;
    for (const Slice& slice : result.trace) {
      if (slice.unit == unit) slices.push_back(slice);
    }
    std::sort(slices.begin(), slices.end(),
              [](const Slice& a, const Slice& b) { return a.start < b.start; });
    return slices;
  }
};

Traced run(MatrixUnit unit, const Chip& chip, const Program& program) {
  RunOptions options;
  options.trace = true;
  return {make_systemc(unit)->time(chip, program, 1, options)};
}

/// From the first thing that the matrix unit does to its last result.
Cycles array_cycles(MatrixUnit unit, const Chip& chip, const Program& program) {
  const Traced traced = run(unit, chip, program);
  Cycles first = traced.result.cycles;
  Cycles last = 0;
  for (const Slice& slice : traced.result.trace) {
    if (slice.unit != Unit::weight_shift && slice.unit != Unit::matrix) continue;
    first = std::min(first, slice.start);
    last = std::max(last, slice.done);
  }
  return last - first;
}

struct Size {
  std::int64_t rows, cols, stream;  ///< `stream`: T, what passes the array in a multiply
};
/// T is at most C where channels stream.
const std::vector<Size> kSizes = {{1, 1, 1},  {4, 4, 1},    {8, 8, 8},   {5, 3, 2},
                                  {3, 5, 4},  {9, 2, 1},    {12, 20, 7}, {20, 12, 12},
                                  {2, 17, 9}, {33, 17, 17}, {17, 33, 5}};
const std::vector<std::int64_t> kCounts = {1, 2, 5};

std::string text(const Slice& slice) {
  return std::to_string(slice.start) + " to " + std::to_string(slice.end) + ", " +
         std::to_string(slice.done);
}

std::vector<std::string> texts(const std::vector<Slice>& slices) {
  std::vector<std::string> all;
  for (const Slice& slice : slices) all.push_back(text(slice));
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("n output-stationary folds without double buffering take n (2R + C + T - 2) cycles") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  for (const auto& [rows, cols, stream] : kSizes) {
    for (const std::int64_t n : kCounts) {
      for (const std::int64_t pixels : {std::int64_t{1}, rows}) {  // it does not matter how many
        CAPTURE(rows, cols, stream, n, pixels);
        const auto flow = Dataflow::output_stationary;
        CHECK(array_cycles(unit, chip_of(flow, rows, cols, false),
                           chain_of(flow, stream, cols, pixels, n)) ==
              n * (2 * rows + cols + stream - 2));
      }
    }
  }
}

TEST_CASE("n double-buffered folds take (n - 1) max(T, R) + 2R + C + T - 2 cycles") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  for (const auto& [rows, cols, stream] : kSizes) {
    for (const std::int64_t n : kCounts) {
      CAPTURE(rows, cols, stream, n);
      const auto flow = Dataflow::output_stationary;
      CHECK(array_cycles(unit, chip_of(flow, rows, cols, true),
                         chain_of(flow, stream, cols, rows, n)) ==
            (n - 1) * std::max(stream, rows) + 2 * rows + cols + stream - 2);
    }
  }
}

TEST_CASE("n loads of inputs without double buffering take n (2R + C + T - 2) cycles") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  for (const auto& [rows, cols, stream] : kSizes) {
    for (const std::int64_t n : kCounts) {
      for (const std::int64_t pixels : {std::int64_t{1}, cols}) {
        CAPTURE(rows, cols, stream, n, pixels);
        const auto flow = Dataflow::input_stationary;
        CHECK(array_cycles(unit, chip_of(flow, rows, cols, false),
                           chain_of(flow, rows, stream, pixels, n)) ==
              n * (2 * rows + cols + stream - 2));
      }
    }
  }
}

TEST_CASE("n double-buffered loads take R + (n - 1) max(T, R) + T + R + C - 2 cycles") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  for (const auto& [rows, cols, stream] : kSizes) {
    for (const std::int64_t n : kCounts) {
      CAPTURE(rows, cols, stream, n);
      const auto flow = Dataflow::input_stationary;
      CHECK(array_cycles(unit, chip_of(flow, rows, cols, true),
                         chain_of(flow, rows, stream, cols, n)) ==
            rows + (n - 1) * std::max(stream, rows) + stream + rows + cols - 2);
    }
  }
}

TEST_CASE("an output-stationary step takes as long as passes, port and gathering ask") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  const auto flow = Dataflow::output_stationary;
  const auto [activation_bits, weight_bits, row_bytes, gather_rate, interval] =
      GENERATE(table<int, int, std::int64_t, double, Cycles>({{8, 8, 100, 1, 1},
                                                              {8, 16, 100, 1, 2},
                                                              {16, 16, 100, 1, 4},
                                                              {8, 8, 1, 1, 3},   // 3 pixels
                                                              {16, 8, 1, 1, 6},  // of 2 bytes
                                                              {16, 8, 4, 1, 2},
                                                              {8, 8, 100, 0.2, 5}}));
  CAPTURE(activation_bits, weight_bits, row_bytes, gather_rate);
  Chip chip = chip_of(flow, 4, 2, true);
  chip.precision.activation_bits = activation_bits;
  chip.precision.weight_bits = weight_bits;
  chip.unified_buffer.row_bytes = row_bytes;
  chip.systolic_data_setup.gather_rows_per_cycle = gather_rate;
  Program program = chain_of(flow, 5, 2, 3, 1);
  program.activation_format.bits = activation_bits;
  program.weight_format.bits = weight_bits;
  if (activation_bits == 16) {
    program.unified_buffer_peak *= 2;
    for (Instruction& i : program.instructions) {
      i.row_bytes *= 2;
      i.stride *= 2;
      i.stride_b *= 2;
      if (i.opcode != Opcode::matmul) i.unified_buffer *= 2;
    }
  }
  const Slice multiply = run(unit, chip, program).of(Unit::matrix).front();
  CHECK(multiply.end - multiply.start == 5 * interval);
  const Cycles passes = chip.passes();
  CHECK(multiply.done - multiply.start == 4 * interval + passes - 1 + 2 * 4 + 2 - 1);
}

TEST_CASE("a load of inputs takes R times what port and gathering ask for a row of pixels") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  const auto flow = Dataflow::input_stationary;
  const auto [row_bytes, gather_rate, interval] = GENERATE(table<std::int64_t, double, Cycles>(
      {{100, 1, 1}, {3, 1, 1}, {2, 1, 2}, {1, 1, 3}, {1, 0.25, 4}, {100, 0.5, 2}}));
  CAPTURE(row_bytes, gather_rate);
  Chip chip = chip_of(flow, 5, 4, true);
  chip.unified_buffer.row_bytes = row_bytes;
  chip.systolic_data_setup.gather_rows_per_cycle = gather_rate;
  const Traced traced = run(unit, chip, chain_of(flow, 2, 4, 3, 1));
  const Slice load = traced.of(Unit::weight_shift).front();
  const Slice multiply = traced.of(Unit::matrix).front();
  CHECK(load.end - load.start == 5 * interval);
  // Weights come from beside the array, a column every cycle.
  CHECK(texts({multiply}) ==
        Texts{text({Unit::matrix, 0, 0, load.end, load.end + 4, load.end + 3 + 5 + 4 - 1})});
}
