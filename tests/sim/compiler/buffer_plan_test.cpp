#include "sim/compiler/buffer_plan.h"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/support/random_chip.h"
#include "tests/support/random_graph.h"

using namespace tilewave;
using namespace tilewave::sim;

namespace {

/// Steps in which each tensor must keep its place: from the step that makes it (the input before
/// all) to the last that reads it (the host reads the output after all). From the steps alone.
std::vector<std::pair<int, int>> lifetimes(const LoweredNetwork& network) {
  std::vector<std::pair<int, int>> all(network.tensors.size(), {-1, -1});
  for (int step = 0; step < static_cast<int>(network.steps.size()); ++step) {
    const Step& work = network.steps[static_cast<std::size_t>(step)];
    for (const int input : work.inputs) all[static_cast<std::size_t>(input)].second = step;
    all[static_cast<std::size_t>(work.output)] = {step, step};
  }
  all[static_cast<std::size_t>(network.output)].second = static_cast<int>(network.steps.size());
  return all;
}

bool overlap(std::int64_t a, std::int64_t a_size, std::int64_t b, std::int64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

Tensor tensor(std::int64_t elements, int made_by, int last_read_by) {
  return {"t", {{1, 1, elements}, elements}, {}, made_by, last_read_by};
}

}  // namespace

TEST_CASE("tensors that live at the same time never share a byte") {
  REQUIRE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const bool ping_pong = *rc::gen::arbitrary<bool>();
    const std::int64_t images = *rc::gen::inRange(1, 9);
    const int bytes = *rc::gen::inRange(1, 3);
    const auto graph = test::random_quantized_graph(seed);
    const Chip chip = test::random_chip(seed, graph.scheme);
    const LoweredNetwork network = [&] {
      try {
        return lower(graph, chip);
      } catch (const InputError&) {
        RC_DISCARD("an Add mixes layouts");
      }
    }();
    const BufferPlan plan = plan_buffer(network, images, bytes, ping_pong);
    const auto alive = lifetimes(network);
    const auto size = [&](std::size_t id) {
      return network.tensors[id].layout.shape.elements() * images * bytes;
    };
    const auto ends = [&](std::size_t id) {
      return id == 0 || id == static_cast<std::size_t>(network.output);
    };
    Bytes peak = 0;
    for (std::size_t a = 0; a < alive.size(); ++a) {
      RC_ASSERT(plan.address[a] >= 0);
      peak = std::max(peak, plan.address[a] + size(a));
      for (std::size_t b = 0; b < a; ++b) {
        // With ping-pong, transfers of other launches use input and output at any time.
        const bool always = ping_pong && (ends(a) || ends(b));
        if (!always && (alive[a].second < alive[b].first || alive[b].second < alive[a].first)) {
          continue;
        }
        RC_ASSERT(!overlap(plan.address[a], size(a), plan.address[b], size(b)));
      }
    }
    if (ping_pong) {
      const Bytes half = plan.ping_pong.half;
      RC_ASSERT(half == size(0) + size(static_cast<std::size_t>(network.output)));
      for (std::size_t id = 0; id < alive.size(); ++id) {
        if (ends(id)) {
          RC_ASSERT(plan.address[id] + size(id) <= half);
          peak = std::max(peak, half + plan.address[id] + size(id));
        } else {
          RC_ASSERT(plan.address[id] >= 2 * half);
        }
      }
    } else {
      RC_ASSERT(plan.ping_pong.half == 0U);
    }
    RC_ASSERT(plan.peak == peak);
  }));
}

TEST_CASE("a chain of equal tensors needs two places, a residual connection a third") {
  LoweredNetwork network;
  network.tensors = {tensor(100, -1, 0), tensor(100, 0, 1), tensor(100, 1, 2), tensor(100, 2, 3)};
  network.output = 3;
  CHECK(plan_buffer(network, 1, 1, false).peak == 200);
  CHECK(plan_buffer(network, 3, 2, false).peak == 1200);
  network.tensors[0].last_read_by = 2;
  CHECK(plan_buffer(network, 1, 1, false).peak == 300);
}

TEST_CASE("a small tensor goes where a larger one is no longer needed") {
  LoweredNetwork network;
  network.tensors = {tensor(50, -1, 0), tensor(100, 0, 3), tensor(80, 1, 2), tensor(30, 2, 3)};
  network.output = 3;
  const BufferPlan plan = plan_buffer(network, 1, 1, false);
  CHECK(plan.peak == 100 + 80 + 30);
  CHECK(plan.address == std::vector<std::int64_t>{100, 0, 100, 180});
}

TEST_CASE("ping-pong gives input and output a place of their own in each half") {
  LoweredNetwork network;
  network.tensors = {tensor(100, -1, 0), tensor(60, 0, 1), tensor(10, 1, 2)};
  network.output = 2;
  const BufferPlan plan = plan_buffer(network, 2, 1, true);
  CHECK(plan.ping_pong.half == 220);
  CHECK(plan.address == std::vector<std::int64_t>{0, 440, 200});
  CHECK(plan.peak == 440 + 120);
}
