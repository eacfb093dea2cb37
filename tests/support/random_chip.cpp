#include "tests/support/random_chip.h"

#include <random>

namespace tilewave::test {

sim::Chip random_chip(std::uint64_t seed, const quant::Scheme& scheme, sim::Dataflow dataflow) {
  std::mt19937_64 random(seed);
  const auto from = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const auto coin = [&] { return from(0, 1) == 1; };
  sim::Chip chip;
  chip.name = "random";
  chip.clock_mhz = static_cast<double>(from(1, 1000));
  chip.array.rows = from(1, 33);
  chip.array.cols = from(1, 17);
  chip.array.double_buffered_weights = coin();
  chip.array.weight_rows_per_cycle = from(1, chip.array.rows);
  chip.array.dataflow = dataflow;
  if (dataflow != sim::Dataflow::weight_stationary) chip.array.weight_rows_per_cycle = 1;
  chip.precision.activation_bits = scheme.activation_bits;
  chip.precision.weight_bits = scheme.weight_bits;
  chip.accumulators.depth = from(1, 200);
  chip.unified_buffer = {from(8, 64), from(1, 64)};
  chip.weight_memory.bandwidth.reset();
  if (coin()) chip.weight_memory.bandwidth = from(1, 2'000'000'000);
  chip.weight_memory.latency_ns = static_cast<double>(from(0, 200));
  chip.weight_memory.fifo_tiles = from(1, 8);
  chip.weight_memory.packed_tiles = coin();
  chip.weight_memory.packed_bits = coin();
  chip.host_link.bandwidth.reset();
  if (coin()) chip.host_link.bandwidth = from(1'000'000, 2'000'000'000);
  chip.host_link.latency_us = static_cast<double>(from(0, 2));
  chip.activation_unit.pipeline_depth = from(0, 20);
  chip.systolic_data_setup.gather_rows_per_cycle = coin() ? 1.0 : 0.5;
  chip.sequencer.issue_cycles = from(0, 3);
  if (coin()) chip.sequencer.queue_depth = from(1, 6);
  return chip;
}

}  // namespace tilewave::test
