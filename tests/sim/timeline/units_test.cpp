// How long each unit takes, and what its own resources make it wait for: the "Units" and "Issue"
// of docs/timing.md, each by a program for it.

#include <catch2/catch.hpp>

#include "tests/sim/timeline/traced_run.h"

using namespace tilewave;
using namespace tilewave::sim;
using namespace tilewave::test;

namespace {

/// `count` tiles, each used by a multiply of one row into an accumulator row of its own.
std::string tiles_of_one_row(std::int64_t count) {
  std::string body = kReadInput + repeat(count, "read_weights 0\n");
  for (std::int64_t i = 0; i < count; ++i) {
    body += "matmul acc=" + std::to_string(i) + " rows=1 next_tile\n";
  }
  return body;
}

}  // namespace

// Weight path ------------------------------------------------------------------------------------

TEST_CASE("tiles follow each other from the weight memory without a gap, each after the latency") {
  Chip chip = nanosecond_chip();
  chip.weight_memory.bandwidth = 3'000'000'000;
  chip.weight_memory.latency_ns = 50;
  chip.weight_memory.fifo_tiles = 8;
  const Cycles occupied = 7;  // ceil(4 * 5 bytes / 3 bytes per cycle)
  const auto run = trace(chip, tiles_of_one_row(8));
  for (std::size_t i = 0; i < 8; ++i) {
    const Slice& fetch = run.at(Unit::weight_memory, i);
    CHECK(fetch.start == static_cast<Cycles>(i) * occupied);
    CHECK(fetch.end == fetch.start + occupied);
    CHECK(fetch.done == fetch.end + 50);
    CHECK(run.at(Unit::weight_shift, i).start == fetch.done);
  }
}

TEST_CASE("a FIFO of D tiles lets D fetches be on their way at once") {
  Chip chip = nanosecond_chip();
  chip.weight_memory.bandwidth = 1'000'000'000;
  chip.weight_memory.latency_ns = 60;
  const Cycles occupied = kRows * kCols;
  // From a fetch's start to the end of the tile's shift-in, when its place is free again.
  const Cycles round = occupied + 60 + kRows;
  for (std::int64_t depth = 1; depth <= 8; ++depth) {
    chip.weight_memory.fifo_tiles = depth;
    const auto run = trace(chip, tiles_of_one_row(24));
    for (std::int64_t i = 0; i < 24; ++i) {
      CAPTURE(depth, i);
      const Cycles start =
          depth * occupied >= round ? i * occupied : i / depth * round + i % depth * occupied;
      CHECK(run.at(Unit::weight_memory, static_cast<std::size_t>(i)).start == start);
    }
  }
}

TEST_CASE("a fetch waits for a place while multiplies keep the tiles before it in the FIFO") {
  Chip chip = nanosecond_chip();
  for (std::size_t depth = 1; depth <= 8; ++depth) {
    chip.weight_memory.fifo_tiles = static_cast<std::int64_t>(depth);
    const std::size_t count = 12;
    const auto run =
        trace(chip, kReadInput + repeat(count, "read_weights 0\n") + "matmul rows=8 next_tile\n" +
                        repeat(count - 1, "matmul rows=8 next_tile accumulate\n"));
    for (std::size_t i = 0; i < count; ++i) {
      CAPTURE(depth, i);
      CHECK(run.at(Unit::weight_memory, i).start ==
            (i < depth ? 0 : run.at(Unit::weight_shift, i - depth).end));
      // The first tile shifts in at once, the second as soon as the swap frees the shadow plane.
      CHECK(run.at(Unit::weight_shift, i).start ==
            (i == 0 ? 0 : run.at(Unit::matrix, i - 1).start));
      CHECK(run.at(Unit::matrix, i).start == kRows + static_cast<Cycles>(i) * kPixels);
    }
  }
}

TEST_CASE("a shift-in takes ceil(R / weight_rows_per_cycle) cycles") {
  Chip chip = nanosecond_chip();
  for (const auto& [per_cycle, cycles] : {std::pair{1, 4}, {2, 2}, {3, 2}, {4, 1}}) {
    chip.array.weight_rows_per_cycle = per_cycle;
    const auto run = trace(chip, tiles_of_one_row(2));
    CHECK(run.at(Unit::weight_shift).end == cycles);
    CHECK(run.at(Unit::matrix).start == cycles);
    CHECK(run.at(Unit::weight_shift, 1).end == 2 * cycles);
  }
}

