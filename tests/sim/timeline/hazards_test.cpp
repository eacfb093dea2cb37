// What an instruction waits for in memories: each rule of docs/timing.md by a program for it, with
// the cycle in which the waiting ends as a formula of the chip's parameters.

#include <catch2/catch.hpp>

#include "tests/sim/timeline/traced_run.h"

using namespace tilewave;
using namespace tilewave::sim;
using namespace tilewave::test;

namespace {

const std::string kReadResult = "set_config setup, 1\n";  // multiplies now read what was made

}  // namespace

TEST_CASE("a multiply of what was activated starts pipeline_depth after the last row") {
  Chip chip = nanosecond_chip();
  for (const Cycles depth : {0, 1, 16}) {
    chip.activation_unit.pipeline_depth = depth;
    const auto run = trace(
        chip, kReadInput + kFirstTile + kActivate + kReadResult + "matmul ub=0x100 acc=8 rows=8\n");
    CHECK(run.at(Unit::activation).start == run.at(Unit::matrix).done);
    CHECK(run.at(Unit::activation).end == run.at(Unit::activation).start + kPixels);
    CHECK(run.at(Unit::matrix, 1).start == run.at(Unit::activation).end + depth);
  }
}

TEST_CASE("a multiply waits only for the rows that it reads") {
  Chip chip = nanosecond_chip();
  chip.activation_unit.pipeline_depth = 3;
  const auto run = trace(chip, kReadInput + kFirstTile +
                                   "activate rows=4 ub=0x100\n"
                                   "activate acc=4 rows=4 ub=0x100 first=4\n" +
                                   kReadResult +
                                   "matmul ub=0x100 acc=8 rows=4\n"
                                   "matmul ub=0x100 acc=12 rows=4 first=4\n");
  CHECK(run.at(Unit::matrix, 1).start == run.at(Unit::activation, 0).done);
  CHECK(run.at(Unit::matrix, 2).start == run.at(Unit::activation, 1).done);
  CHECK(run.at(Unit::activation, 1).start == run.at(Unit::activation, 0).end);
}

TEST_CASE("a multiply waits for the host transfer of what it reads") {
  Chip chip = nanosecond_chip();
  chip.host_link.latency_us = 0.1;
  const auto run = trace(chip, kReadInput + kFirstTile);
  CHECK(run.at(Unit::host_in).done == 100 + 1);
  CHECK(run.at(Unit::matrix).start == run.at(Unit::host_in).done);
}

TEST_CASE("a host transfer starts when the multiply of what it overwrites has ended") {
  Chip chip = nanosecond_chip();
  const auto run = trace(chip, kReadInput + kFirstTile + kReadInput);
  CHECK(run.at(Unit::host_in, 1).start == run.at(Unit::matrix).end);
  SECTION("and at once where the multiply reads other bytes") {
    const auto apart = trace(
        chip, kReadInput + kFirstTile + "read_host input, host=0 ub=32 rows=1 row_bytes=32\n");
    CHECK(apart.at(Unit::host_in, 1).start == apart.at(Unit::host_in, 0).done);
  }
}

TEST_CASE("an activation starts when the host has read what it overwrites") {
  Chip chip = nanosecond_chip();
  chip.host_link.latency_us = 0.05;
  const auto run = trace(
      chip, kReadInput + kFirstTile + kActivate + kWriteOutput + "activate rows=8 ub=0x120\n");
  CHECK(run.at(Unit::host_out).start == run.at(Unit::activation, 0).done);
  CHECK(run.at(Unit::host_out).done == run.at(Unit::host_out).start + 50 + 1);
  CHECK(run.at(Unit::activation, 1).start == run.at(Unit::host_out).done);
}

TEST_CASE("a writer of the unified buffer waits for the writer before it") {
  Chip chip = nanosecond_chip();
  chip.activation_unit.pipeline_depth = 7;
  SECTION("the host for the activation unit, its pipeline included") {
    const auto run = trace(chip, kReadInput + kFirstTile + kActivate +
                                     "read_host input, host=0 ub=0x100 rows=1 row_bytes=1\n");
    CHECK(run.at(Unit::host_in, 1).start == run.at(Unit::activation).end + 7);
  }
  SECTION("the activation unit for the host") {
    chip.host_link.latency_us = 0.2;
    const auto run =
        trace(chip, kReadInput + "read_host input, host=0 ub=0x127 rows=1 row_bytes=1\n" +
                        kFirstTile + kActivate);
    CHECK(run.at(Unit::host_in, 1).done == 2 * (200 + 1));
    CHECK(run.at(Unit::activation).start == run.at(Unit::host_in, 1).done);
  }
  SECTION("the activation unit for itself") {
    const auto run =
        trace(chip, kReadInput + kFirstTile + kActivate + "activate rows=8 ub=0x120\n");
    CHECK(run.at(Unit::activation, 1).start == run.at(Unit::activation, 0).done);
  }
}

