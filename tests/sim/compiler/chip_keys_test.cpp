// Every key of a chip file changes some result when it is changed: nothing is silently ignored.

#include <catch2/catch.hpp>
#include <map>

#include "sim/chip/fields.h"
#include "sim/compiler/compiler.h"
#include "sim/engine.h"
#include "sim/report/figures.h"
#include "tests/kernels/network_builder.h"
#include "tests/support/random_graph.h"

using namespace tilewave;
using namespace tilewave::sim;

namespace {

/// A chip on which every part matters: little of everything, and accumulators that overflow.
const std::string kChip = R"(
name: small
clock_mhz: 100
array: {rows: 8, cols: 8}
precision: {weight_bits: 7, accumulator_bits: 14}
accumulators: {depth: 64}
unified_buffer: {capacity_kib: 64, row_bytes: 16}
weight_memory: {capacity_mib: 1, bandwidth_gb_per_s: 0.8, latency_ns: 100, fifo_tiles: 2}
host_link: {bandwidth_gb_per_s: 0.4, latency_us: 0.5}
activation_unit: {pipeline_depth: 4}
)";

/// Another value for each key.
const std::map<std::string, std::string> kOther = {
    {"clock_mhz", "101"},
    {"array.rows", "12"},
    {"array.cols", "6"},
    {"array.dataflow", "output_stationary"},
    {"array.double_buffered_weights", "false"},
    {"array.weight_rows_per_cycle", "2"},
    {"precision.activation_bits", "6"},
    {"precision.weight_bits", "6"},
    {"precision.accumulator_bits", "32"},
    {"precision.overflow", "saturate"},
    {"accumulators.depth", "32"},
    {"unified_buffer.capacity_kib", "4"},  // fewer images than the batch: several passes
    {"unified_buffer.row_bytes", "4"},
    {"weight_memory.bandwidth_gb_per_s", "0.4"},
    {"weight_memory.latency_ns", "300"},
    {"weight_memory.fifo_tiles", "1"},
    {"weight_memory.packed_tiles", "true"},
    {"weight_memory.packed_bits", "true"},
    {"host_link.bandwidth_gb_per_s", "0.3"},
    {"host_link.latency_us", "0.6"},
    {"activation_unit.pipeline_depth", "5"},
    {"systolic_data_setup.gather_rows_per_cycle", "0.5"},
    {"sequencer.issue_cycles", "9"},
    {"sequencer.queue_depth", "1"},
    {"energy.mac_pj", "1"},
    {"energy.accumulator_pj_per_byte", "1"},
    {"energy.unified_buffer_pj_per_byte", "1"},
    {"energy.weight_memory_pj_per_byte", "1"},
    {"energy.host_link_pj_per_byte", "1"},
    {"energy.static_watts", "1"}};

struct Unchanging {
  std::string why;
  std::string other;  ///< empty: there is no other value
};
const std::map<std::string, Unchanging> kUnchanging = {
    {"name", {"only printed", "renamed"}},
    {"systolic_data_setup.im2col", {"has one value so far", ""}},
    {"weight_memory.capacity_mib", {"decides only whether the network fits at all", "2"}}};

struct Outcome {
  RunResult result;
  double seconds;
  double joules;

  bool operator==(const Outcome& other) const {
    return result.cycles == other.result.cycles && result.total == other.result.total &&
           result.outputs == other.result.outputs && seconds == other.seconds &&
           joules == other.joules;
  }
};

/// A small CNN of several tiles in each direction, quantized to the chip's precisions.
Outcome outcome(const Chip& chip) {
  tests::NetworkBuilder network({10, 10, 3}, 1);
  network.conv(0, {.kernel_height = 3, .kernel_width = 3}, 10);
  network.then(models::Relu{});
  const auto pooled = network.then(models::MaxPool{
      {.kernel_height = 2, .kernel_width = 2, .stride_height = 2, .stride_width = 2}});
  const auto wide = network.conv(pooled, {.kernel_height = 3, .kernel_width = 3}, 20);
  network.dense(wide, 10);
  quant::Scheme scheme;
  scheme.activation_bits = chip.precision.activation_bits;
  scheme.weight_bits = chip.precision.weight_bits;
  const auto graph = test::quantize_randomly(network.graph, scheme, 1);
  const auto images = test::random_images(graph, 20, 1);
  RunResult result = make_timeline()->run(chip, compile(graph, chip, 8), images);
  const double joules = energy(chip, result.total).total();
  const double seconds = chip.seconds(result.cycles);
  return {std::move(result), seconds, joules};
}

}  // namespace

TEST_CASE("every key of a chip file changes some result, but for those with a reason") {
  Chip chip = parse_chip(kChip, "small");
  const Outcome before = outcome(chip);
  std::size_t keys = 0;
  for (const auto& group : chip_file::fields_of(chip)) {
    for (const auto& field : group.fields) {
      const std::string key = group.path(field);
      CAPTURE(key);
      ++keys;
      const auto unchanging = kUnchanging.find(key);
      if (unchanging == kUnchanging.end()) {
        REQUIRE(kOther.contains(key));
        const Chip changed = with_key(chip, key, kOther.at(key));
        CHECK(!(changed == chip));
        CHECK(!(outcome(changed) == before));
      } else if (!unchanging->second.other.empty()) {
        CAPTURE(unchanging->second.why);
        CHECK(outcome(with_key(chip, key, unchanging->second.other)) == before);
      }
    }
  }
  CHECK(keys == kOther.size() + kUnchanging.size());
}