TEST_CASE("without double buffering a shift-in starts after the last result before it") {
  Chip chip = nanosecond_chip();
  chip.array.double_buffered_weights = false;
  const std::string second = "read_weights 0\nmatmul acc=8 rows=8 next_tile\n";
  const auto run = trace(chip, kReadInput + kFirstTile + second);
  const Slice& first = run.at(Unit::matrix);
  CHECK(first.done == first.start + (kPixels - 1) + kTravel);
  CHECK(run.at(Unit::weight_shift, 1).start == first.done);
  CHECK(run.at(Unit::matrix, 1).start == first.done + kRows);
  SECTION("and when its multiply has been issued") {
    chip.sequencer.issue_cycles = 40;
    const auto slow = trace(chip, kReadInput + kFirstTile + second);
    // read_host, read_weights, matmul, read_weights and this matmul
    CHECK(slow.at(Unit::weight_shift, 1).start == 40 * (kPreamble + 5));
  }
  SECTION("and when its tile has arrived") {
    chip.weight_memory.latency_ns = 70;
    const auto late = trace(chip, kReadInput + kFirstTile + "sync\n" + second);
    CHECK(late.at(Unit::weight_shift, 1).start == late.at(Unit::matrix).done + 70);
  }
}

TEST_CASE("a tile takes a whole array's bytes unless tiles are packed") {
  Chip chip = nanosecond_chip();
  chip.weight_memory.bandwidth = 1'000'000'000;
  const std::string body = kReadInput + "read_weights 1\nmatmul rows=8 next_tile\n";
  const auto whole = trace(chip, body);
  CHECK(whole.at(Unit::weight_memory).end == kRows * kCols);
  CHECK(whole.result.total.bytes.weights == kRows * kCols);
  chip.weight_memory.packed_tiles = true;
  const auto packed = trace(chip, body);
  CHECK(packed.at(Unit::weight_memory).end == 2 * 3);
  CHECK(packed.result.total.bytes.weights == 2 * 3);
  CHECK(packed.at(Unit::matrix).start == 2 * 3 + kRows);  // the shift-in is not shorter
}

TEST_CASE("narrow weights come sooner only where their bits are packed") {
  Chip chip = nanosecond_chip();
  chip.weight_memory.bandwidth = 1'000'000'000;
  chip.precision.weight_bits = 3;
  const Program program =
      assemble_body(kReadInput + "read_weights 1\nmatmul rows=8 next_tile\n", "weight_bits=3");
  CHECK(trace(chip, program).at(Unit::weight_memory).end == kRows * kCols);
  chip.weight_memory.packed_bits = true;
  const Cycles bytes = (kRows * kCols * 3 + 7) / 8;
  const auto packed = trace(chip, program);
  CHECK(packed.at(Unit::weight_memory).end == bytes);
  CHECK(packed.result.total.bytes.weights == bytes);
  CHECK(packed.at(Unit::matrix).start == bytes + kRows);
}

// Matrix unit ------------------------------------------------------------------------------------

TEST_CASE("a row enters every max(passes, ceil(bytes / W), ceil(1 / gather rate)) cycles") {
  struct Case {
    int activation_bits, weight_bits;
    std::int64_t row_bytes;
    double gather;
    Cycles passes, interval;
  };
  for (const auto& [activations, weights, width, gather, passes, interval] :
       std::vector<Case>{{8, 8, 64, 1, 1, 1},
                         {8, 16, 64, 1, 2, 2},
                         {16, 8, 64, 1, 2, 2},
                         {16, 16, 64, 1, 4, 4},
                         {8, 8, 4, 1, 1, 1},
                         {8, 8, 3, 1, 1, 2},
                         {8, 8, 1, 1, 1, 4},
                         {16, 8, 1, 1, 2, 8},
                         {8, 8, 64, 0.5, 1, 2},
                         {8, 8, 64, 0.3, 1, 4},
                         {8, 16, 2, 0.3, 2, 4},
                         {16, 16, 1, 0.1, 4, 10}}) {
    CAPTURE(activations, weights, width, gather);
    Chip chip = nanosecond_chip();
    chip.precision.activation_bits = activations;
    chip.precision.weight_bits = weights;
    chip.unified_buffer.row_bytes = width;
    chip.systolic_data_setup.gather_rows_per_cycle = gather;
    const std::string bytes = std::to_string(32 * chip.activation_bytes());
    const auto run = trace(chip, assemble_body("read_host input, rows=1 row_bytes=" + bytes + "\n" +
                                                   kFirstTile + "matmul acc=0 rows=8 accumulate\n",
                                               "activation_bits=" + std::to_string(activations) +
                                                   " weight_bits=" + std::to_string(weights)));
    const Slice& multiply = run.at(Unit::matrix);
    CHECK(multiply.end == multiply.start + kPixels * interval);
    CHECK(multiply.done == multiply.start + (kPixels - 1) * interval + (passes - 1) + kTravel);
    CHECK(run.at(Unit::matrix, 1).start == multiply.end);
    CHECK(run.result.total.classes.active == 2 * kPixels * interval);
  }
}

