// The shipped network on all 10,000 test images: the simulated chip, the CPU's int8 path and naive
// loops give the same bits on every array, and the accuracy is what quantization should leave.

#include <algorithm>
#include <catch2/catch.hpp>
#include <tuple>

#include "base/parallel.h"
#include "kernels/calibrate.h"
#include "kernels/reference.h"
#include "models/dataset.h"
#include "models/onnx_reader.h"
#include "sim/compiler/compiler.h"
#include "sim/engine.h"
#include "tests/support/naive.h"

using namespace tilewave;

namespace {

constexpr int kThreads = 2;
constexpr std::int64_t kImages = 10'000;
constexpr std::int64_t kClasses = 10;

struct Mnist {
  models::Graph graph = models::load_model("mnist_cnn");
  models::Dataset data = models::load_dataset("mnist");

  quant::QuantizedGraph quantized(quant::RequantizeMode mode) const {
    quant::Scheme scheme;  // W8A8, per channel, min_max over 1,000 images
    scheme.requantize = mode;
    return kernels::quantize(graph, data.calibration, scheme, kThreads);
  }
};

std::vector<std::int16_t> naive_logits(const quant::QuantizedGraph& graph,
                                       const std::vector<std::int16_t>& inputs) {
  const std::int64_t size = graph.input().shape.elements();
  std::vector<std::int16_t> logits(kImages * kClasses);
  parallel_for(kImages, kThreads, [&](std::int64_t i) {
    const auto out =
        test::naive_forward(graph, {inputs.begin() + i * size, inputs.begin() + (i + 1) * size});
    std::copy(out.begin(), out.end(), logits.begin() + i * kClasses);
  });
  return logits;
}

/// Per cent of the places at which they are the same.
template <typename A, typename B>
double equal_percent(const A& a, const B& b) {
  REQUIRE(a.size() == b.size());
  std::int64_t same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) same += static_cast<std::int64_t>(a[i]) == b[i];
  return 100.0 * static_cast<double>(same) / static_cast<double>(a.size());
}

/// On every array, the simulated logits equal the CPU's and those of the naive loops.
void check_equal_bits(quant::RequantizeMode mode) {
  const Mnist mnist;
  REQUIRE(mnist.data.test.count == kImages);
  const auto graph = mnist.quantized(mode);
  const auto inputs = quant::quantize_pixels(graph.input().quantization, mnist.data.test.pixels);
  const auto naive = naive_logits(graph, inputs);
  REQUIRE(naive.size() == kImages * kClasses);
  const auto cpu =
      kernels::make_cpu_int8(graph, {.threads = kThreads})->run(mnist.data.test.pixels);
  CHECK(equal_percent(cpu.integers, naive) == 100);

  const std::vector<std::tuple<std::int64_t, std::int64_t, sim::Dataflow>> arrays = {
      {8, 8, sim::Dataflow::weight_stationary},     {16, 16, sim::Dataflow::weight_stationary},
      {12, 20, sim::Dataflow::weight_stationary},   {128, 128, sim::Dataflow::weight_stationary},
      {256, 256, sim::Dataflow::weight_stationary}, {8, 8, sim::Dataflow::output_stationary},
      {16, 16, sim::Dataflow::output_stationary},   {12, 20, sim::Dataflow::output_stationary},
      {8, 8, sim::Dataflow::input_stationary},      {16, 16, sim::Dataflow::input_stationary},
      {12, 20, sim::Dataflow::input_stationary}};
  for (const auto& [rows, cols, dataflow] : arrays) {
    CAPTURE(rows, cols, sim::kDataflowNames[static_cast<std::size_t>(dataflow)]);
    sim::Chip chip;  // tpu_v1 with another array
    chip.array.rows = rows;
    chip.array.cols = cols;
    chip.array.dataflow = dataflow;
    sim::RunOptions options;
    options.threads = kThreads;
    // All images on the arrays that are the default, a tenth of them on the others.
    const std::int64_t images =
        dataflow == sim::Dataflow::weight_stationary ? kImages : kImages / 10;
    const std::vector<std::int16_t> given(inputs.begin(),
                                          inputs.begin() + images * graph.input().shape.elements());
    const std::vector<std::int16_t> expected(naive.begin(), naive.begin() + images * kClasses);
    const auto result =
        sim::make_timeline()->run(chip, sim::compile(graph, chip, 256), given, options);
    CHECK(equal_percent(result.outputs, expected) == 100);
  }
}

std::vector<std::int64_t> classes_of(const std::vector<float>& logits) {
  std::vector<std::int64_t> classes;
  for (auto row = logits.begin(); row != logits.end(); row += kClasses) {
    classes.push_back(std::max_element(row, row + kClasses) - row);
  }
  return classes;
}

}  // namespace

TEST_CASE("MNIST's logits have the same bits on every array, the CPU and in naive loops, float") {
  check_equal_bits(quant::RequantizeMode::float_multiplier);
}

TEST_CASE("MNIST's logits have the same bits everywhere with fixed-point requantization") {
  check_equal_bits(quant::RequantizeMode::fixed_point);
}

TEST_CASE("8 bits lose at most 0.10 point of accuracy on MNIST and agree on 99.8 per cent") {
  const Mnist mnist;
  const auto& test = mnist.data.test;
  const auto real =
      classes_of(kernels::make_cpu_fp32(mnist.graph, {.threads = kThreads})->run(test.pixels).real);
  REQUIRE(real.size() == kImages);
  const double accuracy = equal_percent(test.labels, real);
  CHECK(accuracy > 99.0);
  for (const auto mode :
       {quant::RequantizeMode::float_multiplier, quant::RequantizeMode::fixed_point}) {
    const auto graph = mnist.quantized(mode);
    const auto classes =
        classes_of(kernels::make_cpu_int8(graph, {.threads = kThreads})->run(test.pixels).real);
    // A point is one per cent; the difference of two counts out of 10,000 images is exact enough.
    CHECK(std::abs(accuracy - equal_percent(test.labels, classes)) <= 0.10 + 1e-9);
    CHECK(equal_percent(real, classes) >= 99.8);
  }
}
