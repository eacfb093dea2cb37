// What a program's dataflow changes: what a multiply takes in, what fits a chip, keep_rows.

#include <catch2/catch.hpp>
#include <string>

#include "base/error.h"
#include "sim/isa/decoder.h"
#include "sim/isa/fits.h"
#include "sim/isa/program.h"

namespace tilewave::sim {
namespace {

/// 6 pixels of 5 channels, times 5 x 3 weights, in two halves of 3 + 2 rows of weights.
std::string text(const std::string& dataflow, const std::string& multiplies) {
  return ".program name=\"six\" dataflow=" + dataflow +
         "\n"
         ".input shape=6x1x5\n"
         ".output shape=6x1x3\n"
         ".layer 0 name=\"product\"\n"
         ".setup 0 source=6x1x5 output=6x1x3 channel_count=5\n"
         ".setup 1 source=6x1x5 output=6x1x3 channel_count=4\n"
         ".columns 0 bias=[0,0,0] multiplier=[1,1,1]\n"
         ".tile 0 weights=[[1,1,1],[1,1,1],[1,1,1]]\n"
         ".tile 1 weights=[[1,1],[1,1]]\n"
         "set_config layer, 0\n"
         "set_config setup, 0\n"
         "set_config columns, 0\n"
         "read_host input, host=0 ub=0 rows=1 row_bytes=30\n"
         "read_weights 0\n"
         "read_weights 1\n" +
         multiplies + "halt\n";
}
const std::string kTwoHalves = "matmul rows=6 next_tile\nmatmul rows=6 k=3 next_tile accumulate\n";

Operation multiply(const Program& program, std::size_t which) {
  for (const Operation& op : decode_program(program, 0)) {
    if (op.instruction.opcode == Opcode::matmul && which-- == 0) return op;
  }
  return {};
}

std::string error_of(const std::string& program) {
  try {
    assemble(program, "p");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

Chip chip_for(Dataflow dataflow, std::int64_t rows, std::int64_t cols) {
  Chip chip;
  chip.array.dataflow = dataflow;
  chip.array.rows = rows;
  chip.array.cols = cols;
  return chip;
}

std::string misfit(const Chip& chip, const Program& program) {
  try {
    check_fits(chip, program);
  } catch (const InputError& error) {
    return error.what();
  }
  return "fits";
}

TEST_CASE("a multiply takes in pixels, rows of weights, or output channels") {
  const auto shape = [](const std::string& dataflow, std::size_t which) {
    const Operation op = multiply(assemble(text(dataflow, kTwoHalves), "p"), which);
    return std::pair(op.rows_in, op.row_elements);
  };
  using Shape = std::pair<std::int64_t, std::int64_t>;
  CHECK(shape("weight_stationary", 0) == Shape{6, 3});
  CHECK(shape("weight_stationary", 1) == Shape{6, 2});
  CHECK(shape("output_stationary", 0) == Shape{3, 6});
  CHECK(shape("output_stationary", 1) == Shape{2, 6});
  CHECK(shape("input_stationary", 0) == Shape{3, 3});
  CHECK(shape("input_stationary", 1) == Shape{2, 2});
}

TEST_CASE("every dataflow reads the same activations and fills the same accumulators") {
  for (const char* dataflow : {"weight_stationary", "output_stationary", "input_stationary"}) {
    const Operation op = multiply(assemble(text(dataflow, kTwoHalves), "p"), 1);
    CHECK(op.reads == std::vector<Span>{{0, 30}});
    CHECK(op.bytes_in == 12);
    CHECK(op.accumulators == Span{0, 6});
    CHECK(op.loads_rows == (dataflow == std::string("input_stationary")));
  }
}

TEST_CASE("a multiply that keeps rows reads nothing of the buffer") {
  const Program program =
      assemble(text("input_stationary",
                    "matmul rows=6 k=1 next_tile\nmatmul rows=6 k=1 acc=6 keep_rows\n"
                    "matmul rows=6 k=3 acc=12 next_tile\n"),
               "p");
  const Operation op = multiply(program, 1);
  CHECK(op.reads.empty());
  CHECK(op.bytes_in == 0);
  CHECK(!op.loads_rows);
  CHECK(assemble(disassemble(program), "p") == program);
  CHECK(program_from_bytes(to_bytes(program), "p") == program);
}

TEST_CASE("rows can be kept only where they are in the array") {
  const std::string first = "matmul rows=5 next_tile\n";
  const std::string last = "matmul rows=5 next_tile\n";
  const std::string other =
      "p:17: matmul: keeps other rows than the multiply before it has in the array "
      "(the same setup, ub, first, rows, k and height of the tile)";
  const auto error = [&](const std::string& second) {
    return error_of(text("input_stationary", first + second + last));
  };
  CHECK(error("matmul rows=5 acc=7 keep_rows\n") == "no error");
  CHECK(error("matmul rows=4 keep_rows\n") == other);
  CHECK(error("matmul rows=5 ub=1 keep_rows\n") == other);
  CHECK(error("matmul rows=5 first=1 keep_rows\n") == other);
  CHECK(error("matmul rows=5 k=1 keep_rows\n") == other);
  CHECK(error_of(text("input_stationary", first + "matmul rows=5 next_tile keep_rows\n")) == other);
  CHECK(error_of(text("input_stationary",
                      first + "set_config setup, 1\nmatmul rows=5 keep_rows\n" + last)) ==
        "p:18: matmul: keeps other rows than the multiply before it has in the array "
        "(the same setup, ub, first, rows, k and height of the tile)");
  CHECK(error_of(text("input_stationary", "matmul rows=6 next_tile keep_rows\n" + last)) ==
        "p:16: matmul: keeps rows, but there are none in the array");
  for (const char* dataflow : {"weight_stationary", "output_stationary"}) {
    CHECK(error_of(text(dataflow, first + "matmul rows=5 keep_rows\n" + last)) ==
          "p:17: matmul: keep_rows (in an input_stationary program)");
  }
}

TEST_CASE("a program runs on chips of its dataflow") {
  const Program program = assemble(text("output_stationary", kTwoHalves), "p");
  CHECK(misfit(chip_for(Dataflow::output_stationary, 6, 3), program) == "fits");
  CHECK(misfit(chip_for(Dataflow::input_stationary, 6, 3), program) ==
        "six: is output_stationary, but the chip's array.dataflow is input_stationary "
        "(a program made for the chip's dataflow)");
}

TEST_CASE("what must fit the array's rows and columns depends on the dataflow") {
  const auto fit = [](Dataflow dataflow, std::int64_t rows, std::int64_t cols) {
    const std::string name(kDataflowNames[static_cast<std::size_t>(dataflow)]);
    return misfit(chip_for(dataflow, rows, cols), assemble(text(name, kTwoHalves), "p"));
  };
  CHECK(fit(Dataflow::weight_stationary, 3, 3) == "fits");
  CHECK_THAT(fit(Dataflow::weight_stationary, 2, 3), Catch::Contains("tile height 3"));
  CHECK(fit(Dataflow::output_stationary, 6, 3) == "fits");
  CHECK_THAT(fit(Dataflow::output_stationary, 5, 3), Catch::Contains("number of pixels 6"));
  CHECK_THAT(fit(Dataflow::output_stationary, 6, 2), Catch::Contains("tile width 3"));
  CHECK(fit(Dataflow::input_stationary, 3, 6) == "fits");
  CHECK_THAT(fit(Dataflow::input_stationary, 2, 6), Catch::Contains("tile height 3"));
  CHECK_THAT(fit(Dataflow::input_stationary, 3, 5), Catch::Contains("number of pixels 6"));
}

}  // namespace
}  // namespace tilewave::sim
