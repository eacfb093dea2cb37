#include <catch2/catch.hpp>
#include <stop_token>

#include "base/error.h"
#include "flow/run.h"
#include "kernels/calibrate.h"
#include "kernels/reference.h"
#include "tests/flow/small_workload.h"

// Long work is left soon after it has been asked to stop.

using namespace tilewave;

namespace {

std::stop_token stopped() {
  std::stop_source source;
  source.request_stop();
  return source.get_token();
}

std::vector<flow::EngineChoice> engines() {
#ifdef TILEWAVE_SYSTEMC
  return {{"timeline", ""}, {"systemc", "tile"}, {"systemc", "pe"}};
#else
  return {{"timeline", ""}};
#endif
}

}  // namespace

TEST_CASE("a run that is asked to stop does not go on to its end") {
  const flow::Workload workload = test::small_workload();
  for (const flow::EngineChoice& engine : engines()) {
    CAPTURE(flow::engine_label(engine));
    std::stop_source source;
    std::int64_t told = 0;
    const auto stop_at_first = [&](const std::string& what, std::int64_t done, std::int64_t) {
      if (what != "simulating") return;
      told = done;
      source.request_stop();
    };
    CHECK_THROWS_AS(
        flow::run(
            workload, sim::load_chip("tiny_8"),
            {.batch = 1, .engine = engine, .progress = stop_at_first, .stop = source.get_token()}),
        Stopped);
    CHECK(told <= 1);
    // The same again: nothing is left behind.
    CHECK_NOTHROW(flow::run(workload, sim::load_chip("tiny_8"), {.batch = 1, .engine = engine}));
  }
}

TEST_CASE("calibrating and the reference paths stop") {
  const flow::Workload workload = test::small_workload();
  const models::Images& images = workload.data.test;
  for (const int threads : {1, 3}) {
    CHECK_THROWS_AS(kernels::quantize(workload.graph, workload.data.calibration,
                                      workload.quantized.scheme, threads, stopped()),
                    Stopped);
    const kernels::ReferenceOptions options{.threads = threads, .stop = stopped()};
    CHECK_THROWS_AS(
        kernels::make_cpu_fp32(workload.graph, options)->run(images.slice(0, images.count)),
        Stopped);
    CHECK_THROWS_AS(
        kernels::make_cpu_int8(workload.quantized, options)->run(images.slice(0, images.count)),
        Stopped);
  }
}
