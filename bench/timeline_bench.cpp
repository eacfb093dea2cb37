// Time per instruction of the timeline engine without values, and of the compiler, on programs that
// grow. bench/report.py fits the growth.

#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "kernels/calibrate.h"
#include "models/dataset.h"
#include "models/graph.h"
#include "sim/chip/chip.h"
#include "sim/compiler/compiler.h"
#include "sim/engine.h"
#include "tests/support/hand_program.h"

namespace tilewave {
namespace {

constexpr std::int64_t kArray = 4;  ///< small tiles: many instructions from few weights
constexpr std::int64_t kBatch = 4;
constexpr int kLayers = 4;

/// Makes reports give seconds per instruction beside the time per run.
void count_instructions(benchmark::State& state, std::int64_t per_iteration) {
  const auto instructions = static_cast<double>(per_iteration);
  state.counters["instructions"] = instructions;
  state.counters["seconds_per_instruction"] = benchmark::Counter(
      instructions, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void time_launches(benchmark::State& state, const sim::Chip& chip, const sim::Program& program,
                   std::int64_t launches) {
  const auto engine = sim::make_timeline();
  for (auto _ : state) {
    benchmark::DoNotOptimize(engine->time(chip, program, launches).cycles);
  }
  count_instructions(state, launches * static_cast<std::int64_t>(program.instructions.size()));
}

/// Dense layers of about `tiles` weight tiles in all on an array of kArray x kArray.
quant::QuantizedGraph dense_network(std::int64_t tiles) {
  const auto side = static_cast<std::int64_t>(
      std::max(1.0, std::round(std::sqrt(static_cast<double>(tiles) / kLayers))));
  const std::int64_t width = side * kArray;
  models::Graph graph("dense", {1, 1, width});
  const std::vector<float> weight(static_cast<std::size_t>(width * width), 0.01F);
  const std::vector<float> bias(static_cast<std::size_t>(width), 0);
  for (int layer = 0; layer < kLayers; ++layer) {
    graph.add("dense" + std::to_string(layer), models::Dense{weight, bias}, {layer});
  }
  const models::Images white{
      {1, 1, width}, 1, std::vector<std::uint8_t>(static_cast<std::size_t>(width), 255), {}};
  quant::Scheme scheme;
  scheme.calibration_images = 1;
  return kernels::quantize(graph, white, scheme);
}

sim::Chip small_chip() {
  sim::Chip chip;
  chip.array.rows = chip.array.cols = kArray;
  return chip;
}

void BM_time_chain(benchmark::State& state) {
  time_launches(state, test::frictionless_chip(kArray, kArray),
                test::tile_chain(kArray, kArray, kBatch, state.range(0)), 1);
}

void BM_time_dense(benchmark::State& state) {
  const sim::Chip chip = small_chip();
  time_launches(state, chip, sim::compile(dense_network(state.range(0)), chip, kBatch), 1);
}

/// The program is decoded once and walked again and again: what a further launch costs.
void BM_time_launches(benchmark::State& state) {
  const sim::Chip chip = small_chip();
  time_launches(state, chip, sim::compile(dense_network(400), chip, kBatch), state.range(0));
}

void BM_compile_dense(benchmark::State& state) {
  const sim::Chip chip = small_chip();
  const quant::QuantizedGraph graph = dense_network(state.range(0));
  std::size_t instructions = 0;
  for (auto _ : state) instructions = sim::compile(graph, chip, kBatch).instructions.size();
  count_instructions(state, static_cast<std::int64_t>(instructions));
}

constexpr std::int64_t kFewestTiles = 50;
constexpr std::int64_t kMostTiles = 500'000;

BENCHMARK(BM_time_chain)->RangeMultiplier(10)->Range(kFewestTiles, kMostTiles);
BENCHMARK(BM_time_dense)->RangeMultiplier(10)->Range(kFewestTiles, kMostTiles);
BENCHMARK(BM_time_launches)->RangeMultiplier(10)->Range(1, 1000);
BENCHMARK(BM_compile_dense)->RangeMultiplier(10)->Range(kFewestTiles, kMostTiles);

}  // namespace
}  // namespace tilewave

BENCHMARK_MAIN();
