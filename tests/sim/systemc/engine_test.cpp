// The SystemC kernel allows one simulation per process and likes to print and to abort; users of
// the engine must not notice.

#include "sim/engine.h"

#include <malloc.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/error.h"
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

TEST_CASE("a run that is told to stop by another thread ends, and the next one works") {
  const Program program = test::tile_chain(3, 2, 2, 2);
  Chip chip = test::frictionless_chip(3, 2);
  chip.sequencer.queue_depth = 4;  // else all is issued at once
  for (const auto& engine :
       {make_systemc(MatrixUnit::pe), make_systemc(MatrixUnit::tile), make_timeline()}) {
    std::stop_source source;
    RunOptions options;
    options.stop = source.get_token();
    // So many launches that no engine gets through them.
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      source.request_stop();
    });
    CHECK_THROWS_AS(engine->time(chip, program, std::int64_t{1} << 30, options), Stopped);
    stopper.join();
    CHECK(run(*engine).cycles > 0);
  }
}

TEST_CASE("a run that waits for its turn can be told to stop") {
  const auto engine = make_systemc(MatrixUnit::tile);
  RunOptions options;
  options.progress = [&](std::int64_t done) {
    if (done > 1) return;
    // This run has the SystemC kernel; the other one must wait for it.
    std::stop_source source;
    RunOptions waits;
    waits.stop = source.get_token();
    std::thread waiting([&] { CHECK_THROWS_AS(run(*engine, waits), Stopped); });
    source.request_stop();
    waiting.join();
  };
  CHECK(run(*engine, options).cycles > 0);
}

TEST_CASE("a thousand runs in one process need no more memory than a few") {
  // Under the leak sanitizer (`make leaks`) this also says what is lost.
  std::size_t after_few = 0;
  for (int n = 0; n < 1000; ++n) {
    const auto engine = make_systemc(n % 2 == 0 ? MatrixUnit::pe : MatrixUnit::tile);
    RunOptions options;
    if (n % 10 == 9) {
      options.progress = [](std::int64_t) { throw std::runtime_error("enough"); };
      CHECK_THROWS_WITH(run(*engine, options), "enough");
    } else {
      REQUIRE(run(*engine, options).cycles > 0);
    }
    if (n == 99) after_few = mallinfo2().uordblks;
  }
  CHECK(mallinfo2().uordblks < after_few + 100'000);
}

TEST_CASE("no launches take no cycles") {
  const Program program = test::tile_chain(3, 2, 2, 2);
  const Chip chip = test::frictionless_chip(3, 2);
  CHECK(make_systemc(MatrixUnit::pe)->time(chip, program, 0).cycles == 0);
  CHECK(make_systemc(MatrixUnit::pe)->run(chip, program, {}).outputs.empty());
}
