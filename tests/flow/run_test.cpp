#include "flow/run.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "flow/scores.h"
#include "kernels/reference.h"
#include "sim/compiler/compiler.h"
#include "tests/flow/small_workload.h"

using namespace tilewave;

namespace {

sim::Report run_small(const flow::RunOptions& options) {
  return flow::run(test::small_workload(), sim::load_chip("tiny_8"), options);
}

std::string without_host(const sim::Report& report) {
  auto json = nlohmann::ordered_json::parse(sim::to_json(report));
  json.erase("host");
  return json.dump();
}

}  // namespace

TEST_CASE("a run's outputs are the CPU's int8 outputs, and its scores theirs") {
  const flow::Workload workload = test::small_workload();
  const sim::Report report = run_small({.batch = 4});
  const auto outputs =
      kernels::make_cpu_int8(workload.quantized, {})->run(workload.data.test.slice(0, 10));
  CHECK(report.result.outputs == outputs.integers);
  const auto classes = flow::classes_of(outputs.integers, 3);
  CHECK(report.accuracy == flow::accuracy(classes, workload.data.test.labels));
  const auto fp32 =
      kernels::make_cpu_fp32(workload.graph, {})->run(workload.data.test.slice(0, 10));
  CHECK(report.agreement_fp32 == flow::agreement(classes, flow::classes_of(fp32.real, 3)));
  CHECK(report.accuracy_fp32 ==
        flow::accuracy(flow::classes_of(fp32.real, 3), workload.data.test.labels));
}

TEST_CASE("a scheme's accumulators take the place of the chip's") {
  flow::Workload workload = test::small_workload();
  workload.quantized.scheme.accumulator_bits = 12;
  workload.quantized.scheme.overflow = quant::Overflow::saturate;
  const sim::Report report = flow::run(workload, sim::load_chip("tiny_8"), {});
  CHECK(report.chip.precision.accumulator_bits == 12);
  CHECK(report.chip.precision.overflow == quant::Overflow::saturate);
  const auto chip = sim::with_keys(sim::load_chip("tiny_8"), {{"precision.accumulator_bits", "12"},
                                                              {"precision.overflow", "saturate"}});
  CHECK(report.result.outputs == flow::run(test::small_workload(), chip, {}).result.outputs);
  CHECK(report.result.outputs != run_small({}).result.outputs);
  CHECK(sim::with_scheme(chip, {}) == chip);
}

TEST_CASE("a short last batch is filled up, and the report says by how much") {
  const sim::Report report = run_small({.batch = 4});
  CHECK(report.images == 10);
  CHECK(report.launches == 3);
  CHECK(report.padded_images == 2);
  CHECK(report.result.outputs.size() == 30);
}

TEST_CASE("the batch is at most the number of images") {
  const sim::Report report = run_small({.images = 3, .batch = 256});
  CHECK(report.batch == 3);
  CHECK(report.launches == 1);
  CHECK(report.padded_images == 0);
  CHECK(report.latency_seconds() == report.seconds());
}

TEST_CASE("without a reference run there are no figures that need one") {
  const sim::Report report = run_small({.reference = false});
  CHECK(report.accuracy.has_value());
  CHECK_FALSE(report.accuracy_fp32.has_value());
  CHECK_FALSE(report.agreement_fp32.has_value());
}

TEST_CASE("a result is the same for any number of threads") {
  CHECK(without_host(run_small({.batch = 4, .threads = 1})) ==
        without_host(run_small({.batch = 4, .threads = 3})));
}

TEST_CASE("an engine that is not there is refused with those that are") {
  CHECK_THROWS_WITH(run_small({.engine = {"quantum", ""}}),
                    Catch::Contains("quantum") && Catch::Contains("timeline"));
  CHECK_THROWS_WITH(run_small({.engine = {"systemc", "pee"}}),
                    Catch::Contains("pee") && Catch::Contains("pe"));
  CHECK_THROWS_WITH(run_small({.engine = {"timeline", "pe"}}), Catch::Contains("systemc"));
}

TEST_CASE("what needs the array's registers gets the matrix unit that has them, or is refused") {
  CHECK(flow::with_registers({"systemc", ""}, "--vcd").matrix_unit == "pe");
  CHECK(flow::with_registers({"systemc", "pe"}, "--vcd").matrix_unit == "pe");
  CHECK_THROWS_WITH(flow::with_registers({"systemc", "tile"}, "--vcd"),
                    "--vcd: engine systemc/tile does not model the array's registers "
                    "(--engine systemc --matrix-unit pe does)");
  CHECK_THROWS_WITH(flow::with_registers({}, "--fault"),
                    Catch::Contains("--fault: engine timeline"));
}

TEST_CASE("progress is told until the last launch") {
  std::int64_t last = 0;
  std::int64_t of = 0;
  run_small(
      {.batch = 4, .progress = [&](const std::string& what, std::int64_t done, std::int64_t all) {
         if (what == "simulating") last = done, of = all;
       }});
  CHECK(last == 3);
  CHECK(of == 3);
}

TEST_CASE("an executed program gives the run's cycles and outputs") {
  const flow::Workload workload = test::small_workload();
  const sim::Chip chip = sim::load_chip("tiny_8");
  const sim::Report report = flow::run(workload, chip, {.batch = 4});
  const sim::Program program = sim::compile(workload.quantized, chip, 4);
  const models::ImagesView images = workload.data.test;
  const sim::Report executed = flow::execute(program, chip, &images, "noise", {});
  CHECK(executed.result.cycles == report.result.cycles);
  CHECK(executed.result.outputs == report.result.outputs);
  CHECK(executed.accuracy == report.accuracy);

  const sim::Report timed =
      flow::execute(program, chip, nullptr, "", {.launches = 3, .values = false});
  CHECK(timed.result.cycles == report.result.cycles);
  CHECK(timed.result.outputs.empty());

  const sim::Report blank = flow::execute(program, chip, nullptr, "", {.launches = 2});
  CHECK(blank.images == 8);
  CHECK(blank.result.outputs.size() == 24);
  CHECK_FALSE(blank.accuracy.has_value());
}

TEST_CASE("a program asked for more launches than can be counted is refused") {
  const flow::Workload workload = test::small_workload();
  const sim::Chip chip = sim::load_chip("tiny_8");
  const sim::Program program = sim::compile(workload.quantized, chip, 4);
  CHECK_THROWS_AS(flow::execute(program, chip, nullptr, "", {.launches = INT64_MAX}), InputError);
  CHECK_THROWS_AS(flow::execute(program, chip, nullptr, "", {.launches = INT64_MAX / 8}),
                  InputError);
}
