// Closed forms of the output-stationary and the input-stationary array (docs/timing.md), and which
// of their conditions a multiply waits for.

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/sim/timeline/traced_run.h"
#include "tests/support/hand_program.h"

using namespace tilewave;
using namespace tilewave::sim;
using tilewave::test::frictionless_chip;
using tilewave::test::trace;
using tilewave::test::TracedRun;

namespace {

/// A chain of folds: `pixels` rows, each times `count` tiles of `k` x `channels`.
struct Folds {
  std::int64_t rows, cols;  ///< of the array
  std::int64_t pixels, k, channels;
  std::int64_t count = 1;
  int activation_bits = 8, weight_bits = 8;
};

Chip chip_for(Dataflow dataflow, const Folds& folds) {
  Chip chip = frictionless_chip(folds.rows, folds.cols);
  chip.array.dataflow = dataflow;
  chip.precision.activation_bits = folds.activation_bits;
  chip.precision.weight_bits = folds.weight_bits;
  return chip;
}

Program program_for(Dataflow dataflow, const Folds& folds) {
  Program program = test::tile_chain(folds.k, folds.channels, folds.pixels, folds.count);
  program.dataflow = dataflow;
  program.activation_format.bits = program.input.quantization.format.bits =
      program.output.quantization.format.bits = folds.activation_bits;
  program.weight_format.bits = folds.weight_bits;
  const auto bytes = static_cast<std::uint32_t>(program.activation_format.bytes());
  for (Instruction& i : program.instructions) {
    for (std::uint32_t* size : {&i.row_bytes, &i.stride, &i.stride_b, &i.unified_buffer}) {
      *size *= bytes;
    }
  }
  return program;
}

Cycles last_result(const TracedRun& run) {
  Cycles last = 0;
  for (const Slice& slice : run.result.trace) {
    if (slice.unit == Unit::matrix) last = std::max(last, slice.done);
  }
  return last;
}

/// Cycles from the first one in which the array takes something in to the last result.
Cycles folds_take(const Chip& chip, Dataflow dataflow, const Folds& folds) {
  const TracedRun run = trace(chip, program_for(dataflow, folds));
  const Unit first = dataflow == Dataflow::input_stationary ? Unit::weight_shift : Unit::matrix;
  return last_result(run) - run.at(first).start;
}
Cycles folds_take(Dataflow dataflow, const Folds& folds, bool is_double_buffered) {
  Chip chip = chip_for(dataflow, folds);
  chip.array.double_buffered_weights = is_double_buffered;
  return folds_take(chip, dataflow, folds);
}

constexpr Dataflow kOutput = Dataflow::output_stationary;
constexpr Dataflow kInput = Dataflow::input_stationary;

// Arrays of any shape, contractions shorter and longer than them, pixels fewer than rows.
const std::vector<Folds> kOutputFolds = {
    {1, 1, 1, 1, 1}, {4, 4, 4, 7, 4},    {5, 3, 2, 1, 3},     {3, 5, 3, 20, 5},
    {8, 8, 8, 8, 8}, {12, 20, 7, 9, 11}, {33, 17, 33, 40, 1}, {17, 33, 1, 100, 33}};
const std::vector<Folds> kInputFolds = {{1, 1, 1, 1, 1},      {4, 4, 4, 4, 4},   {5, 3, 2, 5, 3},
                                        {3, 5, 5, 2, 4},      {8, 8, 8, 8, 1},   {12, 20, 7, 9, 20},
                                        {33, 17, 17, 33, 17}, {17, 33, 1, 1, 30}};

/// In assembly text: 4 pixels of 9 values, an array of 4 x 5.
std::string assembly(const std::string& dataflow, const std::string& body) {
  const auto ones = [](std::int64_t rows) {
    std::string text = "[[1,1,1]";
    for (std::int64_t row = 1; row < rows; ++row) text += ",[1,1,1]";
    return text + "]";
  };
  return ".program dataflow=" + dataflow +
         "\n"
         ".input shape=4x1x9\n"
         ".output shape=4x1x3\n"
         ".layer 0 name=\"product\"\n"
         ".setup 0 source=4x1x9 output=4x1x3 channel_count=9\n"
         ".setup 1 source=4x1x3 output=4x1x3 channel_count=3\n"
         ".columns 0 bias=[0,0,0] multiplier=[1,1,1]\n"
         ".tile 0 weights=" +
         ones(9) + "\n" + ".tile 1 weights=" + ones(2) + "\n" + ".tile 2 weights=" + ones(3) +
         "\n" +
         "set_config layer, 0\n"
         "set_config setup, 0\n"
         "set_config columns, 0\n" +
         body + "halt\n";
}
const std::string kReadInput = "read_host input, host=0 ub=0 rows=1 row_bytes=36\n";

TracedRun run(const Chip& chip, const std::string& dataflow, const std::string& body) {
  return trace(chip, assemble(assembly(dataflow, body), "body"));
}
Chip nanosecond_chip(Dataflow dataflow) {
  Chip chip = frictionless_chip(4, 5);
  chip.clock_mhz = 1000;
  chip.array.dataflow = dataflow;
  return chip;
}

}  // namespace

