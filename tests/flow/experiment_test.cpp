#include "flow/experiment/experiment.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "base/error.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave;

namespace {

const std::string kBase = "chip: tiny_8\nimages: 8\nscheme: {calibration_images: 4}\n";

flow::Experiment read(const std::string& yaml) {
  flow::PointRunner runner;
  return flow::parse_experiment(yaml, "exp.yaml", false, runner);
}

/// The values of a column, as JSON.
std::vector<std::string> values(const flow::Experiment& experiment, const std::string& column) {
  std::vector<std::string> texts;
  for (const flow::Point& point : experiment.points) {
    texts.push_back(flow::Experiment::value(point, column).dump());
  }
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a grid has every combination, and its first key changes slowest") {
  const flow::Experiment experiment = read(kBase +
                                           "vary:\n"
                                           "  array: [{rows: 8, cols: 4}, {rows: 16}]\n"
                                           "  batch: [1, 2]\n"
                                           "  scheme.weight_bits: [4, 8]\n");
  CHECK(experiment.columns == Texts{"array.rows", "array.cols", "batch", "scheme.weight_bits"});
  CHECK(values(experiment, "array.rows") == Texts{"8", "8", "8", "8", "16", "16", "16", "16"});
  // What a mapping does not say stays the base's.
  CHECK(values(experiment, "array.cols") == Texts{"4", "4", "4", "4", "8", "8", "8", "8"});
  CHECK(values(experiment, "batch") == Texts{"1", "1", "2", "2", "1", "1", "2", "2"});
  CHECK(values(experiment, "scheme.weight_bits") == Texts{"4", "8", "4", "8", "4", "8", "4", "8"});
}

TEST_CASE("a chip is as wide as the scheme unless the experiment says how wide it is") {
  const flow::Experiment experiment = read(kBase +
                                           "vary: {scheme.weight_bits: [3, 16]}\n"
                                           "points: [{precision.activation_bits: 16}]\n");
  const auto precision = [&](std::size_t i) {
    return experiment.points.at(i).configuration["chip"]["precision"];
  };
  CHECK(precision(0)["weight_bits"] == 3);
  CHECK(precision(0)["activation_bits"] == 8);
  CHECK(precision(1)["weight_bits"] == 16);
  CHECK(precision(2)["activation_bits"] == 16);
}

TEST_CASE("without anything to vary there is the one point") {
  const flow::Experiment experiment = read(kBase);
  CHECK(experiment.columns.empty());
  REQUIRE(experiment.points.size() == 1);
  CHECK(experiment.points[0].configuration["chip"]["name"] == "tiny_8");
  CHECK(experiment.points[0].configuration["scheme"]["calibration_images"] == 4);
  CHECK(experiment.points[0].configuration["accuracy"] == false);
}

TEST_CASE("points that are listed come after the grid, each with its own settings") {
  const flow::Experiment experiment = read(kBase +
                                           "vary: {batch: [1, 2]}\n"
                                           "points: [{batch: 7, array.rows: 5}, {batch: 9}]\n");
  CHECK(values(experiment, "batch") == Texts{"1", "2", "7", "9"});
  CHECK(values(experiment, "array.rows") == Texts{"8", "8", "5", "8"});
  CHECK(values(read(kBase + "points: [{batch: 3}]\n"), "batch") == Texts{"3"});
}

TEST_CASE("chips are varied as a whole, and their keys on top of that") {
  const flow::Experiment experiment = read(
      kBase + "vary:\n  array.rows: [4, 8]\n  chip: [tpu_v1, {extends: edge_32, name: mine}]\n");
  CHECK(values(experiment, "chip") == Texts{"\"tpu_v1\"", "\"mine\"", "\"tpu_v1\"", "\"mine\""});
  CHECK(values(experiment, "array.rows") == Texts{"4", "4", "8", "8"});
  CHECK(values(experiment, "array.cols") == Texts{"256", "32", "256", "32"});
}

TEST_CASE("random points are from the grid, none twice, and the same for the same seed") {
  const std::string grid = kBase + "vary: {batch: [1, 2, 3, 4, 5], array.rows: [1, 2, 3, 4]}\n";
  const auto drawn = [&](int samples, int seed) {
    const flow::Experiment experiment = read(grid + "random: {samples: " + std::to_string(samples) +
                                             ", seed: " + std::to_string(seed) + "}\n");
    const Texts batches = values(experiment, "batch");
    const Texts rows = values(experiment, "array.rows");
    Texts both;
    for (std::size_t i = 0; i < batches.size(); ++i) both.push_back(batches[i] + "/" + rows[i]);
    return both;
  };
  const Texts all = drawn(20, 1);
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == 20);
  CHECK(drawn(20, 1) == all);
  CHECK(drawn(20, 2) != all);
  // Fewer are the beginning of more.
  CHECK(drawn(5, 1) == Texts(all.begin(), all.begin() + 5));
  // Pinned: std::mt19937_64 seeded with 1 gives 2469588189546311528, 2516265689700432462 and
  // 8323445853463659930 first; modulo 20 that is 8, 2 and 10 of a grid with 4 rows in each batch.
  CHECK(drawn(3, 1) == Texts{"3/1", "1/3", "3/3"});
}

