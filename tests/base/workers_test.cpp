#include "base/workers.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

namespace tilewave {
namespace {

TEST_CASE("work that is shared is done once per call, again and again") {
  for (const int threads : {1, 2, 5}) {
    Workers workers(threads);
    REQUIRE(workers.count() == threads);
    const auto caller = std::this_thread::get_id();
    std::vector<int> runs(50, 0);
    std::atomic<int> wrong = 0;
    for (int i = 0; i < 200; ++i) {
      std::atomic<std::size_t> next = 0;
      workers.run([&](int worker) {
        wrong += worker < 0 || worker >= threads ? 1 : 0;
        wrong += (worker == 0) != (std::this_thread::get_id() == caller) ? 1 : 0;
        for (std::size_t at = next++; at < runs.size(); at = next++) ++runs[at];
      });
    }
    CHECK(runs == std::vector<int>(50, 200));
    CHECK(wrong == 0);
  }
}

TEST_CASE("other threads come to help") {
  Workers workers(3);
  std::atomic<int> here = 0;
  workers.run([&](int) {
    ++here;
    while (here < 3) std::this_thread::yield();
  });
  CHECK(here == 3);
}

TEST_CASE("a stage is over when all of its parts are done, whoever does them") {
  Workers workers(3);
  std::vector<Stage> stages(300);
  for (int repeat = 0; repeat < 5; ++repeat) {
    for (Stage& stage : stages) stage.reset();
    std::vector<int> values(7, -1);
    std::atomic<int> wrong = 0;
    workers.run([&](int) {
      for (int step = 0; step < 300; ++step) {
        stages[static_cast<std::size_t>(step)].run(7, [&](std::int64_t part) {
          // Reads what another part wrote in the stage before.
          int& own = values[static_cast<std::size_t>(step % 2 == 0 ? part : 6 - part)];
          wrong += own != step - 1 ? 1 : 0;
          own = step;
        });
      }
    });
    CHECK(values == std::vector<int>(7, 299));
    CHECK(wrong == 0);
  }
}

TEST_CASE("the exception of the lowest worker is rethrown, and the workers can go on") {
  Workers workers(4);
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> here = 0;
    const auto all_throw = [&](int worker) {
      ++here;
      while (here < 4) std::this_thread::yield();
      if (worker > 0) throw std::runtime_error("worker " + std::to_string(worker));
    };
    CHECK_THROWS_WITH(workers.run(all_throw), "worker 1");
  }
}

TEST_CASE("no one waits for a part that throws") {
  Workers workers(2);
  Stage stage;
  CHECK_THROWS_WITH(workers.run([&](int) {
    stage.run(2, [](std::int64_t) { throw std::runtime_error("a part"); });
  }),
                    "a part");
}

TEST_CASE("parts lie next to each other, start at multiples and cover all") {
  for (const std::int64_t count : {0, 1, 15, 16, 17, 100}) {
    for (const int workers : {1, 2, 3, 8}) {
      std::int64_t next = 0;
      for (int worker = 0; worker < workers; ++worker) {
        const Range part = Part{worker, workers}.of(count, 8);
        CHECK(part.first == next);
        CHECK((part.first % 8 == 0 || part.first == count));
        CHECK(part.end >= part.first);
        next = part.end;
      }
      CHECK(next == count);
    }
  }
  CHECK(Part{1, 2}.of(100, 8).first == 48);
}

}  // namespace
}  // namespace tilewave
