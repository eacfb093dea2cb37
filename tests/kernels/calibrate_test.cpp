#include "kernels/calibrate.h"

#include <catch2/catch.hpp>
#include <limits>

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

bool same_quantization(const quant::QuantizedGraph& a, const quant::QuantizedGraph& b) {
  return std::ranges::equal(a.nodes, b.nodes, [](const quant::QNode& x, const quant::QNode& y) {
    return x.name == y.name && x.quantization == y.quantization;
  });
}

TEST_CASE("calibration finds the ranges that the naive network takes") {
  auto builder = tests::every_operation(5);
  const auto calibration = images(builder, 20);
  quant::Scheme scheme;
  scheme.calibration_images = 17;  // the images after these do not count
  const auto graph = quantize(builder.graph, calibration, scheme);

  std::vector<std::unique_ptr<quant::Observer>> observers;
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
  std::vector<quant::Observer::Range> ranges;
  for (const auto& observer : observers) ranges.push_back(observer->range());
  const auto expected = quant::quantize_graph(builder.graph, ranges, scheme);

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
  for (const auto observer : {quant::ObserverKind::min_max, quant::ObserverKind::percentile}) {
    quant::Scheme scheme;
    scheme.observer = observer;
    const auto one = quantize(builder.graph, calibration, scheme, 1);
    CHECK(same_quantization(one, quantize(builder.graph, calibration, scheme, 2)));
    CHECK(same_quantization(one, quantize(builder.graph, calibration, scheme, 5)));
  }
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
