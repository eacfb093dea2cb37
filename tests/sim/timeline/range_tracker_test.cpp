#include "sim/timeline/range_tracker.h"

#include <rapidcheck.h>

#include <array>
#include <catch2/catch.hpp>

using namespace tilewave::sim;

TEST_CASE("a range that nothing wrote is not written, and an empty range is") {
  RangeTracker tracker;
  RangeTracker::Ready ready;
  tracker.query({5, 5}, ready);
  CHECK(ready.written);
  tracker.query({5, 6}, ready);
  CHECK_FALSE(ready.written);
}

TEST_CASE("a write forgets the reads before it and covers only its own range") {
  RangeTracker tracker;
  tracker.write({0, 10}, 100, Writer::host);
  tracker.read({0, 10}, 120);
  tracker.write({4, 6}, 150, Writer::activation);
  RangeTracker::Ready inside;
  tracker.query({4, 6}, inside);
  CHECK(inside.host == 0);
  CHECK(inside.activation == 150);
  CHECK(inside.read == 0);
  RangeTracker::Ready all;
  tracker.query({0, 10}, all);
  CHECK(all.host == 100);
  CHECK(all.activation == 150);
  CHECK(all.read == 120);
}

TEST_CASE("the tracker equals one that keeps every address by itself") {
  struct Address {
    tilewave::Cycles done = 0, read = 0;
    Writer writer = Writer::none;
  };
  REQUIRE(rc::check([] {
    constexpr int kSize = 24;
    RangeTracker tracker;
    std::array<Address, kSize> naive{};
    const int steps = *rc::gen::inRange(1, 40);
    for (int step = 0; step < steps; ++step) {
      const int begin = *rc::gen::inRange(0, kSize);
      const int end = *rc::gen::inRange(begin, kSize + 1);
      const tilewave::Cycles when = *rc::gen::inRange(0, 1000);
      const int kind = *rc::gen::inRange(0, 3);
      if (kind == 0) {
        tracker.read({begin, end}, when);
        for (int a = begin; a < end; ++a) naive[a].read = std::max(naive[a].read, when);
      } else if (kind == 1) {
        const auto writer = static_cast<Writer>(*rc::gen::inRange(1, 4));
        tracker.write({begin, end}, when, writer);
        for (int a = begin; a < end; ++a) naive[a] = {when, 0, writer};
      }
      RangeTracker::Ready ready;
      tracker.query({begin, end}, ready);
      RangeTracker::Ready expected;
      for (int a = begin; a < end; ++a) {
        expected.read = std::max(expected.read, naive[a].read);
        auto& of_writer = naive[a].writer == Writer::host         ? expected.host
                          : naive[a].writer == Writer::activation ? expected.activation
                                                                  : expected.matrix;
        if (naive[a].writer == Writer::none) {
          expected.written = false;
        } else {
          of_writer = std::max(of_writer, naive[a].done);
        }
      }
      RC_ASSERT(ready.host == expected.host);
      RC_ASSERT(ready.activation == expected.activation);
      RC_ASSERT(ready.matrix == expected.matrix);
      RC_ASSERT(ready.read == expected.read);
      RC_ASSERT(ready.written == expected.written);
    }
  }));
}
