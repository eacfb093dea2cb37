// The engine's outputs against naive loops, over random networks and chips.

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>

#include "base/error.h"
#include "sim/compiler/compiler.h"
#include "sim/engine.h"
#include "sim/isa/program.h"
#include "sim/isa/sum_bounds.h"
#include "tests/support/hand_program.h"
#include "tests/support/naive.h"
#include "tests/support/naive_narrow.h"
#include "tests/support/random_chip.h"
#include "tests/support/random_graph.h"

using namespace tilewave;
using namespace tilewave::sim;

namespace {

struct NarrowRun {
  std::vector<std::int16_t> outputs;
  std::map<std::string, std::int64_t> overflows;  ///< by node
};

/// By naive loops, image by image.
NarrowRun narrow_run(const quant::QuantizedGraph& graph, const Chip& chip,
                     const std::vector<std::int16_t>& images) {
  NarrowRun run;
  const auto size = graph.input().shape.elements();
  for (auto at = images.begin(); at != images.end(); at += size) {
    const auto values =
        test::naive_forward_all(graph, {at, at + size}, [&](const test::Product& product) {
          const test::NarrowSum sum = test::narrow_sum(product, chip);
          run.overflows[graph.nodes[product.node].name] += sum.overflows;
          return sum.value;
        });
    run.outputs.insert(run.outputs.end(), values.back().begin(), values.back().end());
  }
  return run;
}

}  // namespace

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
    NarrowRun expected = narrow_run(graph, chip, image);
    RC_ASSERT(result.outputs == expected.outputs);
    RC_ASSERT(result.overflows == std::vector{expected.overflows["dense"]});
  }));
}

TEST_CASE("narrow accumulators' outputs and overflows are those of naive loops in every layer") {
  REQUIRE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto graph = test::random_quantized_graph(seed);
    const auto dataflow = static_cast<Dataflow>(*rc::gen::inRange(0, 3));
    Chip chip = test::random_chip(seed, graph.scheme, dataflow);
    chip.precision.accumulator_bits = *rc::gen::inRange(12, 33);
    chip.precision.overflow = *rc::gen::arbitrary<bool>() ? Overflow::wrap : Overflow::saturate;
    for (const quant::QNode& node : graph.nodes) {
      const auto* conv = std::get_if<quant::QConv>(&node.operation);
      if (conv != nullptr && conv->groups > 1) RC_DISCARD("groups share tiles");
    }
    const std::int64_t batch = *rc::gen::inRange(1, 4);
    const Program program = [&] {
      try {
        return compile(graph, chip, batch);
      } catch (const InputError&) {
        RC_DISCARD("the chip is too small, or an Add mixes layouts");
      }
    }();
    const std::int64_t images = *rc::gen::inRange(1, 5);
    auto inputs = test::random_images(graph, images, seed);
    const RunResult result = make_timeline()->run(chip, program, inputs);
    // The last launch is filled up with images of the zero_point, whose overflows count.
    const std::int64_t filled = (images + batch - 1) / batch * batch;
    inputs.resize(static_cast<std::size_t>(filled * graph.input().shape.elements()),
                  static_cast<std::int16_t>(graph.input().quantization.zero_point));
    NarrowRun expected = narrow_run(graph, chip, inputs);
    expected.outputs.resize(result.outputs.size());
    RC_ASSERT(result.outputs == expected.outputs);
    RC_ASSERT(result.overflows.size() == program.layers.size());
    for (std::size_t i = 0; i < program.layers.size(); ++i) {
      RC_ASSERT(result.overflows[i] == expected.overflows[program.layers[i].name]);
    }
    RunOptions two;
    two.threads = 2;
    RC_ASSERT(make_timeline()->run(chip, program, inputs, two).overflows == result.overflows);
    RC_ASSERT(make_timeline()->time(chip, program, 1).overflows.empty());
  }));
}

TEST_CASE("a multiply is said not to overflow up to the very width that its sums need") {
  // Two tiles of two rows, weights 3 and -5: a tile's sum is from 3 * -128 - 5 * 127 = -1019 to 3 *
  // 127 + 5 * 128 = 1021, so that two of them reach -2038 and 2042.
  Chip chip = test::frictionless_chip(2, 1);
  Program program = test::tile_chain(2, 1, 1, 2);
  program.weights = {3, -5, 3, -5};
  for (Columns& columns : program.columns) columns.bias = {5};  // 2047
  const auto says = [&] {
    const auto launch = decode_program(program, 0);
    std::vector<bool> all;
    for (const Operation& op : launch) {
      if (op.instruction.opcode != Opcode::matmul) continue;
      all.push_back(may_overflow(chip, program, launch)[static_cast<std::size_t>(op.index)] != 0);
    }
    return all;
  };
  CHECK(says().size() == 2);
  chip.precision.accumulator_bits = 12;  // -2048 to 2047
  CHECK(says() == std::vector{false, false});
  for (Columns& columns : program.columns) columns.bias = {6};  // 2048
  CHECK(says() == std::vector{false, true});
  for (Columns& columns : program.columns) columns.bias = {-10};  // -2048
  CHECK(says() == std::vector{false, false});
  for (Columns& columns : program.columns) columns.bias = {-11};  // -2049
  CHECK(says() == std::vector{false, true});
}
