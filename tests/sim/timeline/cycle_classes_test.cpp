// A program for each cycle class in which that class, and what waited beside it, is computed by
// hand from the chip's parameters.

#include <catch2/catch.hpp>

#include "tests/sim/timeline/traced_run.h"

using namespace tilewave;
using namespace tilewave::sim;
using namespace tilewave::test;

namespace {

/// From the end of a multiply of all pixels to its last result.
constexpr Cycles kLastResult = kTravel - 1;

void check(const TracedRun& run, const CycleClasses& classes, const Waiting& waiting) {
  const CycleClasses& got = run.result.total.classes;
  CHECK(got.active == classes.active);
  CHECK(got.weight_stall == classes.weight_stall);
  CHECK(got.weight_shift == classes.weight_shift);
  CHECK(got.input_stall == classes.input_stall);
  CHECK(got.raw_stall == classes.raw_stall);
  CHECK(got.accumulator_stall == classes.accumulator_stall);
  CHECK(got.idle == classes.idle);
  CHECK(got.drain == classes.drain);
  CHECK(got.total() == run.result.cycles);
  Cycles stalled[kStallReasons] = {};
  for (const Stall& stall : run.result.stalls) {
    CHECK(stall.start < stall.end);
    stalled[static_cast<int>(stall.reason)] += stall.end - stall.start;
  }
  CHECK(stalled[static_cast<int>(StallReason::weight_stall)] == classes.weight_stall);
  CHECK(stalled[static_cast<int>(StallReason::weight_shift)] == classes.weight_shift);
  CHECK(stalled[static_cast<int>(StallReason::input_stall)] == classes.input_stall);
  CHECK(stalled[static_cast<int>(StallReason::raw_stall)] == classes.raw_stall);
  CHECK(stalled[static_cast<int>(StallReason::accumulator_stall)] == classes.accumulator_stall);
  CHECK(stalled[static_cast<int>(StallReason::idle)] == classes.idle);
  const Waiting& waited = run.result.total.waiting;
  CHECK(waited.weight_stall == waiting.weight_stall);
  CHECK(waited.weight_shift == waiting.weight_shift);
  CHECK(waited.input_stall == waiting.input_stall);
  CHECK(waited.raw_stall == waiting.raw_stall);
  CHECK(waited.accumulator_stall == waiting.accumulator_stall);
}

}  // namespace

TEST_CASE("a cold multiply waits for its tile, then for its shift-in, and drains") {
  Chip chip = nanosecond_chip();
  chip.weight_memory.latency_ns = 30;
  check(trace(chip, kReadInput + kFirstTile),
        {.active = kPixels, .weight_stall = 30, .weight_shift = kRows, .drain = kLastResult},
        {.weight_stall = 30, .weight_shift = 30 + kRows, .input_stall = 1});
}

TEST_CASE("what the host makes a multiply wait beyond its weights is input stall") {
  Chip chip = nanosecond_chip();
  chip.weight_memory.latency_ns = 30;
  chip.host_link.latency_us = 0.09;
  check(trace(chip, kReadInput + kFirstTile),
        {.active = kPixels,
         .weight_stall = 30,
         .weight_shift = kRows,
         .input_stall = 91 - 30 - kRows,
         .drain = kLastResult},
        {.weight_stall = 30, .weight_shift = 30 + kRows, .input_stall = 91});
}

TEST_CASE("what a multiply waits for the activation unit is RAW stall") {
  Chip chip = nanosecond_chip();
  chip.activation_unit.pipeline_depth = 6;
  const Cycles raw = kLastResult + kPixels + 6;
  check(trace(chip, kReadInput + kFirstTile + kActivate +
                        "set_config setup, 1\nmatmul ub=0x100 acc=8 rows=8\n"),
        {.active = 2 * kPixels, .weight_shift = kRows, .raw_stall = raw, .drain = kLastResult},
        {.weight_shift = kRows, .input_stall = 1, .raw_stall = raw});
}

TEST_CASE("what a multiply waits for a SYNC is RAW stall") {
  const Chip chip = nanosecond_chip();
  check(trace(chip, kReadInput + kFirstTile + "sync\nmatmul acc=8 rows=8\n"),
        {.active = 2 * kPixels,
         .weight_shift = kRows,
         .raw_stall = kLastResult,
         .drain = kLastResult},
        {.weight_shift = kRows, .input_stall = 1, .raw_stall = kLastResult});
}

TEST_CASE("what a multiply waits for accumulator entries is accumulator stall") {
  const Chip chip = nanosecond_chip();
  SECTION("to be complete") {
    check(trace(chip, kReadInput + kFirstTile + "matmul acc=4 rows=8\n"),
          {.active = 2 * kPixels,
           .weight_shift = kRows,
           .accumulator_stall = kLastResult,
           .drain = kLastResult},
          {.weight_shift = kRows, .input_stall = 1, .accumulator_stall = kLastResult});
  }
  SECTION("to be read") {
    const Cycles stall = kLastResult + kPixels;
    check(trace(chip, kReadInput + kFirstTile + kActivate + "matmul rows=8\n"),
          {.active = 2 * kPixels,
           .weight_shift = kRows,
           .accumulator_stall = stall,
           .drain = kLastResult},
          {.weight_shift = kRows, .input_stall = 1, .accumulator_stall = stall});
  }
}

