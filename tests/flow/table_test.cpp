#include "flow/experiment/table.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "flow/experiment/explore.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave;

namespace {

std::vector<std::string> lines_of(const std::string& experiment_text) {
  const test::TemporaryDirectory directory;
  flow::PointRunner runner;
  const auto experiment = flow::parse_experiment(
      "chip: tiny_8\nimages: 4\nbatch: 4\nscheme: {calibration_images: 4}\n" + experiment_text,
      "exp.yaml", true, runner);
  const auto explored = flow::explore(experiment, directory.path("out"), runner, {});
  std::istringstream text(flow::to_text(experiment, explored.outcomes, sim::Style{}));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("a table that is narrow enough has every figure, and each line ends with the last") {
  const auto lines = lines_of("vary: {batch: [2, 4]}\n");
  REQUIRE(lines.size() == 3);
  CHECK_THAT(lines[0], Catch::StartsWith(" batch      accuracy       as fp32        cycles"));
  CHECK_THAT(lines[0], Catch::EndsWith("energy"));
  CHECK_THAT(lines[1], Catch::EndsWith("J"));
  CHECK(lines[1].size() == lines[0].size());
}

TEST_CASE("a table too wide for the screen leaves out whole figures, never a part of a number") {
  const auto lines = lines_of(
      "points:\n"
      "  - {array.rows: 8, array.cols: 8, array.double_buffered_weights: false,\n"
      "     unified_buffer.capacity_kib: 64, weight_memory.bandwidth_gb_per_s: 17}\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].size() <= sim::Style::kWidth);
  CHECK_THAT(lines[0], Catch::EndsWith("        cycles"));
  CHECK(lines[1].size() == lines[0].size());
  CHECK_THAT(lines[1], Catch::EndsWith(" 313,410"));
}
