#include "base/parallel.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using tilewave::parallel_for;

TEST_CASE("every index is worked on exactly once, whatever the number of threads") {
  for (const int threads : {0, 1, 2, 3, 8}) {
    for (const int count : {0, 1, 2, 1000}) {
      std::vector<int> calls(static_cast<std::size_t>(count));
      parallel_for(count, threads, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
      CHECK(std::count(calls.begin(), calls.end(), 1) == count);
    }
  }
}

TEST_CASE("the exception of the lowest index is rethrown") {
  for (const int threads : {1, 2, 8}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      CHECK_THROWS_WITH(parallel_for(1000, threads,
                                     [](std::int64_t i) {
                                       if (i >= 17) throw std::runtime_error(std::to_string(i));
                                     }),
                        "17");
    }
  }
}

TEST_CASE("it is rethrown whether it came before or after the others") {
  for (const std::int64_t slow : {0, 1}) {
    CHECK_THROWS_WITH(parallel_for(2, 2,
                                   [&](std::int64_t i) {
                                     // Long enough for both to have begun.
                                     const std::chrono::milliseconds time(i == slow ? 60 : 20);
                                     std::this_thread::sleep_for(time);
                                     throw std::runtime_error(std::to_string(i));
                                   }),
                      "0");
  }
}

TEST_CASE("after an exception no new index starts") {
  int calls = 0;
  CHECK_THROWS(parallel_for(1000, 1, [&](std::int64_t) {
    ++calls;
    throw std::runtime_error("");
  }));
  CHECK(calls == 1);
}
