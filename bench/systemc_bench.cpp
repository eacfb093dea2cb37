// How fast the SystemC engine simulates: cycles of `pe` and instructions of `tile`, each beside
// another simulator of the same thing. bench/report.py makes the ratios.

#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "sim/engine.h"
#include "tests/support/hand_program.h"
#ifdef TILEWAVE_RTL
#include <RtlArray8x8.h>
#endif

namespace tilewave {
namespace {

std::vector<std::int16_t> random_values(std::int64_t count) {
  std::mt19937 random(1);
  std::vector<std::int16_t> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<std::int16_t>(static_cast<int>(random() % 256) - 128));
  }
  return values;
}

void count_per_second(benchmark::State& state, const char* name, std::int64_t per_iteration) {
  state.counters[name] = benchmark::Counter(static_cast<double>(per_iteration),
                                            benchmark::Counter::kIsIterationInvariantRate);
}

/// The whole engine with values; all PEs work in nearly every cycle.
void BM_pe(benchmark::State& state) {
  constexpr std::int64_t kRows = 2048;
  constexpr std::int64_t kTiles = 4;
  const std::int64_t side = state.range(0);
  const sim::Chip chip = test::frictionless_chip(side, side);
  const sim::Program program = test::tile_chain(side, side, kRows, kTiles);
  const std::vector<std::int16_t> inputs = random_values(kRows * side);
  const auto engine = sim::make_systemc(sim::MatrixUnit::pe);
  std::int64_t cycles = 0;
  for (auto _ : state) cycles = engine->run(chip, program, inputs).cycles;
  count_per_second(state, "cycles_per_second", cycles);
  count_per_second(state, "macs_per_second", kRows * kTiles * side * side);
}
BENCHMARK(BM_pe)->Arg(16)->Arg(64)->Arg(256);

#ifdef TILEWAVE_RTL
/// The array in SystemVerilog, with rows in every clock and tiles as often as above.
void BM_rtl(benchmark::State& state) {
  constexpr std::size_t kSide = 8;
  constexpr std::size_t kRows = 2048;
  const std::vector<std::int16_t> inputs = random_values(kRows * kSide);
  RtlArray8x8 array;
  for (auto _ : state) {
    for (std::size_t row = 0; row < kRows; ++row) {
      const std::int16_t* values = inputs.data() + row * kSide;
      array.swap_in = row == 0;
      array.weights_valid_in = row < kSide;
      array.weights_row_in = static_cast<CData>(kSide - 1 - row % kSide);
      for (std::size_t i = 0; i < kSide; ++i) {
        array.activation_in[i] = array.weights_in[i] = static_cast<CData>(values[i] & 0xff);
      }
      array.clk = 1;
      array.eval();
      array.clk = 0;
      array.eval();
    }
    benchmark::DoNotOptimize(array.psum[kSide - 1][kSide - 1]);
  }
  count_per_second(state, "macs_per_second", kRows * kSide * kSide);
}
BENCHMARK(BM_rtl);
#endif

/// A program of a million instructions, without values.
void time_million(benchmark::State& state, const sim::Engine& engine) {
  constexpr std::int64_t kSide = 4;
  constexpr std::int64_t kTiles = 500'000;
  const sim::Chip chip = test::frictionless_chip(kSide, kSide);
  const sim::Program program = test::tile_chain(kSide, kSide, kSide, kTiles);
  for (auto _ : state) benchmark::DoNotOptimize(engine.time(chip, program, 1).cycles);
  // A tile is fetched, shifted in and multiplied; each begins and ends.
  count_per_second(state, "events_per_second", 6 * kTiles);
}
void BM_tile_million(benchmark::State& state) {
  time_million(state, *sim::make_systemc(sim::MatrixUnit::tile));
}
void BM_timeline_million(benchmark::State& state) {
  time_million(state, *sim::make_timeline());
}
BENCHMARK(BM_tile_million)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_timeline_million)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilewave

BENCHMARK_MAIN();