TEST_CASE("the host's scratch space keeps the order of its writers and readers") {
  Chip chip = nanosecond_chip();
  chip.host_link.latency_us = 0.05;
  const std::string out = "write_host scratch, host=0 ub=0 rows=1 row_bytes=32\n";
  const std::string in = "read_host scratch, host=31 ub=0x200 rows=1 row_bytes=1\n";
  const auto run = trace(chip, assemble_body(kReadInput + out + in + out, "host_scratch_bytes=32"));
  CHECK(run.at(Unit::host_out, 0).start == run.at(Unit::host_in, 0).done);
  CHECK(run.at(Unit::host_in, 1).start == run.at(Unit::host_out, 0).done);
  CHECK(run.at(Unit::host_out, 1).start == run.at(Unit::host_in, 1).done);
}

TEST_CASE("accumulators can be filled again when the activation unit has read its last row") {
  Chip chip = nanosecond_chip();
  chip.activation_unit.pipeline_depth = 30;
  const auto again = trace(chip, kReadInput + kFirstTile + kActivate + "matmul acc=7 rows=8\n");
  CHECK(again.at(Unit::matrix, 1).start == again.at(Unit::activation).end);
  const auto beside = trace(chip, kReadInput + kFirstTile + kActivate + "matmul acc=8 rows=8\n");
  CHECK(beside.at(Unit::matrix, 1).start == beside.at(Unit::matrix, 0).end);
}

TEST_CASE("an accumulating multiply from the same row on follows row by row, no other one does") {
  struct Case {
    std::string what, second;
    bool waits;
  };
  for (const auto& [what, second, waits] : std::vector<Case>{
           {"accumulates", "matmul acc=0 rows=8 accumulate\n", false},
           {"accumulates on fewer rows", "matmul acc=0 rows=3 accumulate\n", false},
           {"accumulates from a later row on", "matmul acc=1 rows=7 accumulate\n", true},
           {"starts anew", "matmul acc=0 rows=8\n", true},
           {"starts anew on one row", "matmul acc=7 rows=1\n", true},
           {"is elsewhere", "matmul acc=8 rows=8\n", false}}) {
    CAPTURE(what);
    const auto run = trace(nanosecond_chip(), kReadInput + kFirstTile + second);
    const Slice& first = run.at(Unit::matrix, 0);
    CHECK(first.done == first.start + (kPixels - 1) + kTravel);
    CHECK(run.at(Unit::matrix, 1).start == (waits ? first.done : first.end));
  }
}

TEST_CASE("only the multiply just before can be followed row by row") {
  const auto run = trace(nanosecond_chip(), kReadInput + kFirstTile +
                                                "matmul acc=8 rows=1\n"
                                                "matmul acc=0 rows=8 accumulate\n");
  CHECK(run.at(Unit::matrix, 1).start == run.at(Unit::matrix, 0).end);
  CHECK(run.at(Unit::matrix, 2).start == run.at(Unit::matrix, 0).done);
}

TEST_CASE("a vector operation waits for both operands and for its destination's readers") {
  Chip chip = nanosecond_chip();
  chip.activation_unit.pipeline_depth = 9;
  chip.host_link.latency_us = 0.3;
  const std::string other =
      "read_host input, host=0 ub=0x80 rows=1 row_bytes=32\n"
      "read_host input, host=0 ub=0xa0 rows=1 row_bytes=8\n";
  const std::string add = "set_config add, 0\nvector_add a=0x100 b=0x80 to=0x100 rows=8\n";
  const auto run = trace(chip, kReadInput + kFirstTile + kActivate + other + add + add);
  CHECK(run.at(Unit::activation, 0).done < run.at(Unit::host_in, 2).done);
  CHECK(run.at(Unit::activation, 1).start == run.at(Unit::host_in, 2).done);
  CHECK(run.at(Unit::activation, 2).start == run.at(Unit::activation, 1).done);
}

TEST_CASE("reading what nothing wrote is refused by name") {
  const Chip chip = nanosecond_chip();
  CHECK_THROWS_WITH(trace(chip, kFirstTile),
                    Catch::Contains("(matmul)") && Catch::Contains("nothing has written"));
  CHECK_THROWS_WITH(trace(chip, kReadInput + kActivate),
                    Catch::Contains("(activate)") && Catch::Contains("nothing has written"));
  CHECK_THROWS_WITH(
      trace(chip, kReadInput + "read_weights 0\nmatmul rows=8 next_tile accumulate\n"),
      Catch::Contains("adds to accumulator entries that nothing has written"));
  CHECK_THROWS_WITH(trace(chip, kWriteOutput),
                    Catch::Contains("(write_host)") && Catch::Contains("nothing has written"));
}
