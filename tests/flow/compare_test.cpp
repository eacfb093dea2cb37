#include "flow/compare.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/flow/small_workload.h"

using namespace tilewave;

namespace {

sim::Comparison compare_small() {
  flow::CompareOptions options;
  options.batches = {4, 1, 4, 100};
  options.seconds_per_measurement = 0;
  return flow::compare(test::small_workload(), sim::load_chip("tiny_8"), options);
}

}  // namespace

TEST_CASE("quantiles are by nearest rank") {
  std::vector<double> values;
  for (int i = 200; i >= 1; --i) values.push_back(i);
  CHECK(flow::quantile(values, 0.5) == 100);
  CHECK(flow::quantile(values, 0.99) == 198);
  CHECK(flow::quantile(values, 1) == 200);
  CHECK(flow::quantile({3}, 0.99) == 3);
}

TEST_CASE("each batch size once, with the CPU's two paths and the chip") {
  const sim::Comparison comparison = compare_small();
  std::vector<std::int64_t> batches;
  for (const auto& path : comparison.paths) batches.push_back(path.batch);
  CHECK(batches == std::vector<std::int64_t>{1, 1, 1, 4, 4, 4, 10, 10, 10});
  for (std::size_t i = 0; i < comparison.paths.size(); i += 3) {
    const auto& fp32 = comparison.paths[i];
    const auto& int8 = comparison.paths[i + 1];
    const auto& chip = comparison.paths[i + 2];
    CHECK(fp32.agreement_fp32 == 1);
    CHECK(fp32.largest_difference == 0);
    CHECK(int8.largest_difference > 0);
    CHECK(int8.repeats >= 10);
    CHECK(int8.latency_p99_seconds >= int8.latency_median_seconds);
    CHECK(chip.simulated);
    CHECK(chip.accuracy == int8.accuracy);
    CHECK(chip.largest_difference == int8.largest_difference);
    CHECK(chip.latency_median_seconds > 0);
  }
}

TEST_CASE("a comparison's file is the same each time, except for what the host measured") {
  auto a = nlohmann::ordered_json::parse(sim::to_json(compare_small()));
  auto b = nlohmann::ordered_json::parse(sim::to_json(compare_small()));
  CHECK(a["host"]["measured"].size() == 6);
  a.erase("host");
  b.erase("host");
  CHECK(a.dump() == b.dump());
  for (const auto& path : a["paths"]) {
    CHECK(path.contains("images_per_second") == path["simulated"].get<bool>());
  }
}

TEST_CASE("a comparison's screen fits 100 columns") {
  std::istringstream in(sim::to_text(compare_small(), sim::Style{}));
  for (std::string line; std::getline(in, line);) {
    CAPTURE(line);
    CHECK(line.size() <= sim::Style::kWidth);
  }
}