// --- Output-stationary ---

TEST_CASE("an output-stationary fold takes 2R + C + T - 2 cycles, however few pixels it has") {
  for (const Folds& folds : kOutputFolds) {
    CAPTURE(folds.rows, folds.cols, folds.pixels, folds.k);
    for (const bool is_double_buffered : {false, true}) {
      CHECK(folds_take(kOutput, folds, is_double_buffered) ==
            2 * folds.rows + folds.cols + folds.k - 2);
    }
  }
}

TEST_CASE("output-stationary folds follow each other when the sums before have left the array") {
  for (Folds folds : kOutputFolds) {
    for (const std::int64_t n : {2, 9}) {
      CAPTURE(folds.rows, folds.cols, folds.pixels, folds.k, n);
      folds.count = n;
      CHECK(folds_take(kOutput, folds, false) == n * (2 * folds.rows + folds.cols + folds.k - 2));
    }
  }
}

TEST_CASE("with a second register for sums, a fold takes max(T, R) cycles more") {
  for (Folds folds : kOutputFolds) {
    for (const std::int64_t n : {2, 9}) {
      CAPTURE(folds.rows, folds.cols, folds.pixels, folds.k, n);
      folds.count = n;
      CHECK(folds_take(kOutput, folds, true) ==
            (n - 1) * std::max(folds.k, folds.rows) + 2 * folds.rows + folds.cols + folds.k - 2);
    }
  }
}

TEST_CASE("each output-stationary step takes the passes, the port's time or the gather interval") {
  struct Case {
    int activation_bits, weight_bits;
    std::int64_t row_bytes;
    double gather;
    Cycles passes, interval;
  };
  // 5 pixels: 5 or 10 bytes in each step.
  for (const Case& c : std::vector<Case>{{8, 16, 64, 1, 2, 2},
                                         {16, 16, 64, 1, 4, 4},
                                         {8, 8, 2, 1, 1, 3},
                                         {16, 16, 2, 1, 4, 5},
                                         {8, 8, 64, 0.25, 1, 4},
                                         {8, 16, 64, 0.125, 2, 8}}) {
    Folds folds{6, 4, 5, 7, 4, 3, c.activation_bits, c.weight_bits};
    Chip chip = chip_for(kOutput, folds);
    chip.unified_buffer.row_bytes = c.row_bytes;
    chip.systolic_data_setup.gather_rows_per_cycle = c.gather;
    CAPTURE(c.activation_bits, c.weight_bits, c.row_bytes, c.gather);
    const Cycles fold = 6 * c.interval + (c.passes - 1) + 2 * 6 + 4 - 1;
    CHECK(folds_take(chip, kOutput, folds) == 2 * std::max<Cycles>(7 * c.interval, 6) + fold);
    chip.array.double_buffered_weights = false;
    CHECK(folds_take(chip, kOutput, folds) == 3 * fold);
  }
}

TEST_CASE("a short fold after a long one waits until the long one's sums are out of its way") {
  // 9 steps, then 2: the second's last step is R = 4 cycles after the first's last.
  const TracedRun long_short = run(nanosecond_chip(kOutput), "output_stationary",
                                   kReadInput +
                                       "read_weights 0\nread_weights 1\nmatmul rows=4 next_tile\n"
                                       "matmul rows=4 acc=4 next_tile\n");
  CHECK(long_short.at(Unit::matrix, 1).start == long_short.at(Unit::matrix, 0).start + 8 + 4 - 1);
  CHECK(long_short.result.total.classes.accumulator_stall == 2);
  // 2 steps, then 9: long enough.
  const TracedRun short_long = run(nanosecond_chip(kOutput), "output_stationary",
                                   kReadInput +
                                       "read_weights 1\nread_weights 0\nmatmul rows=4 next_tile\n"
                                       "matmul rows=4 acc=4 next_tile\n");
  CHECK(short_long.at(Unit::matrix, 1).start == short_long.at(Unit::matrix, 0).end);
  CHECK(short_long.result.total.classes.accumulator_stall == 0);
}

