// Output- and input-stationary programs in assembly, with hazards on purpose: when each multiply
// and each load starts, ends and is done, and what the gaps are charged to, counted by hand.

#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <string>
#include <vector>

#include "sim/engine.h"
#include "tests/support/hand_program.h"

using namespace tilewave;
using namespace tilewave::sim;

namespace {

/// Array of 3 x 4. Nothing takes time but it and, one cycle each, host transfers and rows of the
/// activation unit. A cycle is 1 ns.
Chip chip_of(Dataflow dataflow) {
  Chip chip = test::frictionless_chip(3, 4);
  chip.clock_mhz = 1000;
  chip.array.dataflow = dataflow;
  return chip;
}

/// Six pixels of `depth` channels from address 0 on; products of 4 channels from 0x40 on. Setup 0
/// reads the input, setup 1 three channels of the products. Tile 1 has three rows and two columns,
/// tile 2 one row.
std::string body_text(const std::string& dataflow, int depth, const std::string& body) {
  const std::string d = std::to_string(depth);
  std::string rows;
  for (int k = 0; k < depth; ++k) {
    rows += (k == 0 ? "[" : ",[") + std::to_string(40 * k - 60) + ",100,-3," +
            std::to_string(90 - 50 * k) + "]";
  }
  return ".program name=\"hazards\" dataflow=" + dataflow +
         " unified_buffer_peak=0x80\n.input shape=6x1x" + d +
         "\n.output shape=6x1x4\n.layer 0 name=\"product\" operation=\"Gemm\"\n"
         ".setup 0 source=6x1x" +
         d + " output=6x1x4 channel_count=" + d +
         "\n"
         ".setup 1 source=6x1x4 output=6x1x4 channel_count=3\n"
         ".columns 0 bias=[10,-10,0,7] multiplier=[0.01,0.01,0.5,0.02]\n"
         ".tile 0 weights=[" +
         rows +
         "]\n"
         ".tile 1 weights=[[5,-6],[70,8],[-9,100]]\n"
         ".tile 2 weights=[[3,-4,5,-6]]\n"
         "set_config layer, 0\nset_config setup, 0\nset_config columns, 0\n"
         "read_host input, host=0 ub=0 rows=1 row_bytes=" +
         std::to_string(6 * depth) + "\n" + body +
         "write_host output, host=0 ub=0x40 rows=1 row_bytes=24\nhalt\n";
}

std::string os_text(const std::string& body) {
  return body_text("output_stationary", 5, body);
}
std::string is_text(const std::string& body) {
  return body_text("input_stationary", 3, body);
}

/// start, end, done
using Times = std::vector<Cycles>;

class Traced {
 public:
  Traced(MatrixUnit unit, const Chip& chip, const std::string& program) {
    RunOptions options;
    options.trace = true;
    result_ = make_systemc(unit)->time(chip, assemble(program, "test"), 1, options);
  }
  std::vector<Times> multiplies() const { return times(Unit::matrix); }
  std::vector<Times> loads() const { return times(Unit::weight_shift); }
  std::vector<Times> times(Unit unit) const {
    std::vector<Times> all;
    for (const Slice& slice : result_.trace) {
      if (slice.unit == unit) all.push_back({slice.start, slice.end, slice.done});
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  const RunCounters& total() const { return result_.total; }
  const CycleClasses& classes() const { return result_.total.classes; }

 private:
  RunResult result_;
};

std::vector<std::int16_t> some_inputs(const Program& program) {
  std::vector<std::int16_t> inputs;
  for (int i = 0; i < 2 * program.input.layout.shape.elements(); ++i) {
    inputs.push_back(static_cast<std::int16_t>((i * 89 + 31) % 256 - 128));
  }
  return inputs;
}

/// The same multiplies, weight-stationary, on the other engine.
std::vector<std::int16_t> weight_stationary_outputs(Chip chip, const std::string& text) {
  std::string other =
      std::regex_replace(text, std::regex("(output|input)_stationary"), "weight_stationary");
  other = std::regex_replace(other, std::regex(" keep_rows"), "");
  chip.array.dataflow = Dataflow::weight_stationary;
  chip.array.rows = 16;
  const Program program = assemble(other, "weight-stationary");
  return make_timeline()->run(chip, program, some_inputs(program)).outputs;
}

void check_outputs(MatrixUnit unit, Chip chip, const std::string& text) {
  for (const int bits : {32, 15}) {
    CAPTURE(bits);
    chip.precision.accumulator_bits = bits;
    chip.precision.overflow = Overflow::saturate;
    const Program program = assemble(text, "test");
    CHECK(make_systemc(unit)->run(chip, program, some_inputs(program)).outputs ==
          weight_stationary_outputs(chip, text));
  }
}

}  // namespace

// -----------------------------------------------------------------------------------------------
// Output-stationary. A multiply of T steps from s on ends at s + T; its last result leaves the
// array T - 1 + 2 * 3 + 4 - 1 = T + 8 cycles after s. The input is there at 1.

TEST_CASE("a tile is streamed again where it stays, and sums wait for those before them") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  Chip chip = chip_of(Dataflow::output_stationary);
  const std::string text = os_text(
      "read_weights 0\n"
      "read_weights 2\n"
      "matmul acc=0 first=0 rows=3 next_tile\n"
      "matmul acc=3 first=3 rows=3\n"
      "matmul acc=6 first=1 rows=3 k=2 next_tile\n"
      "activate rows=6 ub=0x40\n"
      "activate acc=6 rows=3 ub=0x40\n");
  SECTION("in second registers, which the third multiply's one step finds full") {
    // The second's last step enters in 10, so a last step can enter from 10 + 3 on.
    const Traced traced(unit, chip, text);
    CHECK(traced.multiplies() == std::vector<Times>{{1, 6, 14}, {6, 11, 19}, {13, 14, 22}});
    CHECK(traced.classes().accumulator_stall == 2);
    CHECK(traced.total().waiting.accumulator_stall == 2);
    CHECK(traced.classes().idle == 0);
  }
  SECTION("in the only registers, until they are out") {
    chip.array.double_buffered_weights = false;
    const Traced traced(unit, chip, text);
    CHECK(traced.multiplies() == std::vector<Times>{{1, 6, 14}, {14, 19, 27}, {27, 28, 36}});
    CHECK(traced.classes().accumulator_stall == 8 + 8);
  }
  CHECK(Traced(unit, chip, text).loads().empty());
  check_outputs(unit, chip, text);
}

TEST_CASE("many steps after one need not wait, one step after one must") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  const Chip chip = chip_of(Dataflow::output_stationary);
  const std::string text = os_text(
      "read_weights 2\n"
      "read_weights 0\n"
      "matmul acc=0 first=0 rows=3 k=1 next_tile\n"
      "matmul acc=3 first=3 rows=3 k=1\n"
      "matmul acc=6 first=0 rows=3 next_tile\n"
      "activate rows=6 ub=0x40\n"
      "activate acc=6 rows=3 ub=0x40\n");
  const Traced traced(unit, chip, text);
  CHECK(traced.multiplies() == std::vector<Times>{{1, 2, 10}, {4, 5, 13}, {5, 10, 18}});
  CHECK(traced.classes().accumulator_stall == 2);
  check_outputs(unit, chip, text);
}

