#include "sim/fault.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>

#include "base/error.h"
#include "sim/engine.h"
#include "tests/sim/systemc/small_multiply.h"
#include "tests/support/random_chip.h"
#include "tests/support/random_program.h"

using namespace tilewave;
using namespace tilewave::sim;

namespace {

RunResult run_small(const FaultOptions& faults, Dataflow dataflow = Dataflow::weight_stationary) {
  RunOptions options;
  options.faults = faults;
  return make_systemc(MatrixUnit::pe)
      ->run(test::small_chip(dataflow), test::small_multiply(dataflow),
            test::flat(test::kActivations), options);
}

RunResult run_small(const std::string& fault, Dataflow dataflow = Dataflow::weight_stationary) {
  return run_small(FaultOptions{.stuck = {parse_fault(fault)}}, dataflow);
}

using Outputs = std::vector<std::int16_t>;

/// The last row of kSums: what comes out of a sound array.
const Outputs kSound = {10, -6, 13, 10, 26, -10, 37, 18, -10, 6, -13, -10, 0, 3, 1, -2};

constexpr std::int64_t kLongRows = 4000;

/// One multiply of so many rows.
RunResult run_long(double rate, std::uint64_t seed) {
  RunOptions options;
  options.faults.rate = rate;
  options.faults.seed = seed;
  return make_systemc(MatrixUnit::pe)
      ->run(test::frictionless_chip(8, 8), test::tile_chain(8, 8, kLongRows, 1),
            Outputs(static_cast<std::size_t>(8 * kLongRows), 1), options);
}

std::string refusal(const std::string& fault) {
  try {
    run_small(fault);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("nothing broken changes nothing") {
  CHECK(run_small(FaultOptions{}).outputs == kSound);
  CHECK(run_small(FaultOptions{.rate = 0, .seed = 7}).outputs == kSound);
  CHECK(run_small(FaultOptions{}).faults == FaultCounts{});
}

TEST_CASE("a stuck bit of a weight makes it another weight") {
  // 0 at (2, 1) becomes 4: column 1 gets 4 times the third activation more.
  Outputs expected = kSound;
  expected[1] = -6 + 12;
  expected[5] = -10 + 28;
  expected[9] = 6 - 12;
  const RunResult result = run_small("matrix_unit.pe_2_1.weight bit 2 stuck-at-1");
  CHECK(result.outputs == expected);
  CHECK(result.cycles == run_small(FaultOptions{}).cycles);
  // 3 at (2, 0) becomes 1.
  expected = kSound;
  expected[0] = 10 - 6;
  expected[4] = 26 - 14;
  expected[8] = -10 + 6;
  CHECK(run_small("matrix_unit.pe_2_0.weight bit 1 stuck-at-0").outputs == expected);
  // 0 at (3, 0) becomes -128, and 8 bits of output saturate.
  expected = kSound;
  expected[0] = expected[4] = -128;
  expected[8] = 127;
  expected[12] = 127;
  CHECK(run_small("matrix_unit.pe_3_0.weight bit 7 stuck-at-1").outputs == expected);
}

TEST_CASE("a stuck bit of a partial sum is added where it was not set") {
  // The sums at (0, 0) are 1, 5, -1 and 0; bit 4 is set in the third.
  Outputs expected = kSound;
  expected[0] = 10 + 16;
  expected[4] = 26 + 16;
  expected[12] = 0 + 16;
  CHECK(run_small("matrix_unit.pe_0_0.psum bit 4 stuck-at-1").outputs == expected);
  // The bottom row's goes straight to the accumulators; bit 31 is the sign of 32 bits.
  // -6 without its sign, in cycle 4 + 3 + 1, is far above what an output can be.
  expected = kSound;
  expected[1] = 127;
  CHECK(run_small("matrix_unit.pe_3_1.psum bit 31 stuck-at-0 from 4 to 9").outputs == expected);
}

TEST_CASE("a stuck bit of an activation goes on to the right") {
  // Of the second activations 2, 6, -2 and 1 only the last has bit 0. Columns 1 to 3 see 0 for it;
  // their weights are 1, 2 and 0.
  Outputs expected = kSound;
  expected[13] = 3 - 1;
  expected[14] = 1 - 2;
  const RunResult result = run_small("matrix_unit.pe_1_1.activation bit 0 stuck-at-0");
  CHECK(result.outputs == expected);
  CHECK(result.faults.forced == 1);
  // In the first column it is what enters.
  expected = kSound;
  expected[0] = 10 + 3 * 16;
  expected[2] = 13 + 16;
  expected[3] = 10 + 16;
  CHECK(run_small("matrix_unit.pe_2_0.activation bit 4 stuck-at-1 from 6 to 7").outputs ==
        expected);
}

TEST_CASE("a stuck bit wakes an activation that is zero") {
  // The third activations are 3, 7, -3 and 0; the last becomes 1, on weights 3, 0, 1 and 1.
  Outputs expected = kSound;
  expected[12] = 0 + 3;
  expected[14] = 1 + 1;
  expected[15] = -2 + 1;
  CHECK(run_small("matrix_unit.pe_2_0.activation bit 0 stuck-at-1").outputs == expected);
}

TEST_CASE("a stuck bit of a shadow weight breaks all weights that pass it") {
  // Rows 1 to 3 of column 0 go through row 1 or stay there: 0, 3 and 0 become 1, 3 and 1.
  Outputs expected = kSound;
  expected[0] = 10 + 2 + 4;
  expected[4] = 26 + 6 + 8;
  expected[8] = -10 - 2 - 4;
  expected[12] = 0 + 1 - 1;
  const RunResult result = run_small("matrix_unit.pe_1_0.shadow bit 0 stuck-at-1 from 1");
  CHECK(result.outputs == expected);
  CHECK(result.faults.forced == 2);
}

TEST_CASE("faults in an output-stationary array") {
  const auto outputs = [](const std::string& fault) {
    return run_small(fault, Dataflow::output_stationary).outputs;
  };
  // Products 10, 12, 7 and 8 at (1, 2): 10 becomes 26, then 38 becomes 54, then 61 has bit 4, and
  // 69 becomes 85.
  Outputs expected = kSound;
  expected[6] = 85;
  CHECK(outputs("matrix_unit.pe_1_2.psum bit 4 stuck-at-1") == expected);
  // Sums of the first three pixels leave through row 2.
  expected = kSound;
  expected[0] = 10 + 1;
  expected[4] = 26 + 1;
  expected[8] = -10 + 1;
  CHECK(outputs("matrix_unit.pe_2_0.drain bit 0 stuck-at-1") == expected);
  // The weights of channel 3, -1, 0, 1 and 2, go on down from pixel 2: 1 becomes 0 in the third
  // step, and -1 becomes -2 in the first.
  expected = kSound;
  expected[11] = -10 + 1 + 3;
  expected[15] = -2 - 0 - 0;
  CHECK(outputs("matrix_unit.pe_2_3.weight bit 0 stuck-at-0") == expected);
}

TEST_CASE("faults in an input-stationary array") {
  const auto outputs = [](const std::string& fault) {
    return run_small(fault, Dataflow::input_stationary).outputs;
  };
  // The fourth activation of the third pixel, -4, becomes -2: twice the weights 0, -2, 1, 2 more.
  Outputs expected = kSound;
  expected[9] = 6 - 4;
  expected[10] = -13 + 2;
  expected[11] = -10 + 4;
  CHECK(outputs("matrix_unit.pe_3_2.activation bit 1 stuck-at-1") == expected);
  // Of the weights 0, 1, 2, 0 in row 1 the second becomes 0, for this pixel and those on its right.
  expected = kSound;
  expected[5] = -10 - 6;
  expected[9] = 6 + 2;
  expected[13] = 3 - 1;
  CHECK(outputs("matrix_unit.pe_1_1.weight bit 0 stuck-at-0") == expected);
}

TEST_CASE("a fault strikes in its cycles alone") {
  // The second row's sum is at (0, 0) in cycle 5.
  Outputs expected = kSound;
  expected[4] = 26 + 16;
  const RunResult result = run_small("matrix_unit.pe_0_0.psum bit 4 stuck-at-1 from 5 to 6");
  CHECK(result.outputs == expected);
  CHECK(result.faults.forced == 1);
  CHECK(result.faults.flips == 0);
  CHECK(run_small("matrix_unit.pe_0_0.psum bit 4 stuck-at-1 from 8").outputs == kSound);
  CHECK(run_small("matrix_unit.pe_0_0.psum bit 4 stuck-at-1 from 0 to 4").outputs == kSound);
}

TEST_CASE("a stuck weight bit is the same as a program with that weight") {
  REQUIRE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    test::RandomProgramLimits limits;
    limits.steps = 0;
    const Program formats = test::random_program(seed, limits);
    quant::Scheme scheme;
    scheme.activation_bits = formats.activation_format.bits;
    scheme.weight_bits = formats.weight_format.bits;
    Chip chip = test::random_chip(*rc::gen::arbitrary<std::uint64_t>(), scheme);
    chip.array.double_buffered_weights = true;  // else weights pass others' places
    limits.steps = *rc::gen::inRange(1, 8);
    limits.array_rows = chip.array.rows;
    limits.array_cols = chip.array.cols;
    limits.accumulator_rows = chip.accumulators.depth;
    Program program = test::random_program(seed, limits);

    StuckBit fault;
    fault.row = *rc::gen::inRange<std::int64_t>(0, chip.array.rows);
    fault.column = *rc::gen::inRange<std::int64_t>(0, chip.array.cols);
    fault.bit = *rc::gen::inRange(0, chip.precision.weight_bits);
    fault.value = *rc::gen::arbitrary<bool>();
    RunOptions options;
    options.faults.stuck = {fault};
    std::mt19937 random(seed);
    const quant::Format& format = program.activation_format;
    std::vector<std::int16_t> inputs;
    for (std::int64_t i = 0; i < program.batch * program.input.layout.shape.elements(); ++i) {
      const auto span = static_cast<std::uint32_t>(format.qmax() - format.qmin() + 1);
      inputs.push_back(
          static_cast<std::int16_t>(format.qmin() + static_cast<std::int32_t>(random() % span)));
    }
    const RunResult broken = make_systemc(MatrixUnit::pe)->run(chip, program, inputs, options);

    for (const Tile& tile : program.tiles) {
      if (fault.row >= tile.rows || fault.column >= tile.cols) continue;
      std::int16_t& weight = program.weights[static_cast<std::size_t>(
          tile.offset + fault.row * tile.cols + fault.column)];
      const int sign = 1 << (chip.precision.weight_bits - 1);
      int bits = weight & (2 * sign - 1);
      bits = fault.value ? bits | 1 << fault.bit : bits & ~(1 << fault.bit);
      if (program.weight_format.is_signed && (bits & sign) != 0) bits -= 2 * sign;
      weight = static_cast<std::int16_t>(bits);
    }
    RC_ASSERT(make_timeline()->run(chip, program, inputs).outputs == broken.outputs);
  }));
}

