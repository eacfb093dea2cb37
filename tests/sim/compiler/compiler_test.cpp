#include "sim/compiler/compiler.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "sim/engine.h"
#include "tests/kernels/network_builder.h"
#include "tests/support/naive.h"
#include "tests/support/random_graph.h"

using namespace tilewave;
using namespace tilewave::sim;
using tests::NetworkBuilder;

namespace {

constexpr models::Window kThree{.kernel_height = 3, .kernel_width = 3};
constexpr models::Window kHalve{
    .kernel_height = 2, .kernel_width = 2, .stride_height = 2, .stride_width = 2};
constexpr models::Window kOverlapping{
    .kernel_height = 3, .kernel_width = 3, .stride_height = 2, .stride_width = 2};

Chip small_chip() {
  Chip chip;
  chip.array.rows = 8;
  chip.array.cols = 8;
  chip.accumulators.depth = 64;
  return chip;
}

std::int64_t count(const Program& program, Opcode opcode) {
  return std::count_if(program.instructions.begin(), program.instructions.end(),
                       [&](const Instruction& i) { return i.opcode == opcode; });
}

quant::QuantizedGraph quantized(const NetworkBuilder& network) {
  return test::quantize_randomly(network.graph, {}, 1);
}

/// Runs `images` random images and compares with naive loops.
void check_outputs(const quant::QuantizedGraph& graph, const Chip& chip, std::int64_t batch,
                   std::int64_t images) {
  const auto inputs = test::random_images(graph, images, 5);
  CHECK(make_timeline()->run(chip, compile(graph, chip, batch), inputs).outputs ==
        test::naive_outputs(graph, inputs));
}

/// The convolution of `network` with a pool after it; 10 x 10 x 8 before pooling.
NetworkBuilder conv_and(const models::Window& pool) {
  NetworkBuilder network({12, 12, 3}, 1);
  network.conv(0, kThree, 8);
  network.then(models::MaxPool{pool});
  return network;
}

}  // namespace

TEST_CASE("a pool that alone reads a convolution is done on the way") {
  const auto graph = quantized(conv_and(kHalve));
  const Program program = compile(graph, small_chip(), 2);
  CHECK(count(program, Opcode::vector_pool) == 0);
  CHECK(program.pools.size() == 1);
  CHECK(program.layers.size() == 1);
  // Whole rows of windows: multiples of 2 x 10 pixels.
  for (const Instruction& i : program.instructions) {
    if (i.opcode == Opcode::activate) CHECK(i.rows % 20 == 0);
  }
  check_outputs(graph, small_chip(), 2, 5);
}

TEST_CASE("a pool with overlapping windows is done on the way if an image fits the accumulators") {
  const auto graph = quantized(conv_and(kOverlapping));
  Chip chip = small_chip();
  for (const std::int64_t depth : {99, 100}) {
    chip.accumulators.depth = depth;
    const Program program = compile(graph, chip, 2);
    CHECK(count(program, Opcode::vector_pool) == (depth == 100 ? 0 : 1));
    CHECK(program.layers.size() == (depth == 100 ? 1 : 2));
    check_outputs(graph, chip, 2, 5);
  }
}

TEST_CASE("a pool is not done on the way where the convolution has another reader") {
  NetworkBuilder network({8, 8, 3}, 1);
  const models::Window same{.kernel_height = 3,
                            .kernel_width = 3,
                            .pad_top = 1,
                            .pad_left = 1,
                            .pad_bottom = 1,
                            .pad_right = 1};
  const auto conv = network.conv(0, kThree, 8);
  const auto pool = network.add(models::MaxPool{same}, {conv});
  network.add(models::Add{}, {conv, pool});
  const auto graph = quantized(network);
  CHECK(count(compile(graph, small_chip(), 1), Opcode::vector_pool) == 1);
  check_outputs(graph, small_chip(), 1, 2);
}

TEST_CASE("a batch that does not fit the unified buffer is worked on in equal passes") {
  const auto graph = quantized(conv_and(kHalve));
  // Per image 12 * 12 * 3 in, 5 * 5 * 8 out, each twice for ping-pong: 1,264 bytes.
  Chip chip = small_chip();
  struct Case {
    std::int64_t capacity_kib, passes;
    bool ping_pong;  // an even number of passes alternates by itself
  };
  for (const auto& [capacity, passes, ping_pong] :
       std::vector<Case>{{64, 1, true}, {8, 2, false}, {4, 3, true}, {3, 4, false}}) {
    CAPTURE(capacity);
    chip.unified_buffer.capacity_kib = capacity;
    const Program program = compile(graph, chip, 7);
    CHECK(count(program, Opcode::read_host) == passes);
    CHECK(count(program, Opcode::write_host) == passes);
    CHECK((program.ping_pong.half != 0) == ping_pong);
    CHECK(program.unified_buffer_peak == 1264 * ((7 + passes - 1) / passes));
    check_outputs(graph, chip, 7, 16);
  }
}

