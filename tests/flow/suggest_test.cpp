#include "flow/suggest.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "flow/scores.h"
#include "kernels/calibrate.h"
#include "kernels/reference.h"
#include "tests/flow/small_workload.h"

using namespace tilewave;

namespace {

/// Its labels are what fp32 says, so that fp32 is always right.
flow::Workload workload() {
  flow::Workload made = test::small_workload();
  const auto real =
      kernels::make_cpu_fp32(made.graph, {})->run(made.data.test.slice(0, made.data.test.count));
  made.data.test.labels.clear();
  for (const std::int64_t label : flow::classes_of(real.real, real.classes)) {
    made.data.test.labels.push_back(static_cast<std::uint8_t>(label));
  }
  return made;
}

double accuracy_with(const flow::Workload& workload, const quant::Scheme& scheme) {
  const auto graph = kernels::quantize(workload.graph, workload.data.calibration, scheme);
  const auto outputs = kernels::make_cpu_int8(graph, {})->run(workload.data.test.slice(0, 10));
  return *flow::accuracy(flow::classes_of(outputs.integers, outputs.classes),
                         workload.data.test.labels);
}

}  // namespace

TEST_CASE("where any loss is allowed every layer gets the fewest bits") {
  const flow::Suggestion all = flow::suggest_mixed(workload(), {.accuracy_drop = 100});
  CHECK(all.scheme.layers.at("conv").weight_bits == 2);
  CHECK(all.scheme.layers.at("dense").weight_bits == 2);
  CHECK(all.weight_bytes_before == 36 + 48);
  CHECK(all.weight_bytes == 9 + 12);
  CHECK(all.accuracy_fp32 == 1);
}

TEST_CASE("a suggested scheme is within the bound and is what its file says") {
  const flow::Workload small = workload();
  const flow::Suggestion found = flow::suggest_mixed(small, {.accuracy_drop = 10});
  CHECK(found.accuracy >= 0.9);
  CHECK(found.weight_bytes < found.weight_bytes_before);
  const std::string file = flow::to_yaml(found, "small\nnetwork");
  CHECK_THAT(file, Catch::Contains("allowed to lose 10 points against fp32") &&
                       Catch::Contains(" bytes of 84.\n"));
  const quant::Scheme read = quant::parse_scheme(file, "mixed.yaml");
  CHECK(read == found.scheme);
  CHECK(accuracy_with(small, read) == found.accuracy);
  CHECK(flow::to_yaml(flow::suggest_mixed(small, {.accuracy_drop = 10, .threads = 3}), "x") ==
        flow::to_yaml(found, "x"));
}

TEST_CASE("what cannot be searched is refused") {
  flow::Workload coarse = workload();
  quant::Scheme scheme = coarse.quantized.scheme;
  scheme.weight_bits = scheme.activation_bits = 2;
  coarse.quantized = kernels::quantize(coarse.graph, coarse.data.calibration, scheme);
  REQUIRE(accuracy_with(coarse, scheme) < 1);
  CHECK_THROWS_WITH(flow::suggest_mixed(coarse, {.accuracy_drop = 0}),
                    Catch::StartsWith("accuracy drop: the scheme as it is loses"));
  coarse.data.test.labels.clear();
  CHECK_THROWS_WITH(flow::suggest_mixed(coarse, {}), Catch::Contains("have no labels"));
}
