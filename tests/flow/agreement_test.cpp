#include "flow/agreement.h"

#include <catch2/catch.hpp>

using namespace tilewave;

TEST_CASE("MNIST's logits, cycles and counters are the same from every engine, on each array") {
  const flow::Workload workload = flow::load_workload("mnist_cnn", "mnist", {}, 2);
  const sim::Chip chip = sim::load_chip("tpu_v1");
  const std::string dataflow =
      GENERATE("weight_stationary", "output_stationary", "input_stationary");
  struct Case {
    std::string array;
    std::int64_t images, batch;
  };
  for (const Case& c : {Case{"rows: 8, cols: 8", 3, 2}, Case{"rows: 16, cols: 16", 6, 3},
                        Case{"rows: 12, cols: 20", 5, 2}, Case{"rows: 256, cols: 256", 5, 2}}) {
    CAPTURE(c.array, dataflow);
    const auto agreement = flow::check_agreement(
        workload, sim::with_key(chip, "array", "{" + c.array + ", dataflow: " + dataflow + "}"),
        c.images, c.batch, {});
    CHECK(agreement.engines.size() == 3);
    CHECK(agreement.cycles > 0);
  }
}