TEST_CASE("an output-stationary tile keeps its place in the FIFO until its last row has entered") {
  Folds folds{4, 5, 4, 9, 5, 6};
  Chip chip = chip_for(kOutput, folds);
  chip.clock_mhz = 1000;
  chip.weight_memory.bandwidth = 3'000'000'000;  // 9 x 5 bytes: 15 cycles
  chip.weight_memory.latency_ns = 2;
  chip.weight_memory.fifo_tiles = 1;
  const auto period = [&](const Chip& on) {
    const TracedRun run = trace(on, program_for(kOutput, folds));
    for (std::size_t n = 1; n < 6; ++n) {
      CHECK(run.at(Unit::matrix, n).start - run.at(Unit::matrix, n - 1).start ==
            run.at(Unit::matrix, 1).start - run.at(Unit::matrix, 0).start);
    }
    return run.at(Unit::matrix, 1).start - run.at(Unit::matrix, 0).start;
  };
  CHECK(period(chip) == 15 + 2 + 9);
  chip.weight_memory.fifo_tiles = 2;
  CHECK(period(chip) == 15);
}

TEST_CASE("an output-stationary tile that stays is streamed again and fetched once") {
  const TracedRun twice = run(nanosecond_chip(kOutput), "output_stationary",
                              kReadInput +
                                  "read_weights 0\nmatmul rows=4 next_tile\n"
                                  "matmul rows=4 acc=4\n");
  CHECK(twice.at(Unit::matrix, 1).start == twice.at(Unit::matrix, 0).end);
  CHECK(twice.result.total.bytes.weights == 9 * 5);
  CHECK(twice.result.total.classes.weight_stall == 0);
}

TEST_CASE("what an output-stationary multiply waits for has its class") {
  Chip chip = nanosecond_chip(kOutput);
  chip.weight_memory.bandwidth = 1'000'000'000;
  const std::string body = "read_weights 0\nmatmul rows=4 next_tile\n";
  CHECK(run(chip, "output_stationary", kReadInput + body).result.total.classes.weight_stall == 45);
  chip.host_link.bandwidth = 500'000'000;
  const CycleClasses classes =
      run(chip, "output_stationary", kReadInput + body).result.total.classes;
  CHECK(classes.weight_stall == 45);
  CHECK(classes.input_stall == 72 - 45);
  CHECK(classes.weight_shift == 0);
}

// --- Input-stationary ---

TEST_CASE("an input-stationary fold takes 2R + C + T - 2 cycles, its load included") {
  for (const Folds& folds : kInputFolds) {
    CAPTURE(folds.rows, folds.cols, folds.pixels, folds.channels);
    for (const bool is_double_buffered : {false, true}) {
      CHECK(folds_take(kInput, folds, is_double_buffered) ==
            2 * folds.rows + folds.cols + folds.channels - 2);
    }
  }
}

TEST_CASE("input-stationary folds take turns with one plane, and overlap with two") {
  for (Folds folds : kInputFolds) {
    for (const std::int64_t n : {2, 9}) {
      CAPTURE(folds.rows, folds.cols, folds.pixels, folds.channels, n);
      folds.count = n;
      const Cycles fold = 2 * folds.rows + folds.cols + folds.channels - 2;
      CHECK(folds_take(kInput, folds, false) == n * fold);
      CHECK(folds_take(kInput, folds, true) ==
            (n - 1) * std::max(folds.rows, folds.channels) + fold);
    }
  }
}

TEST_CASE("input-stationary weights take the passes, loads the port's time or the gather's") {
  struct Case {
    int activation_bits, weight_bits;
    std::int64_t row_bytes;
    double gather;
    Cycles passes, interval;
  };
  // 5 pixels: 5 or 10 bytes in each row of a load.
  for (const Case& c : std::vector<Case>{{8, 16, 64, 1, 2, 1},
                                         {16, 16, 64, 1, 4, 1},
                                         {8, 8, 2, 1, 1, 3},
                                         {16, 8, 2, 1, 2, 5},
                                         {8, 8, 64, 0.25, 1, 4}}) {
    Folds folds{6, 8, 5, 3, 7, 3, c.activation_bits, c.weight_bits};
    Chip chip = chip_for(kInput, folds);
    chip.unified_buffer.row_bytes = c.row_bytes;
    chip.systolic_data_setup.gather_rows_per_cycle = c.gather;
    CAPTURE(c.activation_bits, c.weight_bits, c.row_bytes, c.gather);
    const Cycles load = 6 * c.interval;
    const Cycles fold = load + 7 * c.passes - 1 + 6 + 8 - 1;
    CHECK(folds_take(chip, kInput, folds) == 2 * std::max(load, 7 * c.passes) + fold);
    chip.array.double_buffered_weights = false;
    CHECK(folds_take(chip, kInput, folds) == 3 * fold);
  }
}