TEST_CASE("a streamed tile keeps its place in the FIFO until the first multiply of it ends") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  Chip chip = chip_of(Dataflow::output_stationary);
  chip.weight_memory.fifo_tiles = 1;
  chip.weight_memory.latency_ns = 7;
  const std::string text = os_text(
      "read_weights 0\n"
      "read_weights 2\n"
      "matmul acc=0 first=0 rows=3 next_tile\n"
      "matmul acc=3 first=3 rows=3\n"
      "matmul acc=0 first=0 rows=3 k=2 next_tile accumulate\n"
      "activate rows=6 ub=0x40\n");
  const Traced traced(unit, chip, text);
  CHECK(traced.times(Unit::weight_memory) == std::vector<Times>{{0, 0, 7}, {12, 12, 19}});
  CHECK(traced.multiplies() == std::vector<Times>{{7, 12, 20}, {12, 17, 25}, {20, 21, 29}});
  CHECK(traced.classes().weight_stall == 7 + 2);
  // What the first wrote is there at 20; the second registers are free at 16 + 3.
  CHECK(traced.classes().accumulator_stall == 1);
  CHECK(traced.total().waiting.accumulator_stall == 3);
  check_outputs(unit, chip, text);
}

TEST_CASE("an accumulating fold follows the one before it at once, row by row") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  const Chip chip = chip_of(Dataflow::output_stationary);
  const std::string text = os_text(
      "read_weights 0\n"
      "matmul acc=0 first=0 rows=3 next_tile\n"
      "matmul acc=3 first=3 rows=3\n"
      "matmul acc=3 first=2 rows=2 accumulate\n"
      "activate rows=6 ub=0x40\n");
  CHECK(Traced(unit, chip, text).multiplies() ==
        std::vector<Times>{{1, 6, 14}, {6, 11, 19}, {11, 16, 24}});
  check_outputs(unit, chip, text);
}

// -----------------------------------------------------------------------------------------------
// Input-stationary. A load takes 3 cycles. A multiply of T channels from s on ends at s + T; its
// last result leaves the array T - 1 + 3 + 4 - 1 = T + 5 cycles after s. The input is there at 1.

