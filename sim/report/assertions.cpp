#include "sim/report/assertions.h"

#include <algorithm>

#include "base/error.h"
#include "sim/report/figures.h"

namespace tilewave::sim {
namespace {

void check_counters(const Chip& chip, const RunCounters& counters, const std::string& where) {
  const CycleClasses& c = counters.classes;
  for (const Cycles cycles : {c.active, c.weight_stall, c.weight_shift, c.input_stall, c.raw_stall,
                              c.accumulator_stall, c.idle, c.drain}) {
    TILEWAVE_CHECK(cycles, >=, 0, where + ": a cycle class is negative");
  }
  // Active cycles * R * C >= MACs * passes: no more multiplications than multipliers. As the other
  // classes are not negative, this bounds the whole time and the utilization as well.
  TILEWAVE_CHECK(c.active * chip.array.rows * chip.array.cols, >=,
                 counters.useful_macs * chip.passes(), where + ": faster than its multipliers");
  const double share = utilization(chip, counters);
  TILEWAVE_CHECK(share, >=, 0.0, where + ": utilization");
  TILEWAVE_CHECK(share, <=, 1.0, where + ": utilization");
  // A condition's waiting counts all cycles that its class counts, and more.
  const Waiting& w = counters.waiting;
  TILEWAVE_CHECK(w.weight_stall, >=, c.weight_stall, where + ": waiting for weights");
  TILEWAVE_CHECK(w.weight_shift, >=, c.weight_shift, where + ": waiting for the shift-in");
  TILEWAVE_CHECK(w.input_stall, >=, c.input_stall, where + ": waiting for the host");
  TILEWAVE_CHECK(w.raw_stall, >=, c.raw_stall, where + ": waiting for a result");
  TILEWAVE_CHECK(w.accumulator_stall, >=, c.accumulator_stall, where + ": waiting for entries");
}

/// Every tensor crosses its narrowest place once at least.
void check_compulsory_bytes(const Chip& chip, const Program& program, const RunResult& result,
                            std::int64_t launches) {
  const std::int64_t images = program.batch * launches;
  const Bytes activation = chip.activation_bytes();
  const BytesMoved& moved = result.total.bytes;
  // Rows that no window covers stay on the host where a layer works on bands of rows.
  const bool is_cut = std::any_of(program.layers.begin(), program.layers.end(),
                                  [](const Layer& layer) { return layer.bands > 1; });
  TILEWAVE_CHECK(moved.host_in, >=,
                 is_cut ? 1 : program.input.layout.shape.elements() * activation * images,
                 "the input came in whole");
  TILEWAVE_CHECK(moved.host_out, >=, program.output.layout.shape.elements() * activation * images,
                 "the output went out whole");
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    const Layer& layer = program.layers[i];
    const BytesMoved& bytes = result.layers[i].bytes;
    // No launch finds weights that an earlier one left: each reads them all again.
    TILEWAVE_CHECK(bytes.weights, >=,
                   chip.weight_memory_bytes(layer.n * layer.k * layer.groups) * launches,
                   layer.name + ": every weight was read");
    // Each output of the product is written to its accumulator entry once and read once.
    const Bytes sums = layer.m * layer.n * layer.groups * images * chip.accumulator_bytes();
    TILEWAVE_CHECK(bytes.accumulator_write, >=, sums, layer.name + ": every sum was written");
    TILEWAVE_CHECK(bytes.accumulator_read, >=, sums, layer.name + ": every sum was read");
  }
}

}  // namespace

void check_run(const Chip& chip, const Program& program, const RunResult& result,
               std::int64_t launches) {
  check_counters(chip, result.total, "run");
  TILEWAVE_CHECK(result.total.classes.total(), ==, result.cycles, "cycle classes add up");
  TILEWAVE_CHECK(result.first_launch_end, <=, result.cycles, "the first launch is in the run");
  if (launches == 1) {
    TILEWAVE_CHECK(result.first_launch_end, ==, result.cycles, "one launch is the whole run");
  }
  TILEWAVE_CHECK(result.layers.size(), ==, program.layers.size(), "a line per layer");
  RunCounters sum;
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    check_counters(chip, result.layers[i], "layer " + program.layers[i].name);
    sum += result.layers[i];
  }
  TILEWAVE_CHECK((sum == result.total), ==, true, "layers add up to the run");
  TILEWAVE_CHECK(program.unified_buffer_peak, <=, chip.unified_buffer.capacity_kib * 1024,
                 "the unified buffer holds what the program uses");
}

void check_network_run(const Chip& chip, const Program& program, const RunResult& result,
                       std::int64_t launches) {
  check_run(chip, program, result, launches);
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    const Layer& layer = program.layers[i];
    TILEWAVE_CHECK(result.layers[i].useful_macs, ==, layer.macs() * program.batch * launches,
                   layer.name + ": the useful MACs are the network's");
    TILEWAVE_CHECK(result.layers[i].tiles, ==, layer.tiles * launches,
                   layer.name + ": the tiles read are the program's");
  }
  check_compulsory_bytes(chip, program, result, launches);
}

}  // namespace tilewave::sim