TEST_CASE("random flips are the same for the same seed and others for another") {
  const RunResult one = run_long(0.1, 1);
  const RunResult again = run_long(0.1, 1);
  const RunResult other = run_long(0.1, 2);
  CHECK(one.outputs == again.outputs);
  CHECK(one.faults == again.faults);
  CHECK(one.outputs != other.outputs);
  CHECK(one.outputs != run_long(0, 1).outputs);
}

TEST_CASE("random flips come at their rate") {
  // The array's clock runs from the first row of the tile to the last sum: 8 cycles of shift-in,
  // the rows, and 8 + 8 - 2 cycles for the last one. A Poisson number is within 5 standard
  // deviations of its mean.
  constexpr double kClocks = 8 + kLongRows + 8 + 8 - 2;
  for (const double rate : {0.01, 0.1, 1.0, 7.5}) {
    CAPTURE(rate);
    const auto flips = static_cast<double>(run_long(rate, 3).faults.flips);
    CHECK(flips == Approx(rate * kClocks).margin(5 * std::sqrt(rate * kClocks)));
  }
}

TEST_CASE("a fault's text is read and written") {
  const std::string text = "matrix_unit.pe_3_7.weight bit 6 stuck-at-1 from 100 to 200";
  const StuckBit fault = parse_fault(text);
  CHECK(fault == StuckBit{3, 7, Register::weight, 6, true, 100, 200});
  CHECK(fault_text(fault) == text);
  const StuckBit always = parse_fault("  matrix_unit.pe_0_12.psum  bit 31 stuck-at-0 ");
  CHECK(always == StuckBit{0, 12, Register::psum, 31, false});
  CHECK(parse_fault(fault_text(always)) == always);
  CHECK(parse_fault("matrix_unit.pe_0_0.psum bit 0 stuck-at-0 to 5").to == 5);
}

