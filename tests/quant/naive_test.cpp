#include "tests/support/naive.h"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "tests/support/random_graph.h"

using namespace tilewave;
using namespace tilewave::quant;
using test::naive_forward;
using test::naive_forward_all;
using Values = std::vector<std::int16_t>;

namespace {

Requantizer identity(std::size_t channels) {
  Requantizer requantizer;
  requantizer.multiplier.assign(channels, 1.0F);
  return requantizer;
}

QuantizedGraph one_node(models::Shape in, std::int32_t zero_point, QOperation operation,
                        models::Shape out) {
  const Quantization q{Format{}, 1.0F, zero_point};
  return {"g", {}, {{"input", QInput{}, {}, in, q}, {"node", std::move(operation), {0}, out, q}}};
}

/// A node's real value worked out in double from its inputs' dequantized values.
struct Expected {
  const QuantizedGraph& graph;
  const QNode& node;
  const std::vector<Values>& values;
  std::size_t element;

  double real(std::size_t which, std::size_t at) const {
    const auto id = static_cast<std::size_t>(node.inputs[which]);
    const Quantization& q = graph.nodes[id].quantization;
    return static_cast<double>(q.scale) * (values[id][at] - q.zero_point);
  }

  double operator()(const QDense& dense) const {
    const auto scale = static_cast<double>(dense.weight_scale[element]);
    const QNode& from = graph.nodes[static_cast<std::size_t>(node.inputs[0])];
    const std::size_t size = dense.weight.size() / dense.bias.size();
    double sum = dense.bias[element] * scale * static_cast<double>(from.quantization.scale);
    for (std::size_t k = 0; k < size; ++k) {
      sum += dense.weight[element * size + k] * scale * real(0, k);
    }
    return sum;
  }
  double operator()(const QAdd&) const { return real(0, element) + real(1, element); }
  template <typename Other>
  double operator()(const Other&) const {
    return std::nan("");  // not checked this way
  }
};

}  // namespace

TEST_CASE("a naive convolution pads with the zero point and counts k as [y][x][channel]") {
  QConv conv;
  conv.window.kernel_height = 2;
  conv.window.kernel_width = 2;
  conv.window.pad_bottom = conv.window.pad_right = 1;
  conv.weight = {1, 2, 3, 4};
  conv.bias = {10};
  conv.requantizer = identity(1);
  conv.requantizer.zero_point = 5;
  const auto graph = one_node({2, 2, 1}, 5, conv, {2, 2, 1});
  // Centred on 5 the image is 1 2 / 3 4. Top left: 1*1 + 2*2 + 3*3 + 4*4 = 30; top right 2*1 + 4*3
  // = 14; bottom left 3*1 + 4*2 = 11; bottom right 4. All + 10 (bias) + 5 (zero point).
  CHECK(naive_forward(graph, {6, 7, 8, 9}) == Values{45, 29, 26, 19});
}

TEST_CASE("a naive convolution keeps groups apart and spreads dilated places") {
  QConv conv;
  conv.window.kernel_width = 2;
  conv.window.dilation_width = 2;
  conv.groups = 2;
  conv.weight = {1, 2, 3, 4, -1, 0, 0, -1};  // outputs 0, 1 read channel 0; 2, 3 channel 1
  conv.bias = {0, 0, 0, 0};
  conv.requantizer = identity(4);
  const auto graph = one_node({1, 3, 2}, 0, conv, {1, 1, 4});
  // Channel 0 is 1, 2, 3 and channel 1 is 10, 20, 30; the window reads places 0 and 2.
  CHECK(naive_forward(graph, {1, 10, 2, 20, 3, 30}) == Values{1 + 6, 3 + 12, -10, -30});
}

TEST_CASE("a naive accumulator wraps at 32 bits") {
  QDense dense;
  dense.weight = {1};
  dense.bias = {2147483647};
  dense.requantizer = identity(1);
  const auto graph = one_node({1, 1, 1}, 0, dense, {1, 1, 1});
  CHECK(naive_forward(graph, {0}) == Values{127});
  CHECK(naive_forward(graph, {1}) == Values{-128});
}

