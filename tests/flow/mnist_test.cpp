#include <catch2/catch.hpp>

#include "flow/run.h"
#include "kernels/reference.h"

using namespace tilewave;

TEST_CASE("the network that comes with tilewave keeps its accuracy on the simulated TPU v1") {
  const flow::Workload workload = flow::load_workload("mnist_cnn", "mnist", {}, 2);
  const sim::Report report = flow::run(workload, sim::load_chip("tpu_v1"), {.threads = 2});
  REQUIRE(report.images == 10000);
  CHECK(*report.accuracy_fp32 >= 0.99);
  CHECK(*report.accuracy >= *report.accuracy_fp32 - 0.001);
  CHECK(*report.agreement_fp32 >= 0.998);

  const auto native = kernels::make_cpu_int8(workload.quantized, {.threads = 2});
  const kernels::Outputs outputs = native->run(workload.data.test.slice(0, report.images));
  // One comparison, so that a failure does not print a hundred thousand numbers.
  CHECK((report.result.outputs == outputs.integers));
}
