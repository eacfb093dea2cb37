// The contract of the engines: same outputs, same cycles, same counters, from timeline,
// systemc/tile and systemc/pe.

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <tuple>

#include "base/error.h"
#include "sim/compiler/compiler.h"
#include "sim/engine.h"
#include "tests/support/hand_program.h"
#include "tests/support/random_chip.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_program.h"

using namespace tilewave;
using namespace tilewave::sim;

namespace {

/// How many random programs: TILEWAVE_RANDOM_PROGRAMS, else a number that a test run has time for.
int random_programs() {
  const char* wanted = std::getenv("TILEWAVE_RANDOM_PROGRAMS");
  return wanted == nullptr ? 2000 : std::max(1, std::atoi(wanted));
}

class Differences {
 public:
  template <typename T>
  void compare(const std::string& name, const T& expected, const T& actual) {
    if (expected != actual) text_ << "\n  " << name << ": " << expected << " / " << actual;
  }
  void compare(const std::string& name, const RunCounters& a, const RunCounters& b) {
    compare_classes(name + ".", a.classes, b.classes);
    compare_waiting(name + ".waiting.", a.waiting, b.waiting);
    compare_bytes(name + ".bytes.", a.bytes, b.bytes);
    compare(name + ".useful_macs", a.useful_macs, b.useful_macs);
    compare(name + ".vector_operations", a.vector_operations, b.vector_operations);
    compare(name + ".tiles", a.tiles, b.tiles);
    compare(name + ".instructions", a.instructions, b.instructions);
    // In case there is a counter that the lines above do not know.
    if (text_.str().empty() && !(a == b)) text_ << "\n  " << name << " differs";
  }
  std::string text() const { return text_.str(); }

 private:
  void compare_classes(const std::string& name, const CycleClasses& a, const CycleClasses& b) {
    compare(name + "active", a.active, b.active);
    compare(name + "weight_stall", a.weight_stall, b.weight_stall);
    compare(name + "weight_shift", a.weight_shift, b.weight_shift);
    compare(name + "input_stall", a.input_stall, b.input_stall);
    compare(name + "raw_stall", a.raw_stall, b.raw_stall);
    compare(name + "accumulator_stall", a.accumulator_stall, b.accumulator_stall);
    compare(name + "idle", a.idle, b.idle);
    compare(name + "drain", a.drain, b.drain);
  }
  void compare_waiting(const std::string& name, const Waiting& a, const Waiting& b) {
    compare(name + "weight_stall", a.weight_stall, b.weight_stall);
    compare(name + "weight_shift", a.weight_shift, b.weight_shift);
    compare(name + "input_stall", a.input_stall, b.input_stall);
    compare(name + "raw_stall", a.raw_stall, b.raw_stall);
    compare(name + "accumulator_stall", a.accumulator_stall, b.accumulator_stall);
  }
  void compare_bytes(const std::string& name, const BytesMoved& a, const BytesMoved& b) {
    compare(name + "host_in", a.host_in, b.host_in);
    compare(name + "host_out", a.host_out, b.host_out);
    compare(name + "weights", a.weights, b.weights);
    compare(name + "unified_buffer_read", a.unified_buffer_read, b.unified_buffer_read);
    compare(name + "unified_buffer_write", a.unified_buffer_write, b.unified_buffer_write);
    compare(name + "accumulator_read", a.accumulator_read, b.accumulator_read);
    compare(name + "accumulator_write", a.accumulator_write, b.accumulator_write);
  }
  std::ostringstream text_;
};

std::string slice_text(const Slice& s) {
  std::ostringstream text;
  text << "unit " << static_cast<int>(s.unit) << " launch " << s.launch << " instruction "
       << s.instruction << ": " << s.start << " to " << s.end << ", " << s.done;
  return text.str();
}

std::string trace_difference(std::vector<Slice> a, std::vector<Slice> b) {
  const auto before = [](const Slice& x, const Slice& y) {
    return std::tie(x.start, x.unit, x.launch, x.instruction) <
           std::tie(y.start, y.unit, y.launch, y.instruction);
  };
  std::sort(a.begin(), a.end(), before);
  std::sort(b.begin(), b.end(), before);
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) continue;
    return "\n  first slice that differs: " + slice_text(a[i]) + " / " + slice_text(b[i]);
  }
  return a.size() == b.size() ? "" : "\n  number of slices differs";
}