TEST_CASE("a naive max pool counts padding as the lowest value") {
  QMaxPool pool;
  pool.window = {2, 2, 2, 2, 1, 1, 1, 1, 1, 1};
  const auto graph = one_node({2, 2, 1}, 100, pool, {2, 2, 1});
  CHECK(naive_forward(graph, {-128, -5, 7, -128}) == Values{-128, -5, 7, -128});
}

TEST_CASE("a naive average pool counts padding only where it is told to") {
  QAveragePool pool;
  pool.window.kernel_width = 2;
  pool.window.pad_left = 1;
  auto graph = one_node({1, 2, 1}, -20, pool, {1, 2, 1});
  CHECK(naive_forward(graph, {10, 13}) == Values{10, 12});  // 10 / 1; 11.5, a tie, to 12
  pool.count_include_pad = true;
  graph = one_node({1, 2, 1}, -20, pool, {1, 2, 1});
  CHECK(naive_forward(graph, {11, 13}) == Values{-4, 12});  // -9 / 2 = -4.5, a tie, to -4
}

TEST_CASE("random graphs hold every operation and are the same for the same seed") {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto graph = test::random_quantized_graph(seed);
    for (const auto& node : graph.nodes) seen.insert(operation_name(node.operation));
  }
  CHECK(seen == std::set<std::string>{"Input", "Conv", "Gemm", "Add", "Relu", "Clip", "Sigmoid",
                                      "Tanh", "MaxPool", "AveragePool", "Flatten"});
  const auto a = test::random_quantized_graph(7);
  const auto b = test::random_quantized_graph(7);
  const auto image = test::random_images(a, 1, 3);
  CHECK(naive_forward(a, image) == naive_forward(b, image));
}

TEST_CASE("quantized layers are within rounding of their real value in double") {
  REQUIRE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    auto scheme = test::random_scheme(seed);
    scheme.weight_bits = scheme.activation_bits = 8;  // 16 bits may wrap
    const auto graph = test::quantize_randomly(test::random_graph(seed), scheme, seed);
    const auto values = naive_forward_all(graph, test::random_images(graph, 1, seed));
    for (std::size_t id = 1; id < graph.nodes.size(); ++id) {
      const QNode& node = graph.nodes[id];
      RC_ASSERT(values[id].size() == static_cast<std::size_t>(node.shape.elements()));
      std::int32_t low = node.quantization.format.qmin();
      std::int32_t high = node.quantization.format.qmax();
      if (const auto* dense = std::get_if<QDense>(&node.operation)) {
        low = dense->requantizer.low;
        high = dense->requantizer.high;
      } else if (const auto* add = std::get_if<QAdd>(&node.operation)) {
        low = add->adder.low;
        high = add->adder.high;
      }
      for (std::size_t i = 0; i < values[id].size(); ++i) {
        RC_ASSERT(values[id][i] >= low);
        RC_ASSERT(values[id][i] <= high);
        const double real = std::visit(Expected{graph, node, values, i}, node.operation);
        if (std::isnan(real)) continue;
        const double exact = std::clamp<double>(
            real / static_cast<double>(node.quantization.scale) + node.quantization.zero_point, low,
            high);
        RC_ASSERT(std::abs(values[id][i] - exact) <= 0.51);
      }
    }
  }));
}

TEST_CASE("eight-bit networks stay close to their fp32 results") {
  double error = 0;
  double count = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto graph = test::random_graph(seed);
    if (std::holds_alternative<models::Softmax>(graph.output().operation)) continue;
    const auto quantized = test::quantize_randomly(graph, Scheme{}, seed);
    // Pixels that are quantized values, so that only the network's own rounding is left.
    const auto image = test::random_images(quantized, 1, seed);
    std::vector<float> real;
    for (const auto q : image) real.push_back(dequantize(q, quantized.input().quantization));
    const auto expected = test::naive_fp32_all(graph, real).back();
    const auto got = naive_forward(quantized, image);
    const Quantization& q = quantized.output().quantization;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double range = 255 * static_cast<double>(q.scale);
      error += std::abs(static_cast<double>(dequantize(got[i], q) - expected[i])) / range;
      ++count;
    }
  }
  CHECK(error / count < 0.02);  // of the output's range: about five steps
}