// Host link --------------------------------------------------------------------------------------

TEST_CASE("a transfer takes latency + max(ceil(n / bandwidth), ceil(n / W)) in its own direction") {
  Chip chip = nanosecond_chip();
  chip.host_link.latency_us = 0.025;
  chip.host_link.bandwidth = 3'000'000'000;
  const auto run = trace(chip, repeat(3, kReadInput) +
                                   "read_host input, host=0 ub=0x100 rows=1 row_bytes=32\n"
                                   "write_host output, host=0 ub=0 rows=1 row_bytes=31\n"
                                   "write_host output, host=0 ub=0 rows=1 row_bytes=2\n");
  const Cycles in = 25 + 11;   // 32 bytes at 3 per cycle
  const Cycles out = 25 + 11;  // 31 bytes
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(run.at(Unit::host_in, i).start == static_cast<Cycles>(i) * in);
  }
  CHECK(run.at(Unit::host_in, 3).done == 4 * in);
  // Outward at the same time as the fourth inward.
  CHECK(run.at(Unit::host_out, 0).start == 3 * in);
  CHECK(run.at(Unit::host_out, 1).start == 3 * in + out);
  CHECK(run.at(Unit::host_out, 1).done == 3 * in + out + 25 + 1);
  SECTION("bound by the buffer's port") {
    chip.unified_buffer.row_bytes = 2;
    CHECK(trace(chip, kReadInput).at(Unit::host_in).done == 25 + 16);
  }
  SECTION("unlimited") {
    chip.host_link.bandwidth.reset();
    CHECK(trace(chip, kReadInput).at(Unit::host_in).done == 25 + 1);
  }
}

// Activation unit --------------------------------------------------------------------------------

TEST_CASE("an activation takes max(1, ceil(columns * bytes / W)) cycles per accumulator row") {
  for (const auto& [width, interval] :
       {std::pair<std::int64_t, Cycles>{64, 1}, {5, 1}, {4, 2}, {2, 3}, {1, 5}}) {
    Chip chip = nanosecond_chip();
    chip.unified_buffer.row_bytes = width;
    const auto run = trace(chip, kReadInput + kFirstTile + kActivate);
    const Slice& slice = run.at(Unit::activation);
    CHECK(slice.end - slice.start == kPixels * interval);
    // Pooling writes half the rows and takes as long.
    const auto pooled = trace(chip, kReadInput + kFirstTile + "set_config pool, 0\n" + kActivate);
    CHECK(pooled.at(Unit::activation).end - pooled.at(Unit::activation).start ==
          kPixels * interval);
    CHECK(pooled.result.total.bytes.unified_buffer_write == 32 + 4 * kCols);
  }
}

TEST_CASE("a vector operation takes max(1, ceil(elements / C), ceil(bytes / W)) cycles per row") {
  for (const auto& [cols, width, interval] :
       {std::tuple<std::int64_t, std::int64_t, Cycles>{5, 64, 1}, {5, 3, 2}, {6, 64, 1}}) {
    Chip chip = nanosecond_chip();
    chip.array.cols = cols;
    chip.unified_buffer.row_bytes = width;
    const auto run = trace(chip, kReadInput + kReadInput +
                                     "set_config pool, 0\n"
                                     "read_host input, host=0 ub=0x100 rows=1 row_bytes=32\n"
                                     "read_host input, host=0 ub=0x120 rows=1 row_bytes=8\n"
                                     "set_config add, 0\n"
                                     "vector_add a=0x100 b=0x100 to=0x200 rows=8\n"
                                     "vector_pool ub=0x100 to=0x300 rows=4\n");
    const Slice& add = run.at(Unit::activation, 0);
    CHECK(add.end - add.start == 8 * interval);
    const Slice& pool = run.at(Unit::activation, 1);
    CHECK(pool.start == add.end);
    CHECK(pool.end - pool.start == 8 * interval);  // of the 8 pixels that it takes in
  }

  // A row may be wider than the array: 32 elements on 5 columns, or through a port of 3 bytes.
  std::string values = "[0";
  for (int i = 1; i < 256; ++i) values += ",0";
  const std::string lookup = ".table 0 values=" + values +
                             "]\nset_config table, 0\n"
                             "vector_lookup ub=0 to=0x100 rows=1 row_bytes=32\n";
  for (const auto& [width, interval] : {std::pair<std::int64_t, Cycles>{64, 7}, {3, 11}}) {
    Chip chip = nanosecond_chip();
    chip.unified_buffer.row_bytes = width;
    const auto run = trace(chip, kReadInput + lookup);
    CHECK(run.at(Unit::activation).end - run.at(Unit::activation).start == interval);
  }
}

