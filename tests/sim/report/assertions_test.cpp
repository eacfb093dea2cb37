#include "sim/report/assertions.h"

#include <catch2/catch.hpp>
#include <functional>

#include "base/error.h"
#include "tests/sim/report/sample.h"

using namespace tilewave::sim;

namespace {

/// The message with which the checks refuse the sample after `change`; "" if they do not.
std::string refusal(const std::function<void(Program&, RunResult&)>& change) {
  Program program = sample::program();
  RunResult result = sample::result();
  change(program, result);
  try {
    check_network_run(sample::chip(), program, result, sample::kLaunches);
  } catch (const tilewave::InternalError& error) {
    return error.what();
  }
  return "";
}

/// The same change in a layer and in the total, so that only the rule itself is broken.
std::string refusal_of_layer(std::size_t layer, const std::function<void(RunCounters&)>& change) {
  return refusal([&](Program&, RunResult& result) {
    change(result.layers[layer]);
    change(result.total);
    result.cycles = result.total.classes.total();
  });
}

}  // namespace

TEST_CASE("a sound run passes every check") {
  CHECK(refusal([](Program&, RunResult&) {}) == "");
}

TEST_CASE("a run whose classes do not add up is refused") {
  CHECK_THAT(refusal([](Program&, RunResult& r) { r.cycles = 201; }),
             Catch::Contains("cycle classes add up") && Catch::Contains("200 and 201"));
}

TEST_CASE("a negative cycle class is refused") {
  CHECK_THAT(refusal_of_layer(0, [](RunCounters& c) { c.classes.drain -= 1; }),
             Catch::Contains("layer first") && Catch::Contains("negative"));
}

TEST_CASE("more multiplications than multipliers are refused") {
  CHECK_THAT(refusal_of_layer(0, [](RunCounters& c) { c.classes.active -= 1; }),
             Catch::Contains("faster than its multipliers") && Catch::Contains("220 and 240"));
}

TEST_CASE("waiting below the class of the same name is refused") {
  CHECK_THAT(refusal_of_layer(1, [](RunCounters& c) { c.waiting.weight_stall = 0; }),
             Catch::Contains("waiting for weights"));
  CHECK_THAT(refusal_of_layer(1, [](RunCounters& c) { c.waiting.weight_shift = 0; }),
             Catch::Contains("waiting for the shift-in"));
  CHECK_THAT(refusal_of_layer(0, [](RunCounters& c) { c.waiting.input_stall = 0; }),
             Catch::Contains("waiting for the host"));
  CHECK_THAT(refusal_of_layer(1, [](RunCounters& c) { c.waiting.raw_stall = 0; }),
             Catch::Contains("waiting for a result"));
  CHECK_THAT(refusal_of_layer(1, [](RunCounters& c) { c.waiting.accumulator_stall = 0; }),
             Catch::Contains("waiting for entries"));
}

TEST_CASE("a first launch that ends after the run is refused") {
  CHECK_THAT(refusal([](Program&, RunResult& r) { r.first_launch_end = 201; }),
             Catch::Contains("the first launch is in the run"));
  CHECK_THROWS_WITH(check_run(sample::chip(), sample::program(), sample::result(), 1),
                    Catch::Contains("one launch is the whole run"));
}

TEST_CASE("layers that do not add up to the run are refused") {
  CHECK_THAT(refusal([](Program&, RunResult& r) { r.layers[1].instructions += 1; }),
             Catch::Contains("layers add up"));
  CHECK_THAT(refusal([](Program&, RunResult& r) { r.layers.pop_back(); }),
             Catch::Contains("a line per layer"));
}

TEST_CASE("a program that needs more unified buffer than there is is refused") {
  CHECK_THAT(refusal([](Program& p, RunResult&) { p.unified_buffer_peak = 1025; }),
             Catch::Contains("unified buffer") && Catch::Contains("1025 and 1024"));
}

TEST_CASE("work that is not the network's is refused") {
  CHECK_THAT(refusal_of_layer(1, [](RunCounters& c) { c.useful_macs -= 1; }),
             Catch::Contains("second: the useful MACs") && Catch::Contains("119 and 120"));
  CHECK_THAT(refusal_of_layer(1, [](RunCounters& c) { c.tiles += 1; }),
             Catch::Contains("second: the tiles read"));
}

TEST_CASE("fewer bytes than the tensors have are refused") {
  CHECK_THAT(refusal_of_layer(0, [](RunCounters& c) { c.bytes.host_in -= 1; }),
             Catch::Contains("the input came in whole"));
  CHECK_THAT(refusal_of_layer(1, [](RunCounters& c) { c.bytes.host_out -= 1; }),
             Catch::Contains("the output went out whole"));
  CHECK_THAT(refusal_of_layer(0, [](RunCounters& c) { c.bytes.weights -= 1; }),
             Catch::Contains("every weight was read"));
  CHECK_THAT(refusal_of_layer(0, [](RunCounters& c) { c.bytes.accumulator_write -= 1; }),
             Catch::Contains("every sum was written"));
  CHECK_THAT(refusal_of_layer(0, [](RunCounters& c) { c.bytes.accumulator_read -= 1; }),
             Catch::Contains("every sum was read"));
}

TEST_CASE("sums of a narrow accumulator are fewer bytes") {
  Chip chip = sample::chip();
  chip.precision.accumulator_bits = 16;
  RunResult result = sample::result();
  result.total.bytes.accumulator_write = result.total.bytes.accumulator_read = 0;
  for (RunCounters& layer : result.layers) {
    layer.bytes.accumulator_write /= 2;
    layer.bytes.accumulator_read /= 2;
    result.total.bytes.accumulator_write += layer.bytes.accumulator_write;
    result.total.bytes.accumulator_read += layer.bytes.accumulator_read;
  }
  CHECK_NOTHROW(check_network_run(chip, sample::program(), result, sample::kLaunches));
}
