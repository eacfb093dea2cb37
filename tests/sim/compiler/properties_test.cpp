// What holds for the cycles of any network on any chip. No values: those are in
// tests/sim/timeline.

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <utility>

#include "base/error.h"
#include "sim/compiler/buffer_plan.h"
#include "sim/compiler/compiler.h"
#include "sim/compiler/lowering.h"
#include "sim/engine.h"
#include "sim/report/assertions.h"
#include "tests/kernels/network_builder.h"
#include "tests/support/hand_program.h"
#include "tests/support/random_chip.h"
#include "tests/support/random_graph.h"

using namespace tilewave;
using namespace tilewave::sim;

namespace {

struct Any {
  std::uint64_t seed;
  quant::QuantizedGraph graph;
  Chip chip;
  std::int64_t batch, launches;

  /// Discards the case where the chip is too small, or an Add mixes layouts.
  Program compiled(const Chip& on) const {
    try {
      return compile(graph, on, batch);
    } catch (const InputError&) {
      RC_DISCARD("refused");
    }
  }
  RunResult timed(const Chip& on) const {
    return make_timeline()->time(on, compiled(on), launches);
  }
};

Dataflow any_dataflow() {
  return static_cast<Dataflow>(*rc::gen::inRange(0, 3));
}

Any any_network_and_chip(Dataflow dataflow) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Any any{seed, test::random_quantized_graph(seed), {}, 0, 0};
  any.chip = test::random_chip(seed, any.graph.scheme, dataflow);
  any.batch = *rc::gen::inRange(1, 12);
  any.launches = *rc::gen::inRange(1, 5);
  return any;
}

std::int64_t transfers_in(const Program& program) {
  return std::ranges::count(program.instructions, Opcode::read_host, &Instruction::opcode);
}

/// A change that gives the chip more of something, and nothing else.
struct Better {
  std::string what;
  std::function<void(Chip&, std::int64_t)> change;  ///< by a number from 1 on
};

const std::vector<Better> kNeverSlower = {
    {"weight bandwidth",
     [](Chip& chip, std::int64_t more) {
       if (chip.weight_memory.bandwidth) *chip.weight_memory.bandwidth += 1'000'000 * more;
     }},
    {"unlimited weight bandwidth",
     [](Chip& chip, std::int64_t) { chip.weight_memory.bandwidth.reset(); }},
    {"host bandwidth",
     [](Chip& chip, std::int64_t more) {
       if (chip.host_link.bandwidth) *chip.host_link.bandwidth += 1'000'000 * more;
     }},
    {"unlimited host bandwidth",
     [](Chip& chip, std::int64_t) { chip.host_link.bandwidth.reset(); }},
    {"a deeper FIFO", [](Chip& chip, std::int64_t more) { chip.weight_memory.fifo_tiles += more; }},
    {"wider ports", [](Chip& chip, std::int64_t more) { chip.unified_buffer.row_bytes += more; }},
    {"longer queues",
     [](Chip& chip, std::int64_t more) {
       if (chip.sequencer.queue_depth) *chip.sequencer.queue_depth += more;
     }},
    {"double buffering",
     [](Chip& chip, std::int64_t) { chip.array.double_buffered_weights = true; }},
    {"packed tiles", [](Chip& chip, std::int64_t) { chip.weight_memory.packed_tiles = true; }},
    {"packed bits", [](Chip& chip, std::int64_t) { chip.weight_memory.packed_bits = true; }},
    {"a shorter pipeline",
     [](Chip& chip, std::int64_t) { chip.activation_unit.pipeline_depth = 0; }}};

}  // namespace

TEST_CASE("what every run asserts holds for any network on any chip") {
  REQUIRE(rc::check([] {
    const Any any = any_network_and_chip(any_dataflow());
    const Program program = any.compiled(any.chip);
    const RunResult result = make_timeline()->time(any.chip, program, any.launches);
    check_network_run(any.chip, program, result, any.launches);
  }));
}

TEST_CASE("runs with and without values take the same cycles") {
  REQUIRE(rc::check([] {
    const Any any = any_network_and_chip(any_dataflow());
    const Program program = any.compiled(any.chip);
    const auto images =
        test::random_images(any.graph, any.batch * (any.launches - 1) + 1, any.seed);
    RunResult run = make_timeline()->run(any.chip, program, images);
    RunResult time = make_timeline()->time(any.chip, program, any.launches);
    RC_ASSERT(run.cycles == time.cycles);
    RC_ASSERT(run.first_launch_end == time.first_launch_end);
    RC_ASSERT(run.total == time.total);
    RC_ASSERT(run.layers == time.layers);
  }));
}