TEST_CASE("input stall comes before RAW stall, and both are waited for") {
  Chip chip = nanosecond_chip();
  chip.activation_unit.pipeline_depth = 6;
  const Cycles raw = kLastResult + kPixels + 6;
  // The multiply reads what was activated and, in its last bytes, what the host wrote after that.
  check(
      trace(chip, kReadInput + kFirstTile + kActivate +
                      "read_host input, host=0 ub=0x120 rows=1 row_bytes=8\n"
                      "set_config setup, 1\nmatmul ub=0x100 acc=8 rows=8\n"),
      {.active = 2 * kPixels, .weight_shift = kRows, .input_stall = raw + 1, .drain = kLastResult},
      {.weight_shift = kRows, .input_stall = 1 + raw + 1, .raw_stall = raw});
}

TEST_CASE("RAW stall comes before accumulator stall, and both are waited for") {
  Chip chip = nanosecond_chip();
  const Cycles read = kLastResult + kPixels;
  // The second multiply reads what was made and overwrites the entries that it was made from.
  const std::string body =
      kReadInput + kFirstTile + kActivate + "set_config setup, 1\nmatmul ub=0x100 acc=0 rows=8\n";
  for (const Cycles depth : {0, 6}) {
    chip.activation_unit.pipeline_depth = depth;
    check(trace(chip, body),
          {.active = 2 * kPixels,
           .weight_shift = kRows,
           .raw_stall = read + depth,
           .drain = kLastResult},
          {.weight_shift = kRows,
           .input_stall = 1,
           .raw_stall = read + depth,
           .accumulator_stall = read});
  }
}

TEST_CASE("what a multiply waits for its issue alone is idle") {
  Chip chip = nanosecond_chip();
  chip.sequencer.issue_cycles = 50;
  // Preamble, read_host, read_weights; the tile and the input are there long before the multiply.
  const Cycles before = 50 * (kPreamble + 3);
  const Cycles weight = 50 * (kPreamble + 2);
  const Cycles input = 50 * (kPreamble + 1) + 1;
  check(trace(chip, kReadInput + kFirstTile),
        {.active = kPixels,
         .weight_stall = weight,
         .weight_shift = kRows,
         .idle = before - weight - kRows,
         .drain = kLastResult},
        {.weight_stall = weight, .weight_shift = weight + kRows, .input_stall = input});
}

TEST_CASE("weight stall and shift between multiplies, and rows that are held are active") {
  Chip chip = nanosecond_chip();
  chip.systolic_data_setup.gather_rows_per_cycle = 0.25;
  chip.weight_memory.bandwidth = 200'000'000;
  const Cycles interval = 4;
  const Cycles occupied = 5 * kRows * kCols;
  const Cycles first = occupied + kRows;
  const Cycles stall = 2 * occupied - (first + interval * kPixels);
  check(
      trace(chip, kReadInput + kFirstTile + "read_weights 0\nmatmul rows=8 next_tile accumulate\n"),
      {.active = 2 * interval * kPixels,
       .weight_stall = occupied + stall,
       .weight_shift = 2 * kRows,
       .drain = kLastResult - (interval - 1)},
      {.weight_stall = occupied + stall,
       .weight_shift = occupied + kRows + stall + kRows,
       .input_stall = 1});
}

TEST_CASE("gaps belong to the layer that waits, drain to the layer of the last multiply") {
  Chip chip = nanosecond_chip();
  chip.weight_memory.latency_ns = 30;
  const auto run =
      trace(chip, kReadInput + kFirstTile + "sync\nset_config layer, 1\nmatmul acc=8 rows=8\n");
  const CycleClasses& one = run.result.layers.at(0).classes;
  const CycleClasses& other = run.result.layers.at(1).classes;
  CHECK(one == CycleClasses{.active = kPixels, .weight_stall = 30, .weight_shift = kRows});
  CHECK(other == CycleClasses{.active = kPixels, .raw_stall = kLastResult, .drain = kLastResult});
  CHECK(one.total() + other.total() == run.result.cycles);
}

TEST_CASE("drain is everything after the last multiply, transfers out included") {
  Chip chip = nanosecond_chip();
  chip.activation_unit.pipeline_depth = 6;
  chip.host_link.latency_us = 0.02;
  const auto run = trace(chip, kReadInput + kFirstTile + kActivate + kWriteOutput);
  CHECK(run.result.total.classes.drain == kLastResult + kPixels + 6 + 20 + 1);
  CHECK(run.result.total.classes.total() == run.result.cycles);
}

TEST_CASE("a program without a multiply is all drain, of its last layer") {
  const auto run =
      trace(nanosecond_chip(), kReadInput +
                                   "set_config layer, 1\nwrite_host output, ub=0 rows=1 "
                                   "row_bytes=32\n");
  CHECK(run.result.layers.at(0).classes == CycleClasses{});
  CHECK(run.result.layers.at(1).classes == CycleClasses{.drain = 2});
  CHECK(run.result.cycles == 2);
}