TEST_CASE("a fault that is not one is refused with what is allowed") {
  const std::string pe = "matrix_unit.pe_0_0.weight ";
  CHECK(refusal("pe_3_7.weight bit 6 stuck-at-1") ==
        "fault: 'pe_3_7.weight' is no register (matrix_unit.pe_ROW_COLUMN.activation|weight|shadow|"
        "psum|drain bit N stuck-at-0|1 [from CYCLE] [to CYCLE])");
  CHECK(refusal("matrix_unit.pe_0_0.wieght bit 0 stuck-at-1") ==
        "fault: 'wieght' is no register (did you mean weight?)");
  CHECK(refusal(pe + "6 stuck-at-1").starts_with("fault: '6' stands where 'bit' should ("));
  CHECK(refusal(pe + "bit six stuck-at-1") == "fault: 'six' is no bit (a whole number from 0)");
  CHECK(refusal(pe + "bit 6 stuck-at-2") ==
        "fault: 'stuck-at-2' is no fault (stuck-at-0 or stuck-at-1)");
  CHECK(refusal(pe + "bit 6 stuck-at-1 at 5").starts_with("fault: 'at' is one word too many ("));
  CHECK(refusal(pe + "bit 6 stuck-at-1 from") == "fault: '' is no cycle (a whole number from 0)");
  CHECK(refusal(pe + "bit 6 stuck-at-1 from -1") ==
        "fault: '-1' is no cycle (a whole number from 0)");
  CHECK(refusal(pe + "bit 6 stuck-at-1 from 5 to 5") ==
        "fault: no cycle is from 5 and before 5 (from CYCLE to a later CYCLE)");
  CHECK(refusal("") != "");
  for (const char* place :
       {"matrix_unit.pe_.weight", "matrix_unit.pe_1.weight", "matrix_unit.pe_1_.weight",
        "matrix_unit.pe__1.weight", "matrix_unit.pe_1_2", "matrix_unit.pe_1.5_2",
        "matrix_unit.pe_-1_2.x"}) {
    CAPTURE(place);
    CHECK_THAT(refusal(std::string(place) + " bit 0 stuck-at-1"),
               Catch::Contains("is no register"));
  }
}

