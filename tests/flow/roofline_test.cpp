#include "flow/roofline.h"

#include <catch2/catch.hpp>

#include "flow/model_facts.h"
#include "tests/flow/small_workload.h"

using namespace tilewave;

TEST_CASE("a layer's size is counted from its shapes") {
  const auto facts = flow::layer_facts(test::small_workload().graph);
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].name == "conv");
  CHECK(facts[0].macs == 4 * 4 * 4 * 9);  // 4 x 4 pixels, 4 filters of 3 x 3
  CHECK(facts[0].weights == 36);
  CHECK(facts[0].biases == 4);
  CHECK(facts[0].inputs == 36);
  CHECK(facts[0].outputs == 64);
  CHECK(facts[1].macs == 3 * 16);
}

TEST_CASE("the layers fall where their operations and bytes put them") {
  const auto chip = sim::load_chip("tiny_8");
  const auto roofs = flow::roofline(test::small_workload(), chip, {1, 10}, 1, 0);
  const sim::Roof& fp32 = roofs[0];
  CHECK(fp32.precision == "fp32");
  CHECK(*fp32.peak > 0);
  CHECK(*fp32.bytes_per_second > 0);
  REQUIRE(fp32.layers.size() == 4);
  CHECK(fp32.layers[2].batch == 10);
  CHECK(fp32.layers[2].operations == 2 * 10 * 576);
  CHECK(fp32.layers[2].bytes == 4 * (36 + 10 * (36 + 64)));
  CHECK(roofs[1].layers[2].bytes == 36 + 10 * (36 + 64));

  const sim::Roof& simulated = roofs.back();
  CHECK(simulated.simulated);
  CHECK(*simulated.peak == Approx(2.0 * 8 * 8 * static_cast<double>(chip.clock_hz())));
  CHECK(simulated.layers[2].bytes == 36);  // activations stay in the chip
}