std::string stall_text(const Stall& s) {
  std::ostringstream text;
  text << "reason " << static_cast<int>(s.reason) << " launch " << s.launch << " instruction "
       << s.instruction << ": " << s.start << " to " << s.end;
  return text.str();
}

std::string stall_difference(const std::vector<Stall>& a, const std::vector<Stall>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) continue;
    return "\n  first stall that differs: " + stall_text(a[i]) + " / " + stall_text(b[i]);
  }
  return a.size() == b.size() ? "" : "\n  number of stalls differs";
}

/// What is not the same; empty if nothing.
std::string differences(const RunResult& expected, const RunResult& actual) {
  Differences all;
  all.compare("cycles", expected.cycles, actual.cycles);
  all.compare("first_launch_end", expected.first_launch_end, actual.first_launch_end);
  for (std::size_t i = 0; i < expected.layers.size(); ++i) {
    all.compare("layer " + std::to_string(i), expected.layers[i], actual.layers[i]);
  }
  all.compare("total", expected.total, actual.total);
  all.compare("number of overflow counts", expected.overflows.size(), actual.overflows.size());
  for (std::size_t i = 0; i < std::min(expected.overflows.size(), actual.overflows.size()); ++i) {
    all.compare("overflows of layer " + std::to_string(i), expected.overflows[i],
                actual.overflows[i]);
  }
  std::string text = all.text() + trace_difference(expected.trace, actual.trace) +
                     stall_difference(expected.stalls, actual.stalls);
  if (expected.outputs != actual.outputs) text += "\n  outputs";
  return text;
}

/// The result, or the message of the InputError.
std::pair<RunResult, std::string> run(const Engine& engine, const Chip& chip,
                                      const Program& program,
                                      const std::vector<std::int16_t>& inputs) {
  RunOptions options;
  options.trace = true;
  try {
    return {engine.run(chip, program, inputs, options), ""};
  } catch (const InputError& error) {
    return {RunResult{}, error.what()};
  }
}

std::string engine_differences(const Chip& chip, const Program& program,
                               const std::vector<std::int16_t>& inputs) {
  const auto [expected, expected_error] = run(*make_timeline(), chip, program, inputs);
  std::string text;
  for (const MatrixUnit unit : {MatrixUnit::tile, MatrixUnit::pe}) {
    const auto [actual, error] = run(*make_systemc(unit), chip, program, inputs);
    std::string found = differences(expected, actual);
    if (error != expected_error) found += "\n  error: " + expected_error + " / " + error;
    if (!found.empty()) text += (unit == MatrixUnit::tile ? "\ntile" : "\npe") + found;
  }
  return text;
}

std::vector<std::int16_t> random_values(const Program& program, std::int64_t images,
                                        std::uint32_t seed) {
  std::mt19937 random(seed);
  const quant::Format& format = program.activation_format;
  std::vector<std::int16_t> values;
  for (std::int64_t i = 0; i < images * program.input.layout.shape.elements(); ++i) {
    const auto span = static_cast<std::uint32_t>(format.qmax() - format.qmin() + 1);
    values.push_back(
        static_cast<std::int16_t>(format.qmin() + static_cast<std::int32_t>(random() % span)));
  }
  return values;
}

/// Any width and overflow, in half of the cases.
void narrow_accumulators(Chip& chip) {
  if (*rc::gen::arbitrary<bool>()) return;
  chip.precision.accumulator_bits = *rc::gen::inRange(12, 33);
  chip.precision.overflow = *rc::gen::arbitrary<bool>() ? Overflow::wrap : Overflow::saturate;
}

const auto kDataflows = {Dataflow::weight_stationary, Dataflow::output_stationary,
                         Dataflow::input_stationary};

