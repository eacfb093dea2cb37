// The SystemC kernel allows one simulation per process and likes to print and to abort; users of
// the engine must not notice.

#include "sim/engine.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/hand_program.h"

using namespace tilewave;
using namespace tilewave::sim;

namespace {

RunResult run(const Engine& engine, const RunOptions& options = {}) {
  const Program program = test::tile_chain(3, 2, 2, 2);
  return engine.run(test::frictionless_chip(3, 2), program, std::vector<std::int16_t>(3 * 2 * 3, 1),
                    options);
}

}  // namespace

TEST_CASE("simulations on several threads take turns") {
  const auto engine = make_systemc(MatrixUnit::pe);
  const RunResult expected = run(*engine);
  std::atomic<int> same = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) {
        const RunResult result = run(*engine);
        if (result.outputs == expected.outputs && result.cycles == expected.cycles) ++same;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(same == 200);
}

TEST_CASE("what the progress function throws ends the run, and the next one works") {
  const auto engine = make_systemc(MatrixUnit::tile);
  RunOptions options;
  options.progress = [](std::int64_t) { throw std::runtime_error("enough"); };
  CHECK_THROWS_WITH(run(*engine, options), "enough");
  std::vector<std::int64_t> launches;
  options.progress = [&](std::int64_t done) { launches.push_back(done); };
  CHECK(run(*engine, options).cycles > 0);
  CHECK(launches == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("no launches take no cycles") {
  const Program program = test::tile_chain(3, 2, 2, 2);
  const Chip chip = test::frictionless_chip(3, 2);
  CHECK(make_systemc(MatrixUnit::pe)->time(chip, program, 0).cycles == 0);
  CHECK(make_systemc(MatrixUnit::pe)->run(chip, program, {}).outputs.empty());
}
