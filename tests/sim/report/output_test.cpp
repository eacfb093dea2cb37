#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/report/report.h"
#include "tests/sim/report/sample.h"

using namespace tilewave::sim;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Columns on the screen: without escape sequences, a UTF-8 character counted once.
std::size_t columns(const std::string& line) {
  std::size_t count = 0;
  bool escape = false;
  for (const char letter : line) {
    if (letter == '\x1b') escape = true;
    if (!escape && (static_cast<unsigned char>(letter) & 0xC0) != 0x80) ++count;
    if (letter == 'm') escape = false;
  }
  return count;
}

/// Long names, large numbers, and more layers than a screen has lines.
Report large_report() {
  Report report = sample::report();
  report.model = std::string(80, 'm');
  report.data = std::string(80, 'd');
  report.chip.name = std::string(80, 'c');
  report.chip.clock_mhz = 1234.5;
  report.images = report.batch = 1'234'567'890;
  report.accuracy = report.accuracy_fp32 = report.agreement_fp32 = 1;
  report.layers.assign(60, report.layers[0]);
  report.result.layers.assign(60, report.result.layers[0]);
  for (std::size_t i = 0; i < 60; ++i) {
    report.layers[i].name = "a layer with a long name, number " + std::to_string(i);
    report.layers[i].operation = "GlobalAveragePool";
    report.layers[i].m = 112 * 112;
    report.layers[i].n = 2048;
    report.layers[i].k = 4608;
    report.result.layers[i].classes = {0, 0, 0, 0, 0, 123'456'789, 0, 0};
  }
  report.result.layers[59].classes.accumulator_stall = 999'999'999;
  report.result.total = {};
  for (const RunCounters& layer : report.result.layers) report.result.total += layer;
  report.result.cycles = report.result.total.classes.total();
  report.result.total.bytes.host_in = 123'456'789'012'345;
  return report;
}

}  // namespace

TEST_CASE("the result file has the documented keys in order") {
  const auto json = nlohmann::ordered_json::parse(to_json(sample::report()));
  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  CHECK(keys == std::vector<std::string>{"schema_version",
                                         "tilewave_version",
                                         "chip",
                                         "scheme",
                                         "model",
                                         "data",
                                         "engine",
                                         "batch",
                                         "images",
                                         "padded_images",
                                         "launches",
                                         "accuracy",
                                         "accuracy_fp32",
                                         "agreement_fp32",
                                         "cycles",
                                         "seconds",
                                         "images_per_second",
                                         "latency_seconds",
                                         "overflows",
                                         "counters",
                                         "waiting",
                                         "macs",
                                         "vector_operations",
                                         "tiles_read",
                                         "instructions",
                                         "utilization",
                                         "tops",
                                         "bytes",
                                         "energy_joules",
                                         "unified_buffer_peak_bytes",
                                         "faults",
                                         "layers",
                                         "host"});
}

TEST_CASE("what did not fit the unified buffer is said, and only then") {
  Report report = sample::report();
  CHECK(to_text(report, Style{}).find("split") == std::string::npos);
  CHECK(to_text(report, Style{}).find("spilled") == std::string::npos);
  report.layers[1].bands = 3;
  report.layers[1].spilled_bytes = 2048;
  const std::string text = to_text(report, Style{});
  CHECK(text.find("split     into up to 3 bands of rows an image: 1 layer (second)\n") !=
        std::string::npos);
  CHECK(text.find("spilled   to the host and back: 2.05 kB a launch: 1 layer (second)\n") !=
        std::string::npos);
}

TEST_CASE("overflows are in every output, and in the text only if there are any") {
  Report report = sample::report();  // a run without values
  CHECK(nlohmann::json::parse(to_json(report))["overflows"].is_null());
  CHECK(nlohmann::json::parse(to_json(report))["layers"][1]["overflows"].is_null());
  CHECK_THAT(lines_of(to_csv(report))[3], Catch::EndsWith(","));
  CHECK(to_text(report, Style{}).find("overflows") == std::string::npos);
  report.result.overflows = {0, 0};
  CHECK(nlohmann::json::parse(to_json(report))["overflows"] == 0);
  CHECK(to_text(report, Style{}).find("overflows") == std::string::npos);
  report.result.overflows = {1000, 3000};
  const auto json = nlohmann::json::parse(to_json(report));
  CHECK(json["overflows"] == 4000);
  CHECK(json["layers"][1]["overflows"] == 3000);
  const std::vector<std::string> lines = lines_of(to_csv(report));
  CHECK_THAT(lines[0], Catch::EndsWith(",overflows"));
  CHECK_THAT(lines[2], Catch::EndsWith(",3000"));
  CHECK_THAT(lines[3], Catch::EndsWith(",4000"));
  CHECK_THAT(to_text(report, Style{}),
             Catch::Contains(
                 "overflows 4,000 sums left the 32 bits and wrapped; 75.0 % of them in second\n"));
}