TEST_CASE("one launch more takes more cycles and leaves the first one's latency alone") {
  REQUIRE(rc::check([] {
    const Any any = any_network_and_chip(any_dataflow());
    const Program program = any.compiled(any.chip);
    const RunResult few = make_timeline()->time(any.chip, program, any.launches);
    const RunResult more = make_timeline()->time(any.chip, program, any.launches + 1);
    RC_ASSERT(more.cycles > few.cycles);
    RC_ASSERT(more.first_launch_end == few.first_launch_end);
  }));
}

TEST_CASE("compiled programs survive both of their forms") {
  REQUIRE(rc::check([] {
    const Any any = any_network_and_chip(any_dataflow());
    const Program program = any.compiled(any.chip);
    RC_ASSERT(program_from_bytes(to_bytes(program), "bytes") == program);
    RC_ASSERT(assemble(disassemble(program), "text") == program);
  }));
}

TEST_CASE("more bandwidth, a deeper FIFO or anything else that keeps the schedule is not slower") {
  REQUIRE(rc::check([] {
    const Any any = any_network_and_chip(any_dataflow());
    const Cycles before = any.timed(any.chip).cycles;
    for (const Better& better : kNeverSlower) {
      Chip chip = any.chip;
      better.change(chip, *rc::gen::inRange(1, 1000));
      const Cycles after = any.timed(chip).cycles;
      if (after > before) RC_FAIL("slower with " + better.what);
    }
  }));
}

// This and the next property are the weight-stationary array's: where pixels have places in the
// array, another number of pixels in a pass or of columns can leave more of the places empty.
// With a larger buffer a launch may take longer: one large pass does not overlap its own transfers
// as several small ones do.
TEST_CASE("a larger buffer means no more passes and work, and is slower only with fewer passes") {
  REQUIRE(rc::check([] {
    Any any = any_network_and_chip(Dataflow::weight_stationary);
    any.chip.unified_buffer.capacity_kib = *rc::gen::inRange(1, 5);
    Chip larger = any.chip;
    larger.unified_buffer.capacity_kib += *rc::gen::inRange(1, 8);
    const Program program = any.compiled(any.chip);
    const auto holds = [&](const Chip& chip, bool ping_pong) {
      return plan_buffer(lower(any.graph, chip), 1, chip.activation_bytes(), ping_pong).peak <=
             chip.unified_buffer.capacity_kib * 1024;
    };
    if (!holds(any.chip, false)) RC_DISCARD("one image does not fit: spill_test");
    // Room for both halves of one image is used for them, though that can take more passes.
    if (holds(any.chip, true) != holds(larger, true)) RC_DISCARD("ping-pong with one of them only");
    const std::int64_t before = transfers_in(program);
    const std::int64_t after = transfers_in(any.compiled(larger));
    const RunResult small = any.timed(any.chip);
    const RunResult large = any.timed(larger);
    RC_ASSERT(after <= before);
    RC_ASSERT(large.total.bytes.weights <= small.total.bytes.weights);
    RC_ASSERT(large.total.classes.active <= small.total.classes.active);
    if (after == before) RC_ASSERT(large.cycles <= small.cycles);
  }));
}

// More columns than a layer has channels cost time: results travel further and a tile that is not
// packed is larger. What they save is the matrix unit's.
TEST_CASE("more columns never occupy the matrix unit longer or need more tiles") {
  REQUIRE(rc::check([] {
    const Any any = any_network_and_chip(Dataflow::weight_stationary);
    Chip wider = any.chip;
    wider.array.cols += *rc::gen::inRange(1, 13);
    const RunResult before = any.timed(any.chip);
    const RunResult after = any.timed(wider);
    RC_ASSERT(after.total.classes.active <= before.total.classes.active);
    RC_ASSERT(after.total.tiles <= before.total.tiles);
  }));
}

TEST_CASE("a layer of 64 filters is faster with more columns up to 64, then only travels further") {
  tests::NetworkBuilder network({6, 6, 16}, 1);
  network.conv(0, {.kernel_height = 3, .kernel_width = 3}, 64);
  const auto graph = test::quantize_randomly(network.graph, {}, 1);
  const auto cycles = [&](std::int64_t cols) {
    const Chip chip = test::frictionless_chip(16, cols);
    return make_timeline()->time(chip, compile(graph, chip, 4), 1).cycles;
  };
  Cycles before = cycles(1);
  for (std::int64_t cols = 2; cols <= 64; ++cols) {
    CAPTURE(cols);
    const Cycles now = cycles(cols);
    // Without a column tile less, only the travel counts.
    CHECK(now - before <= (ceil_div(64, cols) < ceil_div(64, cols - 1) ? 0 : 1));
    before = now;
  }
  CHECK(cycles(32) < cycles(16));
  CHECK(cycles(64) < cycles(32));
  for (const std::int64_t more : {1, 16, 64}) CHECK(cycles(64 + more) == cycles(64) + more);
}