// Issue ------------------------------------------------------------------------------------------

TEST_CASE("instruction i can start at (i + 1) * issue_cycles") {
  Chip chip = nanosecond_chip();
  chip.sequencer.issue_cycles = 100;
  const auto run =
      trace(chip, kReadInput + "nop\nread_weights 0\nmatmul rows=8 next_tile\n" + kActivate);
  CHECK(run.at(Unit::host_in).start == 100 * (kPreamble + 1));
  CHECK(run.at(Unit::weight_memory).start == 100 * (kPreamble + 3));
  CHECK(run.at(Unit::matrix).start == 100 * (kPreamble + 4));
  CHECK(run.at(Unit::activation).start == 100 * (kPreamble + 5));
}

TEST_CASE("sync holds the issue until everything before is done, tiles on their way excepted") {
  Chip chip = nanosecond_chip();
  chip.activation_unit.pipeline_depth = 11;
  chip.weight_memory.latency_ns = 500;
  const std::string body = kReadInput + "read_weights 0\nmatmul rows=8 next_tile\n" + kActivate;
  const std::string elsewhere = "read_host input, host=0 ub=0x80 rows=1 row_bytes=1\n";
  CHECK(trace(chip, body + elsewhere).at(Unit::host_in, 1).start == 1);
  const auto run = trace(chip, body + "sync\n" + elsewhere);
  CHECK(run.at(Unit::host_in, 1).start == run.at(Unit::activation).done);
  const auto tile =
      trace(chip, kReadInput + "read_weights 0\nsync\n" + elsewhere + "matmul rows=8 next_tile\n");
  CHECK(tile.at(Unit::host_in, 1).start == tile.at(Unit::host_in, 0).done);
}

TEST_CASE("with a queue_depth of Q an instruction is issued when the Q-th before it has started") {
  for (std::size_t queue = 1; queue <= 5; ++queue) {
    CAPTURE(queue);
    Chip chip = nanosecond_chip();
    chip.sequencer.queue_depth = static_cast<std::int64_t>(queue);
    const std::size_t multiplies = 7;
    const auto run =
        trace(chip, kReadInput + kFirstTile + repeat(multiplies - 1, "matmul rows=8 accumulate\n") +
                        "read_host input, host=0 ub=0x80 rows=1 row_bytes=1\n");
    // Behind the last multiply, which came in when the one `queue` places before it started.
    CHECK(run.at(Unit::host_in, 1).start == run.at(Unit::matrix, multiplies - 1 - queue).start);
    CHECK(run.at(Unit::matrix, multiplies - 1).start ==
          kRows + static_cast<Cycles>(multiplies - 1) * kPixels);
  }
}

TEST_CASE("a program that waits for itself in a queue is refused by name") {
  Chip chip = nanosecond_chip();
  chip.sequencer.queue_depth = 1;
  // One tile in the shadow plane, D in the FIFO, one in the queue.
  for (const std::int64_t depth : {1, 3}) {
    chip.weight_memory.fifo_tiles = depth;
    CHECK_NOTHROW(trace(chip, tiles_of_one_row(depth + 2)));
    CHECK_THROWS_WITH(trace(chip, tiles_of_one_row(depth + 3)),
                      "timing: instruction " + std::to_string(kPreamble + 1 + depth + 2) +
                          " (read_weights): waits forever for a place in its unit's queue (a "
                          "larger sequencer.queue_depth or weight_memory.fifo_tiles)");
  }
}

// Launches ---------------------------------------------------------------------------------------

TEST_CASE("ping-pong lets a launch's transfer in overlap the work of the launch before") {
  Chip chip = nanosecond_chip();
  const std::string body = kReadInput + kFirstTile + kActivate + kWriteOutput;
  const auto apart = trace(chip, assemble_body(body, "ping_pong=0,0x200"), 4);
  CHECK(apart.at(Unit::host_in, 1).start == apart.at(Unit::host_in, 0).done);
  // The third launch has the first one's half.
  CHECK(apart.at(Unit::host_in, 2).start == apart.at(Unit::matrix, 0).end);
  CHECK(apart.at(Unit::host_in, 3).start == apart.at(Unit::matrix, 1).end);
  CHECK(apart.result.first_launch_end == apart.at(Unit::host_out, 0).done);
  CHECK(apart.result.cycles == apart.at(Unit::host_out, 3).done);
  const auto together = trace(chip, assemble_body(body), 2);
  CHECK(together.at(Unit::host_in, 1).start == together.at(Unit::matrix, 0).end);
}
