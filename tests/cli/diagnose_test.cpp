#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave::test;
using Json = nlohmann::json;

namespace {

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// SQNR of the layers with weights, in dB.
std::vector<double> weighted_sqnr(const std::string& scheme) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path("s.yaml")) << scheme;
  const Outcome outcome =
      run_command("diagnose --images 20 --json - --scheme " + directory.path("s.yaml"));
  REQUIRE(outcome.code == 0);
  std::vector<double> figures;
  const Json diagnosis = Json::parse(outcome.out);
  for (const Json& layer : diagnosis["layers"]) {
    if (layer["op"] == "Conv" || layer["op"] == "Gemm") figures.push_back(layer["sqnr_db"]);
  }
  return figures;
}

}  // namespace

TEST_CASE("diagnose has a line for each layer and marks the one that hurts most") {
  const Outcome outcome = run_command("diagnose --images 20");
  CHECK(outcome.code == 0);
  for (const char* layer : {"conv1", "pool1", "conv2", "pool2", "flatten", "dense1", "dense2"}) {
    CHECK_THAT(outcome.out, Catch::Contains(" " + std::string(layer) + " "));
  }
  CHECK_THAT(outcome.out, Catch::Contains(" hurts most"));
  CHECK(std::count(outcome.out.begin(), outcome.out.end(), '>') == 1);
}

TEST_CASE("diagnosis of equalized layers compares them with the equalized network in fp32") {
  const std::vector<double> plain = weighted_sqnr("granularity: per_tensor\n");
  const std::vector<double> equalized =
      weighted_sqnr("granularity: per_tensor\ncross_layer_equalization: true\n");
  REQUIRE(plain.size() == 4);
  REQUIRE(equalized.size() == 4);
  CHECK(equalized != plain);
  // 8 bits give about 40 dB; against a network with other scales there would be next to none.
  for (const double sqnr : equalized) CHECK(sqnr > 30);
}

TEST_CASE("a suggested scheme is one that every command takes") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("mixed.yaml");
  const Outcome outcome =
      run_command("diagnose --images 100 --accuracy-drop 2 --suggest-mixed " + file);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains(file + ": weights of "));
  CHECK_THAT(contents(file), Catch::Contains("layers:"));
  CHECK(run_command("validate " + file).code == 0);
  CHECK(run_command("run --scheme " + file + kQuick).code == 0);
  const Outcome printed = run_command("diagnose --images 100 --accuracy-drop 2 --suggest-mixed -");
  CHECK(printed.out == contents(file));
}

TEST_CASE("what cannot be diagnosed is one line and leaves no file") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("mixed.yaml");
  const auto refused = [&](const std::string& arguments, const std::string& reason) {
    INFO(arguments);
    const Outcome outcome = run_command("diagnose " + arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.out == "");
    CHECK_THAT(outcome.error, Catch::Contains(reason));
    CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
  };
  refused("--images 10001", "1 to 10000");
  refused("--images 0", "a whole number from 1");
  refused("--accuracy-drop 101 --suggest-mixed " + file, "(a number from 0 to 100)");
  refused("--model absent --suggest-mixed " + file, "absent");
  refused("--images 20 --json " + file + " --suggest-mixed " + file, "two files");
  CHECK(std::filesystem::is_empty(directory.path()));
}
