#include <rapidcheck.h>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "kernels/cpu/integer_product.h"
#include "kernels/reference.h"
#include "quant/quantizer.h"
#include "tests/kernels/network_builder.h"
#include "tests/kernels/random_window.h"
#include "tests/support/naive.h"
#include "tests/support/random_graph.h"

namespace tilewave::kernels {
namespace {

using quant::QuantizedGraph;
using quant::RequantizeMode;
using quant::Scheme;
using tests::pick;

std::vector<std::uint8_t> random_pixels(const QuantizedGraph& graph, std::int64_t images,
                                        std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> pixels(
      static_cast<std::size_t>(images * graph.input().shape.elements()));
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(random());
  return pixels;
}

/// The naive evaluator's outputs, image by image.
std::vector<std::int16_t> naive_outputs(const QuantizedGraph& graph,
                                        const std::vector<std::uint8_t>& pixels) {
  const auto values = quant::quantize_pixels(graph.input().quantization, pixels);
  const auto size = static_cast<std::ptrdiff_t>(graph.input().shape.elements());
  std::vector<std::int16_t> outputs;
  for (auto image = values.begin(); image != values.end(); image += size) {
    const auto output = test::naive_forward(graph, {image, image + size});
    outputs.insert(outputs.end(), output.begin(), output.end());
  }
  return outputs;
}

/// The integer products that this processor has.
std::vector<IntegerGemm> exact_gemms(const QuantizedGraph& graph) {
  const bool wide = graph.scheme.weight_bits > 8 || graph.scheme.activation_bits > 8;
  std::vector<IntegerGemm> gemms{IntegerGemm::packed, IntegerGemm::baseline};
  if (!wide && *onednn_refusal() == '\0') gemms.push_back(IntegerGemm::onednn);
  return gemms;
}

bool equals_naive(const QuantizedGraph& graph, const std::vector<std::uint8_t>& pixels,
                  ReferenceOptions options) {
  const auto expected = naive_outputs(graph, pixels);
  for (const IntegerGemm gemm : exact_gemms(graph)) {
    if (make_cpu_int8(graph, options, gemm)->run(pixels).integers != expected) return false;
  }
  return true;
}

/// Quantized with wide enough ranges that values of every size occur.
QuantizedGraph quantized(const tests::NetworkBuilder& builder, const Scheme& scheme) {
  return test::quantize_randomly(builder.graph, scheme, 5);
}

std::vector<Scheme> every_scheme() {
  std::vector<Scheme> schemes;
  for (const auto mode : {RequantizeMode::float_multiplier, RequantizeMode::fixed_point,
                          RequantizeMode::fixed_point_single_rounding}) {
    for (const int weight_bits : {2, 5, 8, 16}) {
      for (const int activation_bits : {2, 7, 8, 16}) {
        for (const bool is_signed : {true, false}) {
          if (activation_bits == 16 && !is_signed) continue;
          Scheme scheme;
          scheme.weight_bits = weight_bits;
          scheme.activation_bits = activation_bits;
          scheme.activation_signed = is_signed;
          scheme.requantize = mode;
          schemes.push_back(scheme);
        }
      }
    }
  }
  return schemes;
}

TEST_CASE("random quantized networks give the naive evaluator's bits") {
  REQUIRE(rc::check([](std::uint64_t seed) {
    const QuantizedGraph graph = test::random_quantized_graph(seed);
    const int images = *rc::gen::inRange(1, 8);
    const ReferenceOptions options{*rc::gen::inRange(1, 3), *rc::gen::inRange(1, 9)};
    RC_ASSERT(equals_naive(graph, random_pixels(graph, images, seed), options));
  }));
}

TEST_CASE("convolutions of any shape give the naive evaluator's bits") {
  REQUIRE(rc::check([](std::uint32_t seed) {
    const int groups = pick(1, 4);
    tests::NetworkBuilder builder({pick(7, 12), pick(7, 12), groups * pick(1, 37)}, seed);
    builder.conv(0, tests::random_window(3), groups * pick(1, 37), groups);
    if (pick(0, 1) == 0) builder.then(models::Relu{});
    const auto graph = test::quantize_randomly(builder.graph, test::random_scheme(seed), seed);
    const int images = pick(1, 9);
    RC_ASSERT(equals_naive(graph, random_pixels(graph, images, seed),
                           {.threads = pick(1, 3), .batch = pick(1, 9)}));
  }));
}

TEST_CASE("a convolution and the pooling after it give the naive evaluator's bits") {
  REQUIRE(rc::check([](std::uint32_t seed) {
    const int groups = pick(1, 2);
    tests::NetworkBuilder builder({pick(9, 14), pick(9, 14), groups * pick(1, 3)}, seed);
    builder.conv(0, tests::random_window(2), groups * pick(1, 19), groups);
    if (pick(0, 1) == 0) builder.then(models::Relu{});
    // Mostly windows side by side, which are done with the convolution.
    models::Window pool{.kernel_height = pick(1, 3), .kernel_width = pick(1, 2)};
    pool.stride_height = pick(0, 3) == 0 ? 1 : pool.kernel_height;
    pool.stride_width = pick(0, 3) == 0 ? 1 : pool.kernel_width;
    const auto pooled = builder.then(models::MaxPool{pool});
    // Sometimes the convolution has another reader, which needs all of it.
    if (pick(0, 3) == 0) {
      builder.add(models::MaxPool{pool}, builder.graph.node(pooled).inputs);
      builder.add(models::Add{}, {pooled, pooled + 1});
    }
    const auto graph = test::quantize_randomly(builder.graph, test::random_scheme(seed), seed);
    RC_ASSERT(equals_naive(graph, random_pixels(graph, 5, seed),
                           {.threads = pick(1, 3), .batch = pick(1, 20)}));
  }));
}

TEST_CASE("batches of 1 to 1024 images give the naive evaluator's bits in both modes") {
  tests::NetworkBuilder builder({5, 4, 3}, 8);
  builder.conv(0, {.kernel_height = 3, .kernel_width = 2, .pad_top = 1, .pad_right = 1}, 17);
  builder.then(models::Relu{});
  builder.then(models::MaxPool{
      {.kernel_height = 2, .kernel_width = 2, .stride_height = 2, .stride_width = 2}});
  builder.then(models::Flatten{});
  builder.dense(4, 33);
  builder.dense(5, 10);
  for (const auto mode : {RequantizeMode::float_multiplier, RequantizeMode::fixed_point}) {
    Scheme scheme;
    scheme.requantize = mode;
    const QuantizedGraph graph = quantized(builder, scheme);
    const auto pixels = random_pixels(graph, 1024, 3);
    for (const std::int64_t batch : {1, 2, 5, 31, 64, 255, 1024}) {
      for (const int threads : {1, 2, 3}) {
        CAPTURE(quant::name_of(mode), batch, threads);
        CHECK(equals_naive(graph, pixels, {.threads = threads, .batch = batch}));
      }
    }
  }
}

TEST_CASE("every operation in every format and mode gives the naive evaluator's bits") {
  const auto builder = tests::every_operation(21);
  for (const Scheme& scheme : every_scheme()) {
    CAPTURE(scheme.weight_bits, scheme.activation_bits, scheme.activation_signed);
    const QuantizedGraph graph = quantized(builder, scheme);
    CHECK(equals_naive(graph, random_pixels(graph, 3, 1), {}));
  }
}

TEST_CASE("contractions of up to 4608 terms give the naive evaluator's bits") {
  for (const std::int64_t channels : {1, 57, 300, 511, 512}) {
    tests::NetworkBuilder builder({4, 3, channels}, 9);
    builder.conv(0, {.kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_right = 2}, 3);
    builder.dense(1, 2);
    for (const Scheme& scheme : every_scheme()) {
      CAPTURE(channels, scheme.weight_bits, scheme.activation_bits, scheme.activation_signed);
      const QuantizedGraph graph = quantized(builder, scheme);
      CHECK(equals_naive(graph, random_pixels(graph, 2, 3), {}));
    }
  }
}

/// A Dense of the given weights, whose outputs keep the accumulator's bits from `shift` on.
QuantizedGraph dense_graph(const Scheme& scheme, std::vector<std::int16_t> weight,
                           std::int32_t bias, float multiplier) {
  const auto k = static_cast<std::int64_t>(weight.size());
  quant::QDense dense{scheme.weight_format(""), std::move(weight), {bias}, {1}, {}};
  dense.requantizer.multiplier = {multiplier};
  dense.requantizer.low = -32768;
  dense.requantizer.high = 32767;
  const quant::Quantization input{scheme.activation_format(""), 1.0F / 255, 0};
  const quant::Quantization output{{16, true, false}, 1, 0};
  return {"dense",
          scheme,
          {{"input", quant::QInput{}, {}, {1, 1, k}, input},
           {"dense", std::move(dense), {0}, {1, 1, 1}, output}}};
}

TEST_CASE("sums far above 2^24 keep every bit") {
  // 4608 * 255 * 127 = 149,230,080 = 2^27.15; with -1 more, the last bits tell.
  Scheme scheme;
  scheme.activation_signed = false;
  const std::vector<std::uint8_t> pixels(4608, 255);
  for (const std::int32_t rest : {-2, -1, 0, 1, 2}) {
    const auto graph =
        dense_graph(scheme, std::vector<std::int16_t>(4608, 127), rest - 149230080, 1);
    for (const IntegerGemm gemm : exact_gemms(graph)) {
      CHECK(make_cpu_int8(graph, {}, gemm)->run(pixels).integers ==
            std::vector<std::int16_t>{static_cast<std::int16_t>(rest)});
    }
  }
}

TEST_CASE("16-bit sums wrap at 32 bits") {
  // 8 * 32767 * 32767 = 2^33 - 2^19 + 8 wraps to -2^19 + 8; times 2^-4: -32767.5, even: -32768.
  Scheme scheme;
  scheme.activation_bits = scheme.weight_bits = 16;
  auto graph = dense_graph(scheme, std::vector<std::int16_t>(8, 32767), 0, 1.0F / 16);
  graph.nodes[0].quantization.scale = 1.0F / 32767;
  const auto outputs = make_cpu_int8(graph, {})->run(std::vector<std::uint8_t>(8, 255));
  CHECK(outputs.integers == std::vector<std::int16_t>{-32768});
  // One more: -2^19 + 9 + 15 = -524264; / 16 = -32766.5, even: -32766.
  std::get<quant::QDense>(graph.nodes[1].operation).bias = {16};
  CHECK(make_cpu_int8(graph, {})->run(std::vector<std::uint8_t>(8, 255)).integers ==
        std::vector<std::int16_t>{-32766});
}

TEST_CASE("integer outputs do not depend on threads or batch") {
  const QuantizedGraph graph = quantized(tests::every_operation(4), {});
  const auto pixels = random_pixels(graph, 300, 2);
  const auto expected = naive_outputs(graph, pixels);
  for (const int threads : {1, 2}) {
    for (const std::int64_t batch : {1, 7, 256, 300}) {
      CAPTURE(threads, batch);
      const auto outputs = make_cpu_int8(graph, {threads, batch})->run(pixels);
      CHECK(outputs.integers == expected);
      CHECK(outputs.classes == 7);
      CHECK(outputs.real[9] == quant::dequantize(expected[9], graph.output().quantization));
    }
  }
}

TEST_CASE("a path says which library does its integer products, or why one cannot") {
  const auto builder = tests::every_operation(4);
  const QuantizedGraph narrow = quantized(builder, {});
  CHECK(make_cpu_int8(narrow, {}, IntegerGemm::packed)->name() == "cpu int8 (packed)");
  if (*onednn_refusal() == '\0') {
    CHECK(make_cpu_int8(narrow, {})->name() == "cpu int8 (oneDNN)");
  } else {
    CHECK(make_cpu_int8(narrow, {})->name() == "cpu int8 (packed)");
    CHECK_THROWS_WITH(
        make_cpu_int8(narrow, {}, IntegerGemm::onednn),
        Catch::Contains("oneDNN") && Catch::Contains("automatic, packed or baseline"));
  }
  Scheme wide;
  wide.weight_bits = 16;
  const QuantizedGraph graph = quantized(builder, wide);
  CHECK(make_cpu_int8(graph, {})->name() == "cpu int16 (packed)");
  CHECK_THROWS_WITH(make_cpu_int8(graph, {}, IntegerGemm::onednn),
                    Catch::Contains("wider than 8 bits"));
  CHECK_THROWS_AS(make_cpu_int8(narrow, {.threads = 0}), InputError);
}

TEST_CASE("accumulators that the CPU path does not have are refused") {
  const auto builder = tests::every_operation(4);
  Scheme scheme;
  scheme.accumulator_bits = 32;
  scheme.overflow = quant::Overflow::wrap;
  CHECK_NOTHROW(make_cpu_int8(quantized(builder, scheme), {}));
  scheme.accumulator_bits = 24;
  CHECK_THROWS_WITH(make_cpu_int8(quantized(builder, scheme), {}),
                    "scheme: accumulator_bits: is 24, and native paths have 32-bit accumulators "
                    "(32, or a simulated chip)");
  scheme.accumulator_bits.reset();
  scheme.overflow = quant::Overflow::saturate;
  CHECK_THROWS_WITH(make_cpu_int8(quantized(builder, scheme), {}),
                    Catch::StartsWith("scheme: overflow: is saturate"));
}

}  // namespace
}  // namespace tilewave::kernels