Dataflow random_dataflow() {
  return *rc::gen::elementOf(std::vector<Dataflow>(kDataflows));
}

/// A property over TILEWAVE_RANDOM_PROGRAMS cases.
template <typename Property>
bool check_programs(Property property) {
  const rc::detail::TestMetadata metadata;
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = random_programs();
  const auto result = rc::detail::checkTestable(property, metadata, params);
  rc::detail::printResultMessage(result, std::cerr);
  return result.template is<rc::detail::SuccessResult>();
}

}  // namespace

TEST_CASE("engines agree on chains of tiles") {
  const auto [rows, cols, batch, tiles] =
      GENERATE(table<std::int64_t, std::int64_t, std::int64_t, std::int64_t>(
          {{1, 1, 1, 1}, {4, 4, 4, 1}, {4, 4, 1, 5}, {5, 3, 7, 3}, {3, 9, 2, 6}, {16, 16, 40, 4}}));
  CAPTURE(rows, cols, batch, tiles);
  const bool is_double_buffered = GENERATE(false, true);
  CAPTURE(is_double_buffered);
  const Program program = test::tile_chain(rows, cols, batch, tiles);
  Chip chip = test::frictionless_chip(rows, cols);
  chip.array.double_buffered_weights = is_double_buffered;
  CHECK(engine_differences(chip, program, random_values(program, 3 * batch, 1)) == "");
  Chip slow = chip;
  slow.host_link.latency_us = 0.1;
  slow.weight_memory.bandwidth = 1'000'000'000;
  slow.weight_memory.latency_ns = 50;
  slow.sequencer.issue_cycles = 3;
  slow.activation_unit.pipeline_depth = 7;
  CHECK(engine_differences(slow, program, random_values(program, 3 * batch - 1, 2)) == "");
}

TEST_CASE("engines agree on compiled random networks on random chips", "[soak]") {
  REQUIRE(check_programs([] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto graph = test::random_quantized_graph(seed);
    Chip chip = test::random_chip(seed, graph.scheme, random_dataflow());
    narrow_accumulators(chip);
    const std::int64_t batch = *rc::gen::inRange(1, 6);
    const std::int64_t images = *rc::gen::inRange(1, 12);
    const Program program = [&] {
      try {
        return compile(graph, chip, batch);
      } catch (const InputError&) {
        RC_DISCARD("the chip is too small, or an Add mixes layouts");
      }
    }();
    const std::string found =
        engine_differences(chip, program, test::random_images(graph, images, seed));
    RC_LOG() << found << std::endl;
    RC_ASSERT(found.empty());
  }));
}

TEST_CASE("engines agree on random programs, which have hazards on purpose", "[soak]") {
  REQUIRE(check_programs([] {
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    test::RandomProgramLimits limits;
    limits.steps = 0;
    const Program formats = test::random_program(seed, limits);
    quant::Scheme scheme;
    scheme.activation_bits = formats.activation_format.bits;
    scheme.weight_bits = formats.weight_format.bits;
    limits.dataflow = random_dataflow();
    Chip chip = test::random_chip(*rc::gen::arbitrary<std::uint64_t>(), scheme, limits.dataflow);
    narrow_accumulators(chip);
    limits.steps = *rc::gen::inRange(1, 12);
    limits.array_rows = chip.array.rows;
    limits.array_cols = chip.array.cols;
    limits.accumulator_rows = chip.accumulators.depth;
    const Program program = test::random_program(seed, limits);
    const std::int64_t images = *rc::gen::inRange<std::int64_t>(1, 5 * program.batch);
    const std::string found =
        engine_differences(chip, program, random_values(program, images, seed));
    RC_LOG() << found << std::endl;
    RC_ASSERT(found.empty());
  }));
}

