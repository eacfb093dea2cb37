#include "kernels/cuda/network.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "quant/quantizer.h"
#include "tests/kernels/cuda/host_backend.h"
#include "tests/kernels/naive_fp32.h"
#include "tests/kernels/network_builder.h"
#include "tests/kernels/random_window.h"
#include "tests/support/naive.h"
#include "tests/support/random_graph.h"

// The networks that run on a GPU, with its kernels on the host.

namespace tilewave::kernels::gpu {
namespace {

using quant::QuantizedGraph;
using quant::Scheme;

std::vector<std::uint8_t> random_pixels(const models::Shape& shape, std::int64_t images,
                                        std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(images * shape.elements()));
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(random());
  return pixels;
}

bool equals_naive(const QuantizedGraph& graph, std::int64_t images, std::int64_t batch) {
  const auto pixels = random_pixels(graph.input().shape, images, 1);
  tests::HostBackend backend;
  const auto network = make_integer_network(graph, {.batch = batch}, backend);
  return tests::outputs_of(*network, pixels).integers ==
         test::naive_outputs(graph, quant::quantize_pixels(graph.input().quantization, pixels));
}

Scheme narrow(Scheme scheme) {
  scheme.weight_bits = std::min(scheme.weight_bits, 8);
  scheme.activation_bits = std::min(scheme.activation_bits, 8);
  return scheme;
}

TEST_CASE("random integer networks as a GPU runs them give the naive evaluator's bits") {
  REQUIRE(rc::check([](std::uint64_t seed) {
    const Scheme scheme = narrow(test::random_scheme(seed));
    const auto graph = test::quantize_randomly(test::random_graph(seed), scheme, seed);
    RC_ASSERT(equals_naive(graph, *rc::gen::inRange(1, 8), *rc::gen::inRange(1, 9)));
  }));
}

TEST_CASE("convolutions of any shape as a GPU runs them give the naive evaluator's bits") {
  REQUIRE(rc::check([](std::uint32_t seed) {
    const int groups = tests::pick(1, 4);
    const int channels = groups * tests::pick(1, 37);
    tests::NetworkBuilder builder({tests::pick(7, 10), tests::pick(7, 10), channels}, seed);
    builder.conv(0, tests::random_window(3), groups * tests::pick(1, 37), groups);
    if (tests::pick(0, 1) == 0) builder.then(models::Relu{});
    const auto graph =
        test::quantize_randomly(builder.graph, narrow(test::random_scheme(seed)), seed);
    RC_ASSERT(equals_naive(graph, tests::pick(1, 5), tests::pick(1, 5)));
  }));
}

TEST_CASE("batches of 1 to 1024 images as a GPU runs them keep every bit in both modes") {
  tests::NetworkBuilder builder({5, 4, 3}, 8);
  builder.conv(0, {.kernel_height = 3, .kernel_width = 2, .pad_top = 1, .pad_right = 1}, 17);
  builder.then(models::Relu{});
  builder.then(models::Flatten{});
  builder.dense(3, 10);
  for (const auto mode :
       {quant::RequantizeMode::float_multiplier, quant::RequantizeMode::fixed_point}) {
    Scheme scheme;
    scheme.requantize = mode;
    const auto graph = test::quantize_randomly(builder.graph, scheme, 5);
    for (const std::int64_t batch : {1, 2, 31, 64, 1024}) {
      CAPTURE(quant::name_of(mode), batch);
      CHECK(equals_naive(graph, batch, batch));
    }
  }
}

TEST_CASE("every operation in every 8-bit format and mode gives the naive evaluator's bits") {
  const auto builder = tests::every_operation(21);
  for (const auto mode :
       {quant::RequantizeMode::float_multiplier, quant::RequantizeMode::fixed_point,
        quant::RequantizeMode::fixed_point_single_rounding}) {
    for (const int bits : {2, 5, 8}) {
      for (const bool is_signed : {true, false}) {
        Scheme scheme;
        scheme.weight_bits = bits;
        scheme.activation_bits = bits == 2 ? 7 : bits;
        scheme.activation_signed = is_signed;
        scheme.requantize = mode;
        CAPTURE(bits, is_signed);
        CHECK(equals_naive(test::quantize_randomly(builder.graph, scheme, 5), 3, 2));
      }
    }
  }
}

TEST_CASE("contractions of up to 4608 terms, odd channels and many images keep every bit") {
  for (const std::int64_t channels : {1, 57, 300, 511, 512}) {
    tests::NetworkBuilder builder({4, 3, channels}, 9);
    builder.conv(0, {.kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_right = 2}, 3);
    builder.dense(1, 2);
    for (const bool is_signed : {true, false}) {
      Scheme scheme;
      scheme.activation_signed = is_signed;
      CAPTURE(channels, is_signed);
      CHECK(equals_naive(test::quantize_randomly(builder.graph, scheme, 5), 2, 2));
    }
  }
}

TEST_CASE("wide grouped and pointwise convolutions keep every bit") {
  tests::NetworkBuilder builder({4, 4, 32}, 3);
  builder.conv(0, {}, 32);  // its rows lie in memory as they are multiplied
  builder.conv(1, {.kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1}, 34, 2);
  const auto graph = test::quantize_randomly(builder.graph, {}, 5);
  for (const std::int64_t batch : {1, 2, 5}) CHECK(equals_naive(graph, 6, batch));
}

TEST_CASE("integer networks that cuBLAS cannot do exactly are refused by name") {
  tests::HostBackend backend;
  Scheme wide;
  wide.activation_bits = 16;
  const auto builder = tests::every_operation(4);
  CHECK_THROWS_WITH(
      make_integer_network(test::quantize_randomly(builder.graph, wide, 5), {.batch = 1}, backend),
      Catch::Contains("has values of 16 bits (2 to 8 bits"));
  wide.activation_bits = 8;
  wide.weight_bits = 16;
  CHECK_THROWS_AS(
      make_integer_network(test::quantize_randomly(builder.graph, wide, 5), {.batch = 1}, backend),
      InputError);
  tests::NetworkBuilder deep({1, 1, 132105}, 1);  // 132,104 * 128 * 127 is just below 2^31
  deep.dense(0, 1);
  CHECK_THROWS_WITH(
      make_integer_network(test::quantize_randomly(deep.graph, {}, 5), {.batch = 1}, backend),
      Catch::Contains("adds up 132105 products (up to 132104"));
}

bool within_bound(const models::Graph& graph, GpuPrecision precision, std::int64_t images,
                  std::int64_t batch) {
  const models::Shape& shape = graph.nodes().front().shape;
  const auto pixels = random_pixels(shape, images, 2);
  tests::HostBackend backend;
  const Outputs outputs =
      tests::outputs_of(*make_real_network(graph, precision, {.batch = batch}, backend), pixels);
  // fp16 rounds each stored value to 11 bits; sums stay in fp32.
  const double unit = precision == GpuPrecision::fp16 ? 0x1p13 : 1;
  const auto size = static_cast<std::size_t>(shape.elements());
  std::size_t at = 0;
  for (std::int64_t image = 0; image < images; ++image) {
    const auto naive = tests::NaiveFp32::run(
        graph, std::span(pixels).subspan(static_cast<std::size_t>(image) * size, size));
    for (const tests::Real& real : naive.back()) {
      const double difference = std::abs(double{outputs.real.at(at++)} - real.value);
      // expf and tanhf may be off by some units more than the bound of correct rounding.
      if (!(difference <= unit * (real.bound + 4e-7))) return false;
    }
  }
  return at == outputs.real.size();
}

TEST_CASE("random real networks as a GPU runs them are within the bound of their rounding") {
  REQUIRE(rc::check([](std::uint64_t seed) {
    const auto graph = test::random_graph(seed);
    const std::int64_t images = *rc::gen::inRange(1, 5);
    const std::int64_t batch = *rc::gen::inRange(1, 6);
    RC_ASSERT(within_bound(graph, GpuPrecision::fp32, images, batch));
    RC_ASSERT(within_bound(graph, GpuPrecision::fp16, images, batch));
  }));
}

TEST_CASE("every real operation is within the bound of its rounding, in fp32 and fp16") {
  const auto builder = tests::every_operation(7);
  for (const auto precision : {GpuPrecision::fp32, GpuPrecision::tf32, GpuPrecision::fp16}) {
    CHECK(within_bound(builder.graph, precision, 5, 2));
  }
}

TEST_CASE("a batch that needs more memory than allowed runs in parts, with the same bits") {
  // An image's factors are 64 rows of 16 bytes, its sums 64 rows of 16: 4096 bytes.
  tests::NetworkBuilder builder({8, 8, 1}, 3);
  builder.conv(0, {}, 3);
  builder.then(models::MaxPool{
      {.kernel_height = 8, .kernel_width = 8, .stride_height = 8, .stride_width = 8}});
  const auto graph = test::quantize_randomly(builder.graph, {}, 5);
  const auto pixels = random_pixels(graph.input().shape, 20, 1);
  const auto expected =
      test::naive_outputs(graph, quant::quantize_pixels(graph.input().quantization, pixels));
  tests::HostBackend few_tensors;
  const auto parts = make_integer_network(graph, {.batch = 20, .tensor_bytes = 3000}, few_tensors);
  CHECK(parts->capacity() < 20);
  CHECK(tests::outputs_of(*parts, pixels).integers == expected);
  tests::HostBackend small_scratch;
  const auto chunks =
      make_integer_network(graph, {.batch = 20, .scratch_bytes = 3 * 4096}, small_scratch);
  CHECK(chunks->capacity() == 20);
  CHECK(tests::outputs_of(*chunks, pixels).integers == expected);
  CHECK(small_scratch.products == 7);  // 3 images each
}

}  // namespace
}  // namespace tilewave::kernels::gpu