TEST_CASE("one bit stuck at both values is refused, unless at different times") {
  const Chip chip = test::frictionless_chip(4, 4);
  const auto check = [&](const std::string& one, const std::string& other) {
    check_faults(chip, test::small_multiply(),
                 {.stuck = {parse_fault("matrix_unit.pe_0_0.weight bit 1 " + one),
                            parse_fault("matrix_unit.pe_0_0.weight bit 1 " + other)}});
  };
  CHECK_THROWS_WITH(check("stuck-at-1", "stuck-at-0 from 5"),
                    "fault: 'matrix_unit.pe_0_0.weight bit 1 stuck-at-0 from 5' and "
                    "'matrix_unit.pe_0_0.weight bit 1 stuck-at-1 from 0' contradict each other "
                    "(one value in each cycle)");
  CHECK_NOTHROW(check("stuck-at-1 to 5", "stuck-at-0 from 5"));
  CHECK_NOTHROW(check("stuck-at-1", "stuck-at-1 from 5"));
}

TEST_CASE("a fault outside of the array is refused") {
  CHECK(refusal("matrix_unit.pe_4_0.weight bit 0 stuck-at-1") ==
        "fault: row 4 does not exist (0 to 3)");
  CHECK(refusal("matrix_unit.pe_0_9.weight bit 0 stuck-at-1") ==
        "fault: column 9 does not exist (0 to 3)");
  CHECK(refusal("matrix_unit.pe_0_0.weight bit 8 stuck-at-1") ==
        "fault: bit 8 does not exist (0 to 7)");
  CHECK(refusal("matrix_unit.pe_0_0.psum bit 32 stuck-at-1") ==
        "fault: bit 32 does not exist (0 to 31)");
  Chip single = test::frictionless_chip(4, 4);
  single.array.double_buffered_weights = false;
  const FaultOptions shadow{.stuck = {parse_fault("matrix_unit.pe_0_0.shadow bit 0 stuck-at-1")}};
  CHECK_THROWS_WITH(check_faults(single, test::small_multiply(), shadow),
                    Catch::Contains("has no shadow registers (activation, weight, psum)"));
  for (const double rate : {-1.0, kMaxFaultRate * 1.01, std::nan("")}) {
    CHECK_THROWS_WITH(check_faults(single, test::small_multiply(), {.rate = rate}),
                      Catch::Contains("0 to 100 flips per cycle"));
  }
}

TEST_CASE("engines without registers, and runs without values, refuse to break them") {
  RunOptions options;
  options.faults.rate = 1;
  const Chip chip = test::frictionless_chip(4, 4);
  const Program program = test::small_multiply();
  for (const auto& engine : {make_timeline(), make_systemc(MatrixUnit::tile)}) {
    CHECK_THROWS_WITH(engine->run(chip, program, test::flat(test::kActivations), options),
                      Catch::Contains("does not model the array's registers"));
  }
  CHECK_THROWS_WITH(make_systemc(MatrixUnit::pe)->time(chip, program, 1, options),
                    Catch::Contains("without values"));
}