TEST_CASE("multiplies that keep the rows follow one another and read the buffer once") {
  const TracedRun kept =
      run(nanosecond_chip(kInput), "input_stationary",
          kReadInput +
              "read_weights 1\nread_weights 1\nmatmul rows=4 next_tile\n"
              "matmul rows=4 acc=4 keep_rows\nmatmul rows=4 acc=8 next_tile keep_rows\n");
  CHECK(kept.at(Unit::matrix, 1).start == kept.at(Unit::matrix, 0).end);
  CHECK(kept.at(Unit::matrix, 2).start == kept.at(Unit::matrix, 1).end);
  CHECK_THROWS(kept.at(Unit::weight_shift, 1));
  CHECK(kept.result.total.bytes.unified_buffer_read == 4 * 2);
  CHECK(kept.result.total.bytes.accumulator_write == 3 * 4 * 3 * 4);
  CHECK(kept.result.total.useful_macs == 3 * 4 * 2 * 3);
}

TEST_CASE("an input-stationary tile keeps its place in the FIFO until its last channel entered") {
  Folds folds{4, 5, 4, 4, 5, 6};
  Chip chip = chip_for(kInput, folds);
  chip.clock_mhz = 1000;
  chip.weight_memory.bandwidth = 2'000'000'000;  // 4 x 5 bytes: 10 cycles
  chip.weight_memory.fifo_tiles = 1;
  const auto period = [&] {
    const TracedRun run = trace(chip, program_for(kInput, folds));
    return run.at(Unit::matrix, 5).start - run.at(Unit::matrix, 4).start;
  };
  CHECK(period() == 10 + 5);
  chip.weight_memory.fifo_tiles = 2;
  CHECK(period() == 10);
}

TEST_CASE("a load starts ahead of its multiply, when its source and the second plane are ready") {
  const std::string body = kReadInput +
                           "read_weights 0\nread_weights 1\n"
                           "matmul rows=4 next_tile\nmatmul rows=4 acc=4 next_tile\n"
                           "matmul rows=4 acc=8\nmatmul rows=4 acc=12\n";
  Chip chip = nanosecond_chip(kInput);
  chip.array.rows = 9;
  const TracedRun two = run(chip, "input_stationary", body);
  CHECK(two.at(Unit::weight_shift, 1).start == two.at(Unit::matrix, 0).start);
  CHECK(two.at(Unit::weight_shift, 2).start == two.at(Unit::matrix, 1).start);
  CHECK(two.at(Unit::matrix, 3).start == two.at(Unit::weight_shift, 3).end);
  chip.array.double_buffered_weights = false;
  const TracedRun one = run(chip, "input_stationary", body);
  CHECK(one.at(Unit::weight_shift, 1).start == one.at(Unit::matrix, 0).done);
  CHECK(one.at(Unit::matrix, 1).start == one.at(Unit::weight_shift, 1).end);
}

TEST_CASE("a load waits for the second plane while the multiply before uses the first") {
  // Loads of 4 cycles, multiplies of 5.
  const Folds folds{4, 5, 4, 4, 5, 4};
  const TracedRun run = trace(chip_for(kInput, folds), program_for(kInput, folds));
  for (std::size_t n = 1; n < 4; ++n) {
    CHECK(run.at(Unit::weight_shift, n).start == run.at(Unit::matrix, n - 1).start);
  }
}

TEST_CASE("what an input-stationary multiply waits for has its class") {
  Chip chip = nanosecond_chip(kInput);
  chip.host_link.bandwidth = 4'000'000'000;      // the input: 9 cycles
  chip.weight_memory.bandwidth = 4'000'000'000;  // a tile of 20 bytes: 5 cycles
  const auto classes = [&](const std::string& body) {
    return run(chip, "input_stationary", kReadInput + "read_weights 1\n" + body)
        .result.total.classes;
  };
  const CycleClasses cold = classes("matmul rows=4 next_tile\n");
  CHECK(cold.weight_stall == 5);
  CHECK(cold.input_stall == 9 - 5);
  CHECK(cold.weight_shift == 4);
  CHECK(cold.active == 3);
  // The second reads what the activation unit makes of the first: RAW until that is written, then
  // its load.
  const CycleClasses raw = classes(
      "matmul rows=4 next_tile\nactivate rows=4 ub=0x100\nset_config setup, 1\n"
      "matmul rows=4 ub=0x100 acc=4\n");
  const Cycles travel = 4 + 5 - 1;
  CHECK(raw.raw_stall == travel - 1 + 4);
  CHECK(raw.weight_shift == 4 + 4);
  // The same entries without keeping the order of rows.
  const CycleClasses entries = classes("matmul rows=4 next_tile\nmatmul rows=4 keep_rows\n");
  CHECK(entries.accumulator_stall == travel - 1);
}