TEST_CASE("activations that stay are loaded once, the next ones while they are in use") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  Chip chip = chip_of(Dataflow::input_stationary);
  const std::string text = is_text(
      "read_weights 0\n"
      "read_weights 1\n"
      "matmul acc=0 first=0 rows=4 next_tile\n"
      "matmul acc=0 first=0 rows=4 next_tile accumulate keep_rows\n"
      "matmul acc=4 first=4 rows=2\n"
      "activate rows=6 ub=0x40\n");
  SECTION("into the second plane") {
    const Traced traced(unit, chip, text);
    CHECK(traced.loads() == std::vector<Times>{{1, 4, 4}, {4, 7, 7}});
    CHECK(traced.multiplies() == std::vector<Times>{{4, 8, 13}, {8, 10, 15}, {10, 12, 17}});
    CHECK(traced.classes().input_stall == 1);
    CHECK(traced.classes().weight_shift == 3);
    CHECK(traced.classes().idle == 0);
  }
  SECTION("into the only plane, when the last result has left it") {
    chip.array.double_buffered_weights = false;
    const Traced traced(unit, chip, text);
    CHECK(traced.loads() == std::vector<Times>{{1, 4, 4}, {15, 18, 18}});
    CHECK(traced.multiplies() == std::vector<Times>{{4, 8, 13}, {8, 10, 15}, {18, 20, 25}});
    CHECK(traced.classes().weight_shift == 3 + 8);  // from 10 to 15 the plane is in use
    CHECK(traced.classes().idle == 0);
  }
  CHECK(Traced(unit, chip, text).total().bytes.unified_buffer_read == 4 * 3 + 2 * 3 + 24);
  check_outputs(unit, chip, text);
}

TEST_CASE("a load waits for what the activation unit writes") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  const Chip chip = chip_of(Dataflow::input_stationary);
  const std::string text = is_text(
      "read_weights 0\n"
      "read_weights 1\n"
      "matmul acc=0 first=0 rows=4 next_tile\n"
      "activate rows=4 ub=0x40\n"
      "set_config setup, 1\n"
      "matmul acc=4 ub=0x40 first=0 rows=2 next_tile\n"
      "activate acc=4 rows=2 ub=0x40 first=4\n");
  // The activation unit takes a cycle per row, from 13 to 17.
  const Traced traced(unit, chip, text);
  CHECK(traced.loads() == std::vector<Times>{{1, 4, 4}, {17, 20, 20}});
  CHECK(traced.multiplies() == std::vector<Times>{{4, 8, 13}, {20, 22, 27}});
  CHECK(traced.classes().raw_stall == 17 - 8);
  CHECK(traced.classes().weight_shift == 3 + 3);
  CHECK(traced.total().waiting.weight_shift == 4 + 12);
  check_outputs(unit, chip, text);
}

TEST_CASE("a multiply waits for its accumulators, its load does not") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  const Chip chip = chip_of(Dataflow::input_stationary);
  const std::string text = is_text(
      "read_weights 0\n"
      "matmul acc=0 first=0 rows=4 next_tile\n"
      "activate rows=4 ub=0x40\n"
      "matmul acc=0 first=2 rows=3\n"
      "activate rows=2 ub=0x40 first=4\n");
  const Traced traced(unit, chip, text);
  CHECK(traced.loads() == std::vector<Times>{{1, 4, 4}, {4, 7, 7}});
  CHECK(traced.multiplies() == std::vector<Times>{{4, 8, 13}, {17, 21, 26}});
  CHECK(traced.classes().accumulator_stall == 17 - 8);
  check_outputs(unit, chip, text);
}

TEST_CASE("what was loaded can be overwritten when the multiply that loaded it ends") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  const Chip chip = chip_of(Dataflow::input_stationary);
  const std::string text = is_text(
      "read_weights 0\n"
      "read_weights 1\n"
      "matmul acc=0 first=0 rows=4 next_tile\n"
      "matmul acc=0 first=0 rows=4 next_tile keep_rows accumulate\n"
      "read_host input, host=6 ub=0 rows=1 row_bytes=12\n"
      "matmul acc=4 first=0 rows=2\n"
      "activate rows=6 ub=0x40\n");
  const Traced traced(unit, chip, text);
  CHECK(traced.times(Unit::host_in) == std::vector<Times>{{0, 1, 1}, {8, 9, 9}});
  CHECK(traced.loads() == std::vector<Times>{{1, 4, 4}, {9, 12, 12}});
  CHECK(traced.multiplies() == std::vector<Times>{{4, 8, 13}, {8, 10, 15}, {12, 14, 19}});
  CHECK(traced.classes().weight_shift == 3 + 2);
  check_outputs(unit, chip, text);
}

TEST_CASE("a load goes ahead of a multiply that waits for its tile") {
  const auto unit = GENERATE(MatrixUnit::tile, MatrixUnit::pe);
  Chip chip = chip_of(Dataflow::input_stationary);
  chip.weight_memory.latency_ns = 20;
  const std::string text = is_text(
      "read_weights 0\n"
      "matmul acc=0 first=0 rows=4 next_tile\n"
      "matmul acc=4 first=4 rows=2\n"
      "activate rows=6 ub=0x40\n");
  const Traced traced(unit, chip, text);
  CHECK(traced.loads() == std::vector<Times>{{1, 4, 4}, {20, 23, 23}});
  CHECK(traced.multiplies() == std::vector<Times>{{20, 24, 29}, {24, 28, 33}});
  CHECK(traced.classes().weight_stall == 20);
  CHECK(traced.classes().weight_shift == 0);
  CHECK(traced.total().waiting.weight_shift == 4);
  check_outputs(unit, chip, text);
}
