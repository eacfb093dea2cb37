#include "kernels/calibrate.h"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "quant/observer.h"
#include "quant/quantizer.h"
#include "tests/kernels/network_builder.h"
#include "tests/support/naive.h"

namespace tilewave::kernels {
namespace {

models::Images images(tests::NetworkBuilder& builder, std::int64_t count) {
  return {builder.graph.node(0).shape, count, builder.images(count), {}};
}

/// The integers of a layer's weights and biases.
std::pair<std::vector<std::int16_t>, std::vector<std::int32_t>> constants(
    const quant::QNode& node) {
  if (const auto* conv = std::get_if<quant::QConv>(&node.operation)) {
    return {conv->weight, conv->bias};
  }
  if (const auto* dense = std::get_if<quant::QDense>(&node.operation)) {
    return {dense->weight, dense->bias};
  }
  return {};
}

bool same_quantization(const quant::QuantizedGraph& a, const quant::QuantizedGraph& b) {
  return std::ranges::equal(a.nodes, b.nodes, [](const quant::QNode& x, const quant::QNode& y) {
    return x.name == y.name && x.quantization == y.quantization && constants(x) == constants(y);
  });
}

TEST_CASE("calibration finds the ranges that the naive network takes") {
  auto builder = tests::every_operation(5);
  const auto calibration = images(builder, 20);
  quant::Scheme scheme;
  scheme.calibration_images = 17;  // the images after these do not count
  const auto graph = quantize(builder.graph, calibration, scheme);

  std::vector<std::shared_ptr<quant::Observer>> observers;
  for (const auto& node : builder.graph.nodes()) {
    observers.push_back(quant::make_observer(scheme, node.name));
  }
  for (std::int64_t i = 0; i < scheme.calibration_images; ++i) {
    std::vector<float> image;
    for (const std::uint8_t pixel : calibration.slice(i, 1)) {
      image.push_back(static_cast<float>(pixel) / 255.0F);
    }
    const auto tensors = test::naive_fp32_all(builder.graph, image);
    // All but the final Softmax, which stays real.
    for (std::size_t n = 0; n + 1 < observers.size(); ++n) observers[n]->observe(tensors[n]);
  }
  const auto expected = quant::quantize_graph({std::make_shared<const models::Graph>(builder.graph),
                                               quant::calibration_part(scheme),
                                               {observers.begin(), observers.end()}},
                                              scheme);

  REQUIRE(graph.nodes.size() == expected.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    // A range is a single value of an fp32 network of at most 50 terms per sum and 8 layers, so
    // some hundred roundings of 2^-24 from the sums in double.
    CAPTURE(graph.nodes[n].name);
    CHECK(graph.nodes[n].quantization.scale ==
          Approx(expected.nodes[n].quantization.scale).epsilon(1e-4));
    CHECK(std::abs(graph.nodes[n].quantization.zero_point -
                   expected.nodes[n].quantization.zero_point) <= 1);
  }
}

TEST_CASE("calibration does not depend on the number of threads") {
  auto builder = tests::every_operation(6);
  const auto calibration = images(builder, 1000);
  for (const auto observer : {quant::ObserverKind::min_max, quant::ObserverKind::moving_average,
                              quant::ObserverKind::percentile, quant::ObserverKind::entropy}) {
    quant::Scheme scheme;
    scheme.bias_correction = true;
    scheme.weight_rounding = quant::WeightRounding::adaptive;
    scheme.observer = observer;
    const auto one = quantize(builder.graph, calibration, scheme, 1);
    CHECK(same_quantization(one, quantize(builder.graph, calibration, scheme, 2)));
    CHECK(same_quantization(one, quantize(builder.graph, calibration, scheme, 5)));
  }
}

TEST_CASE("one calibration serves schemes that differ in widths") {
  auto builder = tests::every_operation(6);
  const auto calibration = images(builder, 30);
  quant::Scheme scheme;
  scheme.calibration_images = 20;
  const auto calibrated = calibrate(builder.graph, calibration, scheme);
  for (const int bits : {3, 8}) {
    scheme.weight_bits = scheme.activation_bits = bits;
    scheme.layers["node1"].activation_bits = 8;
    CHECK(same_quantization(quant::quantize_graph(calibrated, scheme),
                            quantize(builder.graph, calibration, scheme)));
  }
}

TEST_CASE("a seed draws other images, each once, the same ones each time") {
  quant::Scheme scheme;
  scheme.calibration_images = 300;
  std::vector<std::int64_t> first(300);
  std::iota(first.begin(), first.end(), 0);
  CHECK(calibration_subset(1000, scheme) == first);
  std::vector<int> times(1000);
  for (std::int64_t seed = 0; seed < 200; ++seed) {
    scheme.seed = seed;
    const auto chosen = calibration_subset(1000, scheme);
    REQUIRE(chosen.size() == 300);
    REQUIRE(std::ranges::adjacent_find(chosen, std::ranges::greater_equal{}) == chosen.end());
    REQUIRE(chosen.back() < 1000);
    REQUIRE(chosen == calibration_subset(1000, scheme));
    for (const std::int64_t image : chosen) ++times[static_cast<std::size_t>(image)];
  }
  // 200 draws with 0.3 each: 60 and a standard deviation of 6.5. The seeds are fixed, so the
  // margins of six deviations cannot fail by chance.
  CHECK(std::ranges::min(times) > 21);
  CHECK(std::ranges::max(times) < 99);
  scheme.calibration_images = 1000;
  CHECK(calibration_subset(1000, scheme).size() == 1000);
}

TEST_CASE("calibration sees the images that the seed draws") {
  auto builder = tests::every_operation(6);
  const auto all = images(builder, 50);
  quant::Scheme scheme;
  scheme.calibration_images = 7;
  scheme.seed = 11;
  models::Images chosen{all.shape, 7, {}, {}};
  for (const std::int64_t image : calibration_subset(50, scheme)) {
    const auto pixels = all.slice(image, 1);
    chosen.pixels.insert(chosen.pixels.end(), pixels.begin(), pixels.end());
  }
  const auto drawn = quantize(builder.graph, all, scheme);
  scheme.seed.reset();
  CHECK(same_quantization(drawn, quantize(builder.graph, chosen, scheme)));
  CHECK(!same_quantization(drawn, quantize(builder.graph, all, scheme)));
}

TEST_CASE("calibration refuses too few images and images of another size") {
  auto builder = tests::every_operation(6);
  quant::Scheme scheme;
  scheme.calibration_images = 11;
  CHECK_THROWS_WITH(quantize(builder.graph, images(builder, 10), scheme),
                    Catch::Contains("calibration_images") && Catch::Contains("10"));
  tests::NetworkBuilder other({3, 3, 1}, 1);
  CHECK_THROWS_WITH(quantize(builder.graph, images(other, 11), scheme),
                    Catch::Contains("9 values each"));
  CHECK_THROWS_AS(quantize(builder.graph, images(builder, 11), scheme, 0), InputError);
}

TEST_CASE("a network that leaves fp32's range is refused by the same node with any threads") {
  tests::NetworkBuilder builder({2, 2, 1}, 1);
  const float huge = std::numeric_limits<float>::max();
  builder.then(models::Dense{{huge, huge, huge, huge}, {0}});
  builder.then(models::Relu{});
  models::Images calibration{{2, 2, 1}, 1000, std::vector<std::uint8_t>(4000), {}};
  std::fill(calibration.pixels.begin() + 3000, calibration.pixels.end(), std::uint8_t{255});
  for (const int threads : {1, 2, 4}) {
    CHECK_THROWS_WITH(quantize(builder.graph, calibration, {}, threads), Catch::Contains("node1"));
  }
}

}  // namespace
}  // namespace tilewave::kernels
