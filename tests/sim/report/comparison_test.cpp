#include "sim/report/comparison.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/sim/report/sample.h"

using namespace tilewave::sim;

namespace {

PathFigures figures(const std::string& path, const std::string& device, std::int64_t batch) {
  PathFigures f;
  f.path = path;
  f.device = device;
  f.precision = "int8";
  f.simulated = device == "chip";
  f.batch = batch;
  f.accuracy = 1;
  f.agreement_fp32 = 0.999;
  f.largest_difference = 12.3456;
  f.latency = {123.4e-6, 999.96e-6};
  f.compute = {100e-6, 110e-6};
  f.repeats = f.simulated ? 0 : 20;
  f.images_per_second = 160'000'000;
  return f;
}

Comparison comparison() {
  Comparison c;
  c.model = std::string(80, 'm');
  c.data = std::string(80, 'd');
  c.chip = sample::chip();
  c.images = 10'000;
  c.cpu = std::string(90, 'c');
  c.gpu = std::string(90, 'g');
  for (const std::int64_t batch : {1, 1024}) {
    c.paths.push_back(figures("cpu int8 (oneDNN)", "cpu", batch));
    c.paths.push_back(figures("gpu int8 (cuBLAS)", "gpu", batch));
    c.paths.push_back(figures("simulated a_chip_with_a_long_name", "chip", batch));
  }
  c.missing = {{"gpu tf32", std::string(200, 'r')}};
  Roof roof{"cpu", "fp32", false, 100e9, 10e9, "measured", {}};
  for (int i = 0; i < 10; ++i) {
    roof.layers.push_back({"layer " + std::to_string(i), 4, 1e6 * (i + 1), 1e6});
  }
  c.roofs = {roof, {std::string(60, 'c'), "int8", true, 1e12, std::nullopt, "a file", roof.layers}};
  return c;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("a comparison's screen fits 100 columns, and says what is missing and why") {
  const std::string text = to_text(comparison(), Style{});
  for (const std::string& line : lines_of(text)) {
    CAPTURE(line);
    CHECK(line.size() <= Style::kWidth);
  }
  CHECK_THAT(text, Catch::Contains(" gpu tf32: rrrr"));
  CHECK_THAT(text, Catch::Contains("layer 9") && !Catch::Contains("layer 3"));
}

TEST_CASE("a comparison's table has a header and as many fields in each row") {
  const std::vector<std::string> lines = lines_of(to_csv(comparison()));
  REQUIRE(lines.size() == 7);
  CHECK_THAT(lines[0], Catch::StartsWith("path,device,precision,batch,simulated,accuracy,"));
  for (const std::string& line : lines) {
    CHECK(std::count(line.begin(), line.end(), ',') == 15);
  }
  CHECK(lines[1] ==
        "cpu int8 (oneDNN),cpu,int8,1,false,1,0.999,12.3456,0.0001234,0.00099996,0.0001,0.00011,20,"
        "6.25e-09,160000000,10000");
}

TEST_CASE("what depends on this machine is under host, a GPU's values too") {
  const auto json = nlohmann::json::parse(to_json(comparison()));
  REQUIRE(json["paths"].size() == 4);
  CHECK(json["paths"][0]["device"] == "cpu");
  CHECK(json["paths"][1]["device"] == "chip");
  CHECK(json["paths"][1]["compute_seconds"] == 100e-6);
  CHECK_FALSE(json["paths"][0].contains("latency_seconds"));
  const auto& host = json["host"];
  REQUIRE(host["measured"].size() == 4);
  CHECK_FALSE(host["measured"][0].contains("accuracy"));
  CHECK(host["measured"][1]["accuracy"] == 1);
  CHECK(host["measured"][1]["compute_p99_seconds"] == 110e-6);
  CHECK(host["missing"][0]["path"] == "gpu tf32");
  CHECK(json["roofline"].size() == 1);
  CHECK(host["roofline"].size() == 1);
  CHECK(host["roofline"][0]["layers"][4]["operations_per_byte"] == 5);
}

TEST_CASE("the lower of the two roofs bounds a layer") {
  const Roof roof{"cpu", "fp32", false, 100e9, 10e9, "", {}};  // ridge at 10 operations per byte
  const RooflineLayer low{"low", 1, 4e6, 1e6};
  CHECK(intensity(low) == 4);
  CHECK(*attainable(roof, low) == 40e9);
  CHECK(is_memory_bound(roof, low));
  const RooflineLayer high{"high", 1, 40e6, 1e6};
  CHECK(*attainable(roof, high) == 100e9);
  CHECK_FALSE(is_memory_bound(roof, high));
  CHECK_FALSE(is_memory_bound({"chip", "int8", true, 1e9, std::nullopt, "", {}}, low));
  CHECK_FALSE(attainable({"gpu", "int8", false, std::nullopt, 1e9, "", {}}, low).has_value());
}
