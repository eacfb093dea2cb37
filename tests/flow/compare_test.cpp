#include "flow/compare.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "kernels/gpu.h"
#include "tests/flow/small_workload.h"

using namespace tilewave;

namespace {

sim::Comparison compare_small(const std::string& chip = "tiny_8") {
  flow::CompareOptions options;
  options.batches = {4, 1, 4, 100};
  options.seconds_per_measurement = 0;
  return flow::compare(test::small_workload(), sim::load_chip(chip), options);
}

std::vector<sim::PathFigures> paths_of(const sim::Comparison& comparison, const std::string& device,
                                       const std::string& precision) {
  std::vector<sim::PathFigures> paths;
  for (const sim::PathFigures& path : comparison.paths) {
    if (path.device == device && path.precision == precision) paths.push_back(path);
  }
  return paths;
}

}  // namespace

TEST_CASE("each batch size once, with the CPU's two paths and the chip") {
  const sim::Comparison comparison = compare_small();
  const auto fp32 = paths_of(comparison, "cpu", "fp32");
  const auto int8 = paths_of(comparison, "cpu", "int8");
  const auto chip = paths_of(comparison, "chip", "int8");
  REQUIRE(fp32.size() == 3);
  REQUIRE(int8.size() == 3);
  REQUIRE(chip.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(fp32[i].batch == std::vector<std::int64_t>{1, 4, 10}[i]);
    CHECK(fp32[i].agreement_fp32 == 1);
    CHECK(fp32[i].largest_difference == 0);
    CHECK(int8[i].largest_difference > 0);
    CHECK(int8[i].repeats >= 10);
    CHECK(int8[i].latency.p99_seconds >= int8[i].latency.median_seconds);
    CHECK(int8[i].compute.median_seconds == int8[i].latency.median_seconds);
    CHECK(chip[i].simulated);
    CHECK(chip[i].accuracy == int8[i].accuracy);
    CHECK(chip[i].largest_difference == int8[i].largest_difference);
    CHECK(chip[i].compute.median_seconds > 0);
    CHECK(chip[i].compute.median_seconds < chip[i].latency.median_seconds);
  }
}

TEST_CASE("a GPU has its four precisions, or one line that says why not") {
  const sim::Comparison comparison = compare_small();
  const std::string refusal = kernels::gpu_refusal();
  if (!refusal.empty()) {
    CHECK(comparison.gpu.empty());
    CHECK(comparison.missing == std::vector<sim::MissingPath>{{"gpu", refusal}});
    return;
  }
  CHECK_FALSE(comparison.gpu.empty());
  CHECK(comparison.missing.empty());
  const auto int8 = paths_of(comparison, "gpu", "int8");
  REQUIRE(int8.size() == 3);
  for (const auto* precision : {"fp32", "tf32", "fp16"}) {
    CHECK(paths_of(comparison, "gpu", precision).size() == 3);
  }
  for (const sim::PathFigures& path : int8) {
    CHECK(path.largest_difference == paths_of(comparison, "cpu", "int8")[0].largest_difference);
    CHECK(path.compute.median_seconds < path.latency.median_seconds);
  }
}

TEST_CASE("a comparison's file is the same each time, except for what the host measured") {
  auto a = nlohmann::ordered_json::parse(sim::to_json(compare_small()));
  auto b = nlohmann::ordered_json::parse(sim::to_json(compare_small()));
  a.erase("host");
  b.erase("host");
  CHECK(a.dump() == b.dump());
  CHECK(a["paths"].size() == 9);
  for (const auto& path : a["paths"]) {
    CHECK(path.contains("images_per_second") == path["simulated"].get<bool>());
  }
}

TEST_CASE("a comparison has the roofs of this machine and of the chip if they are asked for") {
  flow::CompareOptions options;
  options.batches = {2};
  options.seconds_per_measurement = 0;
  options.roofline = true;
  const auto comparison = flow::compare(test::small_workload(), sim::load_chip("tiny_8"), options);
  REQUIRE(comparison.roofs.size() >= 3);
  CHECK(comparison.roofs.front().device == "cpu");
  CHECK(comparison.roofs.back().device == "tiny_8");
  const auto json = nlohmann::json::parse(sim::to_json(comparison));
  CHECK(json["roofline"].size() == 1);
  CHECK(json["host"]["roofline"].size() == comparison.roofs.size() - 1);
}
