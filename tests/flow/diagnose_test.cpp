#include "flow/diagnose.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "flow/layer_errors.h"
#include "kernels/calibrate.h"
#include "tests/flow/small_workload.h"
#include "tests/support/naive.h"

using namespace tilewave;

namespace {

/// What the figures are, value by value, from the tensors that naive loops give.
struct Expected {
  double signal = 0, error = 0, product = 0, power = 0, own_error = 0;
  std::int64_t saturated = 0;
  std::int64_t least = 0, most = 0;
};

std::vector<Expected> by_hand(const flow::Workload& workload) {
  const auto& graph = workload.quantized;
  const auto& test = workload.data.test;
  const auto size = test.shape.elements();
  std::vector<Expected> all(graph.nodes.size());
  for (std::int64_t image = 0; image < test.count; ++image) {
    const auto pixels = test.slice(image, 1);
    const auto integers = quant::quantize_pixels(graph.input().quantization, pixels);
    std::vector<float> reals(pixels.begin(), pixels.end());
    for (float& real : reals) real /= 255.0F;
    REQUIRE(static_cast<std::int64_t>(reals.size()) == size);
    const auto fp32 = test::naive_fp32_all(workload.graph, reals);
    std::vector<std::int64_t> sums;
    const auto values = test::naive_forward_all(graph, integers, [&](const test::Product& p) {
      const std::int32_t sum = test::wrapping_sum(p);
      all[p.node].least = std::min<std::int64_t>(all[p.node].least, sum);
      all[p.node].most = std::max<std::int64_t>(all[p.node].most, sum);
      return sum;
    });
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      const quant::Quantization& q = graph.nodes[node].quantization;
      for (std::size_t i = 0; i < values[node].size(); ++i) {
        const double x = fp32[node][i];
        const double y = double{q.scale} * (values[node][i] - q.zero_point);
        all[node].signal += x * x;
        all[node].error += (x - y) * (x - y);
        all[node].product += x * y;
        all[node].power += y * y;
        all[node].saturated +=
            values[node][i] == q.format.qmin() || values[node][i] == q.format.qmax();
      }
    }
  }
  return all;
}

flow::Workload narrow_workload(int weight_bits, int activation_bits) {
  flow::Workload workload = test::small_workload();
  quant::Scheme scheme = workload.quantized.scheme;
  scheme.weight_bits = weight_bits;
  scheme.activation_bits = activation_bits;
  workload.quantized = kernels::quantize(workload.graph, workload.data.calibration, scheme);
  return workload;
}

}  // namespace

TEST_CASE("layers' errors, saturation and sums are those of naive loops") {
  const flow::Workload workload = narrow_workload(8, 6);
  const auto measured = flow::measure_layers(workload.graph, workload.quantized,
                                             workload.data.test.slice(0, 10), 1, {});
  const auto expected = by_hand(workload);
  REQUIRE(measured.size() == expected.size());
  for (std::size_t node = 0; node < measured.size(); ++node) {
    CAPTURE(workload.quantized.nodes[node].name);
    // The real network's sums are in another order, in fp32.
    CHECK(measured[node].network.signal == Approx(expected[node].signal).epsilon(1e-4));
    CHECK(measured[node].network.error == Approx(expected[node].error).epsilon(1e-3));
    CHECK(measured[node].network.product == Approx(expected[node].product).epsilon(1e-4));
    CHECK(measured[node].network.power == Approx(expected[node].power).epsilon(1e-6));
    CHECK(measured[node].least_sum == expected[node].least);
    CHECK(measured[node].most_sum == expected[node].most);
    std::int64_t counted = 0;
    for (const std::int64_t values : measured[node].histogram) counted += values;
    CHECK(measured[node].values == 10 * workload.quantized.nodes[node].shape.elements());
    CHECK(counted == measured[node].values);
    // Of the nodes, only conv and dense clamp what they make.
    const std::string& name = workload.quantized.nodes[node].name;
    const bool requantizes = name == "conv" || name == "dense";
    CHECK(measured[node].saturated == (requantizes ? expected[node].saturated : 0));
  }
  CHECK(measured[1].saturated > 0);
}

TEST_CASE("a layer's own error does not depend on the layers before it") {
  const flow::Workload coarse = narrow_workload(3, 8);
  flow::Workload mixed = narrow_workload(8, 8);
  auto& nodes = mixed.quantized.nodes;
  REQUIRE(nodes.back().name == "dense");
  nodes.back() = coarse.quantized.nodes.back();
  const auto measured = [](const flow::Workload& workload) {
    return flow::measure_layers(workload.graph, workload.quantized, workload.data.test.slice(0, 10),
                                1, {})
        .back();
  };
  CHECK(measured(coarse).own.error > 0);
  CHECK(measured(coarse).own.error == measured(mixed).own.error);
  CHECK(measured(coarse).network.error != measured(mixed).network.error);
}

TEST_CASE("a diagnosis is the same for any number of threads, and names what hurts") {
  const flow::Workload workload = narrow_workload(2, 8);
  sim::Chip chip = sim::with_keys(sim::load_chip("tiny_8"), {{"precision.weight_bits", "2"}});
  const sim::Diagnosis one = flow::diagnose(workload, chip, {.threads = 1});
  CHECK(sim::to_json(one) == sim::to_json(flow::diagnose(workload, chip, {.threads = 3})));
  REQUIRE(one.layers.size() == 5);
  const auto worst = sim::worst_layer(one);
  REQUIRE(worst.has_value());
  CHECK(one.layers[*worst].cause == sim::ErrorCause::arithmetic);
  CHECK(one.layers[*worst].weight_bits == 2);
  CHECK(one.layers[1].overflows == 0);
  CHECK_FALSE(one.layers[0].overflows.has_value());  // the chip does nothing for the input
  CHECK(one.layers[1].accumulator_bits > 8);
  CHECK(one.layers[2].accumulator_bits == 0);

  chip.precision.accumulator_bits = 12;
  flow::Workload wide = test::small_workload();
  wide.quantized.scheme.accumulator_bits = 12;
  const sim::Diagnosis overflowing = flow::diagnose(wide, sim::load_chip("tiny_8"), {});
  CHECK(*overflowing.layers[1].overflows > 0);
  CHECK(overflowing.layers[1].cause == sim::ErrorCause::overflow);
  CHECK(overflowing.chip.precision.accumulator_bits == 12);
}

TEST_CASE("values beyond a tensor's range are clipping") {
  flow::Workload workload = test::small_workload();
  // An eighth of the range that calibration found for what the network returns.
  auto& dense = std::get<quant::QDense>(workload.quantized.nodes.back().operation);
  workload.quantized.nodes.back().quantization.scale /= 8;
  for (float& multiplier : dense.requantizer.multiplier) multiplier *= 8;
  const sim::Diagnosis diagnosis = flow::diagnose(workload, sim::load_chip("tiny_8"), {});
  const sim::LayerDiagnosis& layer = diagnosis.layers.back();
  CHECK(layer.cause == sim::ErrorCause::clipping);
  CHECK(layer.saturated > 0.3);
  CHECK(layer.cosine < 0.999);
  CHECK(sim::worst_layer(diagnosis) == diagnosis.layers.size() - 1);
}