TEST_CASE("where one image fits only without ping-pong, transfers do not overlap") {
  const auto graph = quantized(conv_and(kHalve));
  Chip chip = small_chip();
  chip.unified_buffer.capacity_kib = 1;
  const Program program = compile(graph, chip, 3);
  CHECK(program.ping_pong.half == 0);
  CHECK(program.unified_buffer_peak == 12 * 12 * 3 + 5 * 5 * 8);
  CHECK(count(program, Opcode::read_host) == 3);
  check_outputs(graph, chip, 3, 7);
}

TEST_CASE("a network of other precisions than the chip's is refused by name") {
  const auto graph = quantized(conv_and(kHalve));
  Chip chip = small_chip();
  chip.precision.weight_bits = 4;
  CHECK_THROWS_WITH(compile(graph, chip, 1),
                    "random: has weights of 8 bits, but the chip's precision.weight_bits is 4 "
                    "(make the chip's precision and the scheme's bits the same)");
  chip = small_chip();
  chip.precision.activation_bits = 16;
  CHECK_THROWS_WITH(compile(graph, chip, 1),
                    "random: has activations of 8 bits, but the chip's precision.activation_bits "
                    "is 16 (make the chip's precision and the scheme's bits the same)");
}

TEST_CASE("a batch below one is refused") {
  CHECK_THROWS_WITH(compile(quantized(conv_and(kHalve)), small_chip(), 0),
                    "batch: 0 is not allowed (1 to 2147483647)");
}

TEST_CASE("a batch that makes too long a program is refused before it is written") {
  for (const std::int64_t batch : {std::int64_t{1} << 30, std::int64_t{INT32_MAX}}) {
    CHECK_THROWS_WITH(compile(quantized(conv_and(kHalve)), small_chip(), batch),
                      Catch::StartsWith("batch: " + std::to_string(batch) + " images a launch"));
  }
  CHECK_THROWS_AS(compile(quantized(conv_and(kHalve)), small_chip(), INT64_MAX),
                  tilewave::InputError);
}

TEST_CASE("more channels than columns lie in planes, one host transfer each") {
  NetworkBuilder network({4, 4, 20}, 1);  // the input is one plane, whatever its channels
  network.conv(0, kThree, 19);
  const auto graph = quantized(network);
  const Program program = compile(graph, small_chip(), 3);
  CHECK(program.input.layout.planes() == 1);
  CHECK(program.output.layout.block == 8);
  CHECK(program.output.layout.planes() == 3);
  CHECK(count(program, Opcode::read_host) == 1);
  CHECK(count(program, Opcode::write_host) == 3);
  // 180 values in 23 tiles of 8 rows, 19 channels in 3 of 8 columns.
  CHECK(program.layers.at(0).tiles == 23 * 3);
  check_outputs(graph, small_chip(), 3, 7);
}

TEST_CASE("planes of different widths are added piece by piece") {
  NetworkBuilder network({4, 4, 12}, 1);            // one plane of 12
  network.conv(0, {}, 12);                          // planes of 8 and 4
  const auto grouped = network.conv(1, {}, 12, 3);  // planes of 8 (two groups of 4) and 4
  network.add(models::Add{}, {grouped, 0});
  const auto graph = quantized(network);
  CHECK(count(compile(graph, small_chip(), 1), Opcode::vector_add) == 2);
  check_outputs(graph, small_chip(), 2, 3);
}

TEST_CASE("adding a flattened tensor to one that was never flattened is refused by name") {
  NetworkBuilder network({2, 2, 3}, 1);
  const auto conv = network.conv(0, {}, 3);
  const auto flat = network.add(models::Flatten{}, {conv});
  const auto dense = network.dense(flat, 12);
  network.add(models::Add{}, {flat, dense});
  const std::string node = network.graph.output().name;
  CHECK_THROWS_WITH(compile(quantized(network), small_chip(), 1),
                    "random: node '" + node +
                        "' (Add): adds a flattened tensor to one that was never flattened (two "
                        "tensors of the same shape before Flatten)");
}

TEST_CASE("the same network, chip and batch give the same program") {
  const auto graph = quantized(tests::every_operation(3));
  CHECK(compile(graph, small_chip(), 3) == compile(graph, small_chip(), 3));
}
