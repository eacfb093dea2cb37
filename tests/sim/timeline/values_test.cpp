// The engine's outputs against naive loops, over random networks and chips.

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <random>

#include "base/error.h"
#include "sim/compiler/compiler.h"
#include "sim/engine.h"
#include "sim/isa/program.h"
#include "tests/support/naive.h"
#include "tests/support/naive_narrow.h"
#include "tests/support/random_chip.h"
#include "tests/support/random_graph.h"

using namespace tilewave;
using namespace tilewave::sim;

TEST_CASE("outputs of random networks on random chips equal naive loops, bit for bit") {
  REQUIRE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto graph = test::random_quantized_graph(seed);
    const auto dataflow = static_cast<Dataflow>(*rc::gen::inRange(0, 3));
    const Chip chip = test::random_chip(seed, graph.scheme, dataflow);
    const std::int64_t batch = *rc::gen::inRange(1, 6);
    const std::int64_t images = *rc::gen::inRange(1, 12);
    const Program program = [&] {
      try {
        return compile(graph, chip, batch);
      } catch (const InputError&) {
        RC_DISCARD("the chip is too small, or an Add mixes layouts");
      }
    }();
    validate(program, "random");
    const auto inputs = test::random_images(graph, images, seed);
    const RunResult result = make_timeline()->run(chip, program, inputs);
    RC_ASSERT(result.outputs == test::naive_outputs(graph, inputs));
    RC_ASSERT(result.total.classes.total() == result.cycles);
    RunOptions two;
    two.threads = 2;
    RC_ASSERT(make_timeline()->run(chip, program, inputs, two).outputs == result.outputs);
  }));
}

TEST_CASE("narrow accumulators wrap and saturate in the array's order") {
  REQUIRE(rc::check([] {
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    const int inputs = *rc::gen::inRange(1, 60);
    const int outputs = *rc::gen::inRange(1, 20);
    quant::QDense dense;
    for (int i = 0; i < inputs * outputs; ++i) {
      dense.weight.push_back(static_cast<std::int16_t>(static_cast<int>(random() % 255) - 127));
    }
    dense.weight_scale.assign(static_cast<std::size_t>(outputs), 1.0F);
    for (int n = 0; n < outputs; ++n) {
      dense.bias.push_back(static_cast<std::int32_t>(random() % 20000) - 10000);
    }
    // A multiplier of 2^-k shows the accumulator's high bits.
    dense.requantizer.multiplier.assign(static_cast<std::size_t>(outputs), 1.0F / 256);
    quant::QuantizedGraph graph;
    graph.name = "dense";
    quant::Quantization q;
    q.zero_point = *rc::gen::inRange(-128, 128);
    graph.nodes.push_back({"image", quant::QInput{}, {}, {1, 1, inputs}, q});
    graph.nodes.push_back({"dense", dense, {0}, {1, 1, outputs}, {}});

    const auto dataflow = static_cast<Dataflow>(*rc::gen::inRange(0, 3));
    Chip chip = test::random_chip(*rc::gen::arbitrary<std::uint64_t>(), {}, dataflow);
    chip.accumulators.depth = 64;
    chip.precision.accumulator_bits = *rc::gen::inRange(12, 33);
    chip.precision.overflow = *rc::gen::arbitrary<bool>() ? Overflow::wrap : Overflow::saturate;
    std::vector<std::int16_t> image;
    for (int i = 0; i < inputs; ++i) {
      image.push_back(static_cast<std::int16_t>(static_cast<int>(random() % 256) - 128));
    }
    const RunResult result = make_timeline()->run(chip, compile(graph, chip, 1), image);
    const auto sums = test::narrow_sums(dense, q.zero_point, image, chip);
    for (int n = 0; n < outputs; ++n) {
      RC_ASSERT(result.outputs[n] == dense.requantizer.apply(static_cast<std::int32_t>(sums[n]),
                                                             static_cast<std::size_t>(n)));
    }
  }));
}