TEST_CASE("a key is the same for the same content, wherever that lies, and differs else") {
  const auto key = [](const std::string& yaml) { return read(yaml).points.at(0).key; };
  const std::string base = key(kBase);
  CHECK(key(kBase + "accuracy: false\n") == base);
  CHECK(key(kBase + "accuracy: true\n") != base);
  CHECK(key(kBase + "batch: 2\n") != base);
  CHECK(key("chip: tiny_8\nimages: 8\n") != base);
  CHECK(key("chip: {extends: tiny_8, energy: {mac_pj: 1.5}}\nimages: 8\n"
            "scheme: {calibration_images: 4}\n") != base);

  const test::TemporaryDirectory directory;
  const std::string source = TILEWAVE_SOURCE_DIR "/models/mnist_cnn.onnx";
  std::filesystem::copy_file(source, directory.path("copy.onnx"));
  const std::string copy = kBase + "model: " + directory.path("copy.onnx") + "\n";
  CHECK(key(copy) == base);
  // A producer name more is another file.
  std::ofstream(directory.path("copy.onnx"), std::ios::app | std::ios::binary) << "\x12\x01x";
  CHECK(key(copy) != base);
}

TEST_CASE("paths of an experiment are relative to its file") {
  const test::TemporaryDirectory directory;
  std::filesystem::copy_file(TILEWAVE_SOURCE_DIR "/models/mnist_cnn.onnx",
                             directory.path("net.onnx"));
  std::ofstream(directory.path("chip.yaml")) << "extends: tiny_8\nname: beside\n";
  std::ofstream(directory.path("exp.yaml"))
      << "chip: {extends: ./chip.yaml}\nmodel: net.onnx\nimages: 8\n";
  flow::PointRunner runner;
  const auto experiment = flow::read_experiment(directory.path("exp.yaml"), true, runner);
  CHECK(experiment.points[0].configuration["chip"]["name"] == "beside");
  CHECK(experiment.points[0].configuration["model"] == directory.path("net.onnx"));
  CHECK(experiment.points[0].configuration["accuracy"] == true);
}

TEST_CASE("every experiment that ships can be read, where it lies and from a copy elsewhere") {
  const test::TemporaryDirectory directory;
  for (const char* folder : {"studies", "sweeps"}) {
    const std::filesystem::path shipped = TILEWAVE_SOURCE_DIR "/configs";
    for (const auto& entry : std::filesystem::directory_iterator(shipped / folder)) {
      const std::string copy = directory.path(entry.path().filename().string());
      std::filesystem::copy_file(entry.path(), copy);
      for (const std::string& path : {entry.path().string(), copy}) {
        INFO(path);
        flow::PointRunner runner;
        CHECK(flow::read_experiment(path, true, runner).points.size() >= 2);
      }
    }
  }
}

TEST_CASE("a configuration's text reads back as the same") {
  flow::Configuration configuration;
  configuration.chip = sim::load_chip("edge_32");
  configuration.chip.name = "null";
  configuration.chip.weight_memory.bandwidth.reset();
  configuration.chip.energy.mac_pj = 1e-7;
  configuration.scheme.weight_bits = 3;
  configuration.scheme.overflow = quant::Overflow::saturate;
  configuration.model = "folder/\"quoted\" name.onnx";
  configuration.images = 17;
  const flow::Configuration again = flow::parse_configuration(flow::to_json(configuration).dump());
  CHECK(again.chip == configuration.chip);
  CHECK(again.scheme == configuration.scheme);
  CHECK(again.model == configuration.model);
  CHECK(again.images == configuration.images);
  CHECK(flow::to_json(again).dump() == flow::to_json(configuration).dump());
}

TEST_CASE("a mistake in an experiment is answered with file, line, key and what is allowed") {
  const auto error = [](const std::string& yaml) -> std::string {
    try {
      read(yaml);
    } catch (const InputError& wrong) {
      return wrong.what();
    }
    return "accepted";
  };
  CHECK(error("vary:\n  batch: 3\n") == "exp.yaml:2: vary.batch: is no list of values (as [1, 2])");
  CHECK(error("vary:\n  batch: []\n") ==
        "exp.yaml:2: vary.batch: is no list of values (as [1, 2])");
  CHECK(error("vari: {batch: [1]}\n") == "exp.yaml:1: vari: unknown key (did you mean vary?)");
  CHECK(error("vary:\n  batch: [1,\n    0]\n") ==
        "exp.yaml:3: batch: 0 is not allowed (1 or more)");
  CHECK(error("vary:\n  array.rosw: [1]\n") ==
        "exp.yaml:2: array.rosw: unknown key (did you mean rows?)");
  CHECK(error("vary:\n  array.rows: [1, 0]\n").starts_with("exp.yaml:2: array.rows: 0 "));
  CHECK(error("vary:\n  scheme.weight_bits: [8, 9]\n") ==
        "exp.yaml:2: weight_bits: is 9 (2 to 8, or 16)");
  CHECK(error("\nmodel: mnist_cn\n").starts_with("exp.yaml:2: model: model mnist_cn: is neither"));
  CHECK(error("data: mnis\n").starts_with("exp.yaml:1: data: data set mnis: is neither"));
  CHECK(error("images: 10001\n").starts_with("exp.yaml:1: images: images: 10001 of the test"));
  CHECK(error("images: 0\n") == "exp.yaml:1: images: 0 is not allowed (1 or more)");
  CHECK(error("chip: tpu_v2\n").starts_with("exp.yaml:1: extends: there is no chip tpu_v2"));
  CHECK(error("random: {samples: 3}\n").starts_with("exp.yaml:1: random: draws from nothing"));
  CHECK(error("vary: {batch: [1, 2]}\nrandom: {samples: 3}\n") ==
        "exp.yaml:2: random.samples: 3 points (1 to 2)");
  CHECK(error("points: 3\n").starts_with("exp.yaml:1: points: is no list of settings"));
  CHECK(error("points: [3]\n").starts_with("exp.yaml:1: points: 3 is not a mapping"));
  CHECK(error("- 1\n").starts_with("exp.yaml:1: a sequence is not a mapping"));
}