TEST_CASE("the result file's figures are the run's") {
  const auto json = nlohmann::json::parse(to_json(sample::report()));
  CHECK(json["schema_version"] == 1);
  CHECK(json["chip"]["array"]["rows"] == 4);
  CHECK(json["scheme"]["requantize"] == "float");
  CHECK(json["accuracy"] == 0.5);
  CHECK(json["accuracy_fp32"].is_null());
  CHECK(json["seconds"] == 2e-6);
  CHECK(json["latency_seconds"] == 1.2e-6);
  CHECK(json["images_per_second"].get<double>() == Approx(1.5e6));
  const auto& counters = json["counters"];
  CHECK(counters["active"] == 28);
  CHECK(counters["active_useful"] == 18);
  CHECK(counters["active_unused"] == 10);
  int sum = 0;
  for (const auto* key : {"active", "weight_stall", "weight_shift", "input_stall", "raw_stall",
                          "accumulator_stall", "drain", "idle"}) {
    sum += counters[key].get<int>();
  }
  CHECK(sum == json["cycles"]);
  CHECK(json["waiting"]["raw_stall"] == 22);
  CHECK(json["bytes"]["accumulator_write"] == 368);
  REQUIRE(json["layers"].size() == 2);
  const auto& second = json["layers"][1];
  CHECK(second["name"] == "second");
  CHECK(second["op"] == "Gemm");
  CHECK(second["m"] == 1);
  CHECK(second["n"] == 2);
  CHECK(second["k"] == 15);
  CHECK(second["tiles"] == 4);
  CHECK(second["bands"] == 1);
  CHECK(second["spilled_bytes"] == 0);
  CHECK(second["cycles"] == 141);
  CHECK(second["bytes"]["host_out"] == 8);
  CHECK(json["host"]["threads"] == 2);
}

TEST_CASE("the table of a spreadsheet has a row per layer and one for the run") {
  const std::vector<std::string> lines = lines_of(to_csv(sample::report()));
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[0], Catch::StartsWith("name,op,m,n,k,groups,tiles,cycles,active,"));
  CHECK_THAT(lines[1], Catch::StartsWith("\"first, of \"\"two\"\"\",Conv,3,5,4,1,1,59,12,12,10,"));
  CHECK_THAT(lines[2], Catch::StartsWith("second,Gemm,1,2,15,1,4,141,16,6,40,"));
  CHECK_THAT(lines[3], Catch::StartsWith("total,,0,0,0,1,5,200,28,18,50,"));
  const auto commas = [](const std::string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  CHECK(commas(lines[0]) == commas(lines[2]));
  CHECK(commas(lines[0]) == commas(lines[3]));
}

TEST_CASE("plain text has no escape codes and no block characters") {
  for (const char letter : to_text(sample::report(), Style{})) {
    REQUIRE((letter == '\n' || (letter >= ' ' && letter <= '~')));
  }
}

TEST_CASE("text fits a screen of 100 columns and 45 lines") {
  for (const Style style : {Style{}, Style{.colour = true, .blocks = true}}) {
    for (const Report& report : {sample::report(), large_report()}) {
      const std::vector<std::string> lines = lines_of(to_text(report, style));
      CHECK(lines.size() <= 45);
      for (const std::string& line : lines) {
        CAPTURE(line);
        CHECK(columns(line) <= Style::kWidth);
      }
    }
  }
}

TEST_CASE("of many layers the text shows the largest and sums up the rest") {
  const std::string text = to_text(large_report(), Style{});
  CHECK_THAT(text, Catch::Contains("er 59"));
  CHECK_THAT(text, Catch::Contains("and 48 smaller layers"));
}

TEST_CASE("the paper's table has this run beside the paper's columns") {
  const std::vector<std::string> lines = lines_of(to_paper_table(sample::report()));
  REQUIRE(lines.size() == 12);
  const auto numbers = [&](std::size_t line) {
    std::istringstream in(lines[line].substr(26));
    std::vector<double> values;
    for (double value = 0; in >> value;) values.push_back(value);
    return values;
  };
  // Of 200 cycles: 28 active, 50 weight stall, 12 shift, 30 + 20 + 1 + 3 + 56 others.
  CHECK(numbers(1) == std::vector<double>{14.0, 12.7, 10.6, 8.2, 10.5, 78.2, 46.2});
  CHECK(numbers(2)[0] == 9.0);
  CHECK(numbers(3)[0] == 5.0);
  CHECK(numbers(4)[0] == 25.0);
  CHECK(numbers(5)[0] == 6.0);
  CHECK(numbers(6)[0] == 55.0);
  CHECK(numbers(7)[0] == 11.0);
  CHECK(numbers(8)[0] == 17.5);
}