TEST_CASE("engines agree on transfers of rows that lie apart on both sides") {
  const Chip chip = test::frictionless_chip(2, 2);
  Program program = test::tile_chain(2, 2, 2, 1);
  // Every second byte in one transfer, the others in the next.
  std::vector<Instruction> code;
  for (Instruction i : program.instructions) {
    const bool is_transfer = i.opcode == Opcode::read_host || i.opcode == Opcode::write_host;
    if (is_transfer) {
      i.rows = i.stride = i.stride_b = 2;
      i.row_bytes = 1;
      code.push_back(i);
      ++i.host;
      ++i.unified_buffer;
    }
    code.push_back(i);
  }
  program.instructions = code;
  CHECK(engine_differences(chip, program, {1, 2, 3, 4, 5, 6, 70, 80}) == "");
}

TEST_CASE("engines agree where a row is held for longer than its result travels") {
  Chip chip = test::frictionless_chip(1, 1);
  chip.systolic_data_setup.gather_rows_per_cycle = 0.25;
  Program program = test::tile_chain(1, 1, 3, 1);
  CHECK(engine_differences(chip, program, {1, 2, 3, 4, 5}) == "");
  // The multiply is the last that the program does.
  program.instructions.erase(program.instructions.end() - 3, program.instructions.end() - 1);
  CHECK(engine_differences(chip, program, {1, 2, 3, 4, 5}) == "");
}

TEST_CASE("engines agree on what does not work") {
  Chip chip = test::frictionless_chip(2, 2);
  Program program = test::tile_chain(2, 2, 1, 4);
  chip.array.dataflow = program.dataflow = GENERATE(
      Dataflow::weight_stationary, Dataflow::output_stationary, Dataflow::input_stationary);
  auto& code = program.instructions;
  SECTION("tiles that wait for each other's places") {
    // Four tiles are asked for before the first multiply, but the shadow plane, the FIFO and the
    // queue hold one each.
    std::stable_partition(code.begin(), code.end(), [](const Instruction& i) {
      return i.opcode == Opcode::set_config || i.opcode == Opcode::read_weights;
    });
    chip.weight_memory.fifo_tiles = 1;
    chip.sequencer.queue_depth = 1;
    CHECK(run(*make_timeline(), chip, program, {1, 2}).second.find("waits forever") !=
          std::string::npos);
  }
  SECTION("input that was not read") {
    std::erase_if(code, [](const Instruction& i) { return i.opcode == Opcode::read_host; });
    CHECK(run(*make_timeline(), chip, program, {1, 2}).second.find("nothing has written") !=
          std::string::npos);
  }
  SECTION("a sum without a first term") {
    for (Instruction& i : code) i.accumulate = i.opcode == Opcode::matmul;
    CHECK(run(*make_timeline(), chip, program, {1, 2}).second.find("nothing has written") !=
          std::string::npos);
  }
  CHECK(engine_differences(chip, program, {1, 2}) == "");
}

TEST_CASE("instructions that follow the last effect do not lengthen a run") {
  Chip chip = test::frictionless_chip(2, 2);
  chip.sequencer.issue_cycles = 1000;
  Program program = test::tile_chain(2, 2, 1, 1);
  Instruction nop;
  program.instructions.insert(program.instructions.end() - 1, 5, nop);
  CHECK(engine_differences(chip, program, {1, 2, 3, 4}) == "");
}

TEST_CASE("a run for cycles alone counts what a run with values counts") {
  const auto seed = GENERATE(range(0U, 8U));
  test::RandomProgramLimits limits;
  limits.dataflow = GENERATE(values(kDataflows));
  const Program program = test::random_program(seed, limits);
  quant::Scheme scheme;
  scheme.activation_bits = program.activation_format.bits;
  scheme.weight_bits = program.weight_format.bits;
  Chip chip = test::random_chip(seed, scheme, limits.dataflow);
  chip.array.rows = limits.array_rows;
  chip.array.cols = limits.array_cols;
  chip.accumulators.depth = limits.accumulator_rows;
  for (const MatrixUnit unit : {MatrixUnit::tile, MatrixUnit::pe}) {
    const auto engine = make_systemc(unit);
    RunResult with_values =
        engine->run(chip, program, random_values(program, 3 * program.batch, seed));
    with_values.outputs.clear();
    with_values.overflows.clear();
    CHECK(differences(with_values, engine->time(chip, program, 3)) == "");
  }
}
