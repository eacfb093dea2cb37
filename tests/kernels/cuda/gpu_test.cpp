#include "kernels/gpu.h"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "kernels/calibrate.h"
#include "models/dataset.h"
#include "models/onnx_reader.h"
#include "tests/kernels/naive_fp32.h"
#include "tests/kernels/network_builder.h"
#include "tests/kernels/random_window.h"
#include "tests/support/random_graph.h"

// Runs on a GPU; where there is none each test says so and passes.

namespace tilewave::kernels {
namespace {

using quant::QuantizedGraph;
using quant::Scheme;
using tests::pick;
using tests::random_window;

bool has_gpu() {
  const std::string refusal = gpu_refusal();
  if (!refusal.empty()) WARN("skipped: " << refusal);
  return refusal.empty();
}

std::vector<std::uint8_t> random_pixels(const models::Shape& shape, std::int64_t images) {
  std::mt19937_64 random(static_cast<std::uint64_t>(images));
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(images * shape.elements()));
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(random());
  return pixels;
}

std::vector<std::int16_t> cpu_outputs(const QuantizedGraph& graph,
                                      const std::vector<std::uint8_t>& pixels) {
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return make_cpu_int8(graph, {.threads = threads})->run(pixels).integers;
}

/// Thrice: with single kernels, while a graph of them is captured, and through that graph.
bool equals_cpu(const QuantizedGraph& graph, std::int64_t images, std::int64_t batch) {
  const auto pixels = random_pixels(graph.input().shape, images);
  const auto expected = cpu_outputs(graph, pixels);
  const auto reference = make_gpu_int8(graph, {.batch = batch});
  for (int i = 0; i < 3; ++i) {
    if (reference->run(pixels).integers != expected) return false;
  }
  return true;
}

Scheme narrow(Scheme scheme) {
  scheme.weight_bits = std::min(scheme.weight_bits, 8);
  scheme.activation_bits = std::min(scheme.activation_bits, 8);
  return scheme;
}

TEST_CASE("the GPU gives the CPU's bits on random integer networks") {
  if (!has_gpu()) return;
  REQUIRE(rc::check([](std::uint64_t seed) {
    const Scheme scheme = narrow(test::random_scheme(seed));
    const auto graph = test::quantize_randomly(test::random_graph(seed), scheme, seed);
    RC_ASSERT(equals_cpu(graph, pick(1, 100), pick(1, 80)));
  }));
}

TEST_CASE("the GPU gives the CPU's bits on convolutions of any shape, batch 1 to 1024") {
  if (!has_gpu()) return;
  REQUIRE(rc::check([](std::uint32_t seed) {
    const int groups = pick(1, 4);
    tests::NetworkBuilder builder({pick(7, 15), pick(7, 15), groups * pick(1, 37)}, seed);
    const models::Window window = random_window(3);
    builder.conv(0, window, groups * pick(1, 37), groups);
    if (pick(0, 1) == 0) builder.then(models::Relu{});
    const Scheme scheme = narrow(test::random_scheme(seed));
    const auto graph = test::quantize_randomly(builder.graph, scheme, seed);
    const int batch = 1 << pick(0, 10);
    RC_ASSERT(equals_cpu(graph, batch, batch));
  }));
}

TEST_CASE("the GPU gives the CPU's bits on every operation, format and mode") {
  if (!has_gpu()) return;
  const auto builder = tests::every_operation(21);
  for (const auto mode :
       {quant::RequantizeMode::float_multiplier, quant::RequantizeMode::fixed_point,
        quant::RequantizeMode::fixed_point_single_rounding}) {
    for (const int bits : {2, 5, 8}) {
      for (const bool is_signed : {true, false}) {
        Scheme scheme;
        scheme.weight_bits = scheme.activation_bits = bits;
        scheme.activation_signed = is_signed;
        scheme.requantize = mode;
        CAPTURE(bits, is_signed, quant::name_of(mode));
        const auto graph = test::quantize_randomly(builder.graph, scheme, 5);
        for (const std::int64_t batch : {1, 7, 64, 300}) CHECK(equals_cpu(graph, 300, batch));
      }
    }
  }
}

TEST_CASE("the GPU gives the CPU's bits on contractions of up to 4608 terms, batch 1 to 1024") {
  if (!has_gpu()) return;
  for (const std::int64_t channels : {1, 57, 300, 511, 512}) {
    tests::NetworkBuilder builder({4, 3, channels}, 9);
    builder.conv(0, {.kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_right = 2}, 33);
    builder.dense(1, 10);
    for (const bool is_signed : {true, false}) {
      Scheme scheme;
      scheme.activation_signed = is_signed;
      const auto graph = test::quantize_randomly(builder.graph, scheme, 5);
      for (const std::int64_t batch : {1, 2, 31, 33, 256, 1024}) {
        CAPTURE(channels, is_signed, batch);
        CHECK(equals_cpu(graph, batch, batch));
      }
    }
  }
}

TEST_CASE("the GPU gives the CPU's bits on the 10,000 images of MNIST, in both modes") {
  if (!has_gpu()) return;
  const models::Graph graph = models::load_model("mnist_cnn");
  const models::Dataset data = models::load_dataset("mnist");
  for (const auto mode :
       {quant::RequantizeMode::float_multiplier, quant::RequantizeMode::fixed_point,
        quant::RequantizeMode::fixed_point_single_rounding}) {
    for (const bool is_signed : {true, false}) {
      Scheme scheme;
      scheme.requantize = mode;
      scheme.activation_signed = is_signed;
      const auto quantized = quantize(graph, data.calibration, scheme);
      const auto expected = cpu_outputs(quantized, data.test.pixels);
      for (const std::int64_t batch : {1, 16, 1024}) {
        CAPTURE(quant::name_of(mode), is_signed, batch);
        const auto outputs = make_gpu_int8(quantized, {.batch = batch})->run(data.test.pixels);
        CHECK(outputs.integers.size() == 100'000);
        CHECK((outputs.integers == expected));
      }
    }
  }
}

/// How much coarser than fp32 a precision rounds what it multiplies.
double coarseness(GpuPrecision precision) {
  // fp16 rounds to 11 bits; what TF32 leaves out of a factor is cut off, not rounded.
  return precision == GpuPrecision::fp32 ? 1 : precision == GpuPrecision::fp16 ? 0x1p13 : 0x1p14;
}

bool within_bound(const models::Graph& graph, GpuPrecision precision, std::int64_t images,
                  std::int64_t batch) {
  const models::Shape& shape = graph.nodes().front().shape;
  const auto pixels = random_pixels(shape, images);
  const auto reference = make_gpu_real(graph, precision, {.batch = batch});
  const auto size = static_cast<std::size_t>(shape.elements());
  for (int run = 0; run < 3; ++run) {
    const Outputs outputs = reference->run(pixels);
    std::size_t at = 0;
    for (std::int64_t image = 0; image < images; ++image) {
      const auto naive = tests::NaiveFp32::run(
          graph, std::span(pixels).subspan(static_cast<std::size_t>(image) * size, size));
      for (const tests::Real& real : naive.back()) {
        const double difference = std::abs(double{outputs.real.at(at++)} - real.value);
        // expf and tanhf may be off by some units more than the bound of correct rounding.
        if (!(difference <= coarseness(precision) * (real.bound + 4e-7))) return false;
      }
    }
  }
  return true;
}

TEST_CASE("the GPU's real outputs are within the bound of their rounding") {
  if (!has_gpu()) return;
  for (const auto precision : {GpuPrecision::fp32, GpuPrecision::tf32, GpuPrecision::fp16}) {
    if (precision == GpuPrecision::tf32 && gpu_properties().compute_major < 8) continue;
    CAPTURE(static_cast<int>(precision));
    CHECK(within_bound(tests::every_operation(7).graph, precision, 100, 33));
    tests::NetworkBuilder deep({4, 3, 512}, 1);
    deep.conv(0, {.kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1}, 5);
    CHECK(within_bound(deep.graph, precision, 3, 2));
    REQUIRE(rc::check([precision](std::uint64_t seed) {
      RC_ASSERT(within_bound(test::random_graph(seed), precision, pick(1, 9), pick(1, 9)));
    }));
  }
}

TEST_CASE("the GPU tells its time apart from the copies") {
  if (!has_gpu()) return;
  const auto builder = tests::every_operation(7);
  const auto reference = make_gpu_real(builder.graph, GpuPrecision::fp32, {.batch = 64});
  reference->run(random_pixels(builder.graph.node(0).shape, 64));
  REQUIRE(reference->device_seconds().has_value());
  CHECK(*reference->device_seconds() > 0);
  CHECK(reference->name() == "gpu fp32 (cuBLAS)");
}

TEST_CASE("the GPU has a name, multiprocessors, a clock and a bandwidth") {
  if (!has_gpu()) return;
  const GpuProperties properties = gpu_properties();
  CHECK_FALSE(properties.name.empty());
  CHECK(properties.multiprocessors > 0);
  CHECK(properties.clock_hz > 1e8);
  CHECK(properties.bytes_per_second > 1e9);
}

}  // namespace
}  // namespace tilewave::kernels
