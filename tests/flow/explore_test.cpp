#include "flow/experiment/explore.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "flow/experiment/store.h"
#include "flow/experiment/table.h"
#include "tests/support/temporary_directory.h"

using namespace tilewave;

namespace {

// The middle chip's buffer is too small for what one image needs, even in bands.
const std::string kExperiment =
    "chip: tiny_8\nimages: 8\nbatch: 4\nscheme: {calibration_images: 4}\n"
    "vary:\n"
    "  unified_buffer.capacity_kib: [64, 1, 32]\n"
    "  scheme.weight_bits: [4, 8]\n";

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Files {
  std::string csv, json;
  bool operator==(const Files&) const = default;
};

Files files_of(const std::string& folder) {
  return {contents(folder + "/results.csv"), contents(folder + "/results.json")};
}

flow::Explored explore(const std::string& folder, const flow::ExploreOptions& options,
                       bool accuracy = true) {
  flow::PointRunner runner;
  const auto experiment = flow::parse_experiment(kExperiment, "exp.yaml", accuracy, runner);
  return flow::explore(experiment, folder, runner, options);
}

}  // namespace

TEST_CASE("the files are the same for any number of threads and any history") {
  const test::TemporaryDirectory directory;
  const flow::Explored whole = explore(directory.path("one"), {.jobs = 1});
  CHECK(whole.computed == 6);
  const Files expected = files_of(directory.path("one"));
  REQUIRE_FALSE(expected.csv.empty());

  explore(directory.path("many"), {.jobs = 5});
  CHECK(files_of(directory.path("many")) == expected);

  // Stopped after two points, then gone on with.
  std::stop_source source;
  const auto stop_at_two = [&](const std::string&, std::int64_t done, std::int64_t) {
    if (done == 2) source.request_stop();
  };
  const std::string folder = directory.path("stopped");
  CHECK_THROWS_AS(explore(folder, {.progress = stop_at_two, .stop = source.get_token()}), Stopped);
  CHECK_FALSE(std::filesystem::exists(folder + "/results.csv"));
  CHECK(explore(folder, {}).computed == 4);
  CHECK(files_of(folder) == expected);
  CHECK(explore(folder, {}).computed == 0);
  CHECK(files_of(folder) == expected);
}

TEST_CASE("a point that fails has its reason in its row, and the others go on") {
  const test::TemporaryDirectory directory;
  const flow::Explored explored = explore(directory.path("out"), {}, false);
  CHECK(explored.failed == 2);
  REQUIRE(explored.outcomes.size() == 6);
  for (const std::size_t i : {2, 3}) {
    CHECK_THAT(explored.outcomes[i].failure, Catch::Contains("KiB") || Catch::Contains("buffer"));
    CHECK(explored.outcomes[i].figures.empty());
  }
  for (const std::size_t i : {0, 1, 4, 5}) CHECK(explored.outcomes[i].failure.empty());
}

TEST_CASE("a point's figures are those of the run with its configuration") {
  const test::TemporaryDirectory directory;
  flow::PointRunner runner;
  const auto experiment = flow::parse_experiment(kExperiment, "exp.yaml", true, runner);
  const auto explored = flow::explore(experiment, directory.path("out"), runner, {});
  const std::vector<sim::Json> rows = flow::table_rows(experiment, explored.outcomes);

  quant::Scheme scheme;
  scheme.calibration_images = 4;
  scheme.weight_bits = 4;
  const flow::Workload workload = flow::load_workload("mnist_cnn", "mnist", scheme, 1);
  const sim::Chip chip =
      sim::with_keys(sim::load_chip("tiny_8"),
                     {{"unified_buffer.capacity_kib", "32"}, {"precision.weight_bits", "4"}});
  const sim::Report report = flow::run(workload, chip, {.images = 8, .batch = 4});
  const sim::Json& row = rows.at(4);
  CHECK(row["accuracy"] == *report.accuracy);
  CHECK(row["accuracy_fp32"] == *report.accuracy_fp32);
  CHECK(row["agreement_fp32"] == *report.agreement_fp32);
  CHECK(row["cycles"] == report.result.cycles);
  CHECK(row["counters.active"] == report.result.total.classes.active);
  CHECK(row["bytes.weights"] == report.result.total.bytes.weights);
  CHECK(row["images"] == 8);
  CHECK(row["scheme.weight_bits"] == 4);
  CHECK(row["unified_buffer.capacity_kib"] == 32);
}

TEST_CASE("narrow accumulators are those of the array") {
  flow::PointRunner runner;
  const auto outcome = [&](const std::string& more) {
    const auto experiment = flow::parse_experiment(
        "chip: tiny_8\nimages: 60\nscheme: {calibration_images: 4" + more + "}\n", "exp.yaml", true,
        runner);
    return sim::Json::parse(runner.run(experiment.points[0].configuration.dump(), 1).figures);
  };
  const auto run = [&](int bits) {
    quant::Scheme scheme;
    scheme.calibration_images = 4;
    scheme.accumulator_bits = bits;
    const flow::Workload workload = flow::load_workload("mnist_cnn", "mnist", scheme, 1);
    return flow::run(workload, sim::load_chip("tiny_8"), {.images = 60});
  };
  CHECK(outcome(", accumulator_bits: 14")["agreement_fp32"] == *run(14).agreement_fp32);
  CHECK(outcome("")["agreement_fp32"] == *run(32).agreement_fp32);
  CHECK(outcome(", accumulator_bits: 14")["agreement_fp32"] != outcome("")["agreement_fp32"]);
}

TEST_CASE("a store has what was put into it, for whoever opens it next") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("store.sqlite");
  {
    flow::Store store(path);
    CHECK(store.find("a") == std::nullopt);
    store.put("a", "{}", {"{\"cycles\":1}", "", true});
    store.put("b", "{}", {"", "too small", true});
    // A second result for a point is a mistake.
    CHECK_THROWS_AS(store.put("a", "{}", {"{}", "", true}), WorkError);
  }
  flow::Store store(path);
  CHECK(store.find("a")->figures == "{\"cycles\":1}");
  CHECK(store.find("a")->failure.empty());
  CHECK(store.find("b")->failure == "too small");
  CHECK(store.find("b")->figures.empty());
}

TEST_CASE("a store has one owner at a time") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("store.sqlite");
  {
    const flow::Store store(path);
    CHECK_THROWS_WITH(flow::Store(path), path + ": another process is working with it");
  }
  CHECK_NOTHROW(flow::Store(path));
}

TEST_CASE("a file that is no store is refused and left as it is") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("store.sqlite");
  const std::string text(2000, 'x');
  std::ofstream(path) << text;
  CHECK_THROWS_AS(flow::Store(path), InputError);
  CHECK(contents(path) == text);
  CHECK_THROWS_AS(flow::Store(directory.path("no/folder/store.sqlite")), WorkError);
}
