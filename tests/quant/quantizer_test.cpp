#include "quant/quantizer.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/support/fixed_ranges.h"

using namespace tilewave;
using namespace tilewave::quant;
using tilewave::test::quantize_with;
using Ranges = std::vector<Observer::Range>;

namespace {

models::Dense dense(std::vector<float> weight, std::vector<float> bias) {
  return {std::move(weight), std::move(bias)};
}

models::Conv pointwise(std::size_t channels) {
  models::Conv conv;
  conv.weight.assign(channels * channels, 0.5F);
  conv.bias.assign(channels, 0.25F);
  return conv;
}

template <typename T>
const T& as(const QuantizedGraph& graph, std::size_t node) {
  return std::get<T>(graph.nodes.at(node).operation);
}

}  // namespace

TEST_CASE("a dense layer's constants are weight / scale and bias / (sx sw)") {
  models::Graph graph("g", {1, 1, 2});
  graph.add("fc", dense({127, 63.5F, -2, 1}, {3, -0.25F}), {0});
  // Input [0, 255]: scale 1, zero point -128. Output [-127.5, 127.5]: scale 1, zero point
  // -128 + 127.5 = -0.5, to even: 0.
  const auto q = quantize_with(graph, Ranges{{0, 255}, {-127.5F, 127.5F}}, Scheme{});
  REQUIRE(q.nodes.size() == 2);
  CHECK(q.input().quantization.scale == 1);
  CHECK(q.input().quantization.zero_point == -128);
  CHECK(q.output().quantization.scale == 1);
  CHECK(q.output().quantization.zero_point == 0);
  const auto& fc = as<QDense>(q, 1);
  CHECK(fc.weight_scale == std::vector<float>{1, 2.0F / 127});
  // 63.5 is a tie, to the even 64; 1 / fp32(2/127) is 63.5 in fp32, to 64.
  CHECK(fc.weight == std::vector<std::int16_t>{127, 64, -127, 64});
  CHECK(fc.bias == std::vector<std::int32_t>{3, -16});  // -0.25 / (2 / 127) = -15.875
  CHECK(fc.requantizer.multiplier == std::vector<float>{1, 2.0F / 127});
  CHECK(fc.requantizer.low == -128);
  CHECK(fc.requantizer.high == 127);
  CHECK(operation_name(q.nodes[1].operation) == "Gemm");
}

TEST_CASE("a float multiplier is sx * sw rounded, then divided by sy and rounded") {
  models::Graph graph("g", {1, 1, 1});
  graph.add("fc", dense({1, 2, 3, 5, 7, 11}, std::vector<float>(6)), {0});
  const auto q = quantize_with(graph, Ranges{{0, 1}, {-3, 2.3F}}, Scheme{});
  const auto& fc = as<QDense>(q, 1);
  for (std::size_t n = 0; n < 6; ++n) {
    // Exact in double, or close enough for one rounding to fp32 to be the fp32 operation.
    const auto product = static_cast<float>(static_cast<double>(q.input().quantization.scale) *
                                            static_cast<double>(fc.weight_scale[n]));
    const auto ratio =
        static_cast<double>(product) / static_cast<double>(q.output().quantization.scale);
    CHECK(fc.requantizer.multiplier[n] == static_cast<float>(ratio));
  }
}

TEST_CASE("fixed-point mode takes the ratio of the scales in double") {
  models::Graph graph("g", {1, 1, 1});
  graph.add("fc", dense({1}, {0}), {0});
  Scheme scheme;
  scheme.requantize = RequantizeMode::fixed_point;
  const auto q = quantize_with(graph, Ranges{{0, 1}, {-3, 5}}, scheme);
  const auto& requantizer = as<QDense>(q, 1).requantizer;
  const double ratio = static_cast<double>(1.0F / 255) * static_cast<double>(1.0F / 127) /
                       static_cast<double>(8.0F / 255);
  CHECK(requantizer.fixed_point == std::vector{to_fixed_point(ratio)});
  CHECK(requantizer.multiplier.empty());
}

TEST_CASE("one scale for the whole tensor where the scheme says so") {
  models::Graph graph("g", {1, 1, 1});
  graph.add("fc", dense({127, 1}, {0, 0}), {0});
  Scheme scheme;
  scheme.granularity = Granularity::per_tensor;
  const auto q = quantize_with(graph, Ranges{{0, 1}, {0, 1}}, scheme);
  CHECK(as<QDense>(q, 1).weight_scale == std::vector<float>{1, 1});
  CHECK(as<QDense>(q, 1).weight == std::vector<std::int16_t>{127, 1});
}

TEST_CASE("a channel of zeros takes the tensor's scale and keeps its bias") {
  models::Graph graph("g", {1, 1, 1});
  graph.add("fc", dense({0, 254}, {8, 0}), {0});
  const auto q = quantize_with(graph, Ranges{{0, 255}, {0, 255}}, Scheme{});
  CHECK(as<QDense>(q, 1).weight_scale == std::vector<float>{2, 2});
  CHECK(as<QDense>(q, 1).bias == std::vector<std::int32_t>{4, 0});  // 8 / (1 * 2)
  models::Graph zeros("z", {1, 1, 1});
  zeros.add("fc", dense({0}, {0}), {0});
  const auto z = quantize_with(zeros, Ranges{{0, 0}, {0, 0}}, Scheme{});
  CHECK(as<QDense>(z, 1).weight_scale == std::vector<float>{1});
}

TEST_CASE("a channel of tiny weights gets a scale that its bias fits") {
  models::Graph graph("g", {1, 1, 1});
  graph.add("fc", dense({1e-20F, 1}, {1024, 0}), {0});
  const auto q = quantize_with(graph, Ranges{{0, 255}, {0, 2048}}, Scheme{});
  const auto& fc = as<QDense>(q, 1);
  CHECK(fc.weight_scale[0] == std::ldexp(1.0F, -20));  // 2^10 / 2^30
  CHECK(fc.bias[0] == 1 << 30);
  CHECK(fc.weight[0] == 0);
  CHECK(fc.weight_scale[1] == 1.0F / 127);
}

TEST_CASE("a Relu or Clip that alone reads a Conv, Dense or Add becomes its clamp") {
  models::Graph graph("g", {1, 1, 1});
  const auto conv = graph.add("conv", pointwise(1), {0});
  const auto relu = graph.add("relu", models::Relu{}, {conv});
  const auto add = graph.add("add", models::Add{}, {relu, 0});
  const auto clip = graph.add("clip", models::Clip{0, 6}, {add});
  const auto fc = graph.add("fc", dense({1}, {0}), {clip});
  graph.add("fc_clip", models::Clip{-1, 1}, {fc});
  const auto q = quantize_with(
      graph, Ranges{{0, 1}, {-9, 9}, {-10, 245}, {-9, 9}, {0, 12.75F}, {-9, 9}, {-1.28F, 1.27F}},
      Scheme{});
  REQUIRE(q.nodes.size() == 4);
  CHECK(q.nodes[1].name == "conv");
  CHECK(q.nodes[1].quantization.scale == 1);  // the Relu's range
  CHECK(q.nodes[1].quantization.zero_point == -118);
  CHECK(as<QConv>(q, 1).requantizer.low == -118);
  CHECK(as<QConv>(q, 1).requantizer.high == 127);
  CHECK(as<QAdd>(q, 2).adder.low == -128);
  CHECK(as<QAdd>(q, 2).adder.high == -8);  // 6 / 0.05 = 120 above -128
  CHECK(q.nodes[2].inputs == std::vector<models::NodeId>{1, 0});
  CHECK(as<QDense>(q, 3).requantizer.low == -100);  // scale 0.01, zero point 0
  CHECK(as<QDense>(q, 3).requantizer.high == 100);
}

TEST_CASE("a Relu is a table of its own where its input has another reader") {
  models::Graph graph("g", {1, 1, 1});
  const auto conv = graph.add("conv", pointwise(1), {0});
  const auto relu = graph.add("relu", models::Relu{}, {conv});
  graph.add("add", models::Add{}, {relu, conv});
  const auto q = quantize_with(graph, Ranges{{0, 1}, {-10, 245}, {0, 99}, {-1, 1}}, Scheme{});
  REQUIRE(q.nodes.size() == 4);
  CHECK(as<QConv>(q, 1).requantizer.low == -128);
  CHECK(q.nodes[2].quantization == q.nodes[1].quantization);
  const auto& table = as<QLookup>(q, 2).table;
  REQUIRE(table.size() == 256);
  for (int v = -128; v < 128; ++v)
    CHECK(table[static_cast<std::size_t>(v + 128)] == std::max(v, -118));
  CHECK(operation_name(q.nodes[2].operation) == "Relu");
}

TEST_CASE("a Relu is not fused either where the other reader comes first") {
  models::Graph graph("g", {1, 1, 1});
  const auto conv = graph.add("conv", pointwise(1), {0});
  const auto sum = graph.add("add", models::Add{}, {conv, 0});
  const auto relu = graph.add("relu", models::Relu{}, {conv});
  graph.add("end", models::Add{}, {sum, relu});
  CHECK(quantize_with(graph, Ranges(5, {-1, 1}), Scheme{}).nodes.size() == 5);
}

TEST_CASE("only one activation is fused and the next is a table") {
  models::Graph graph("g", {1, 1, 1});
  const auto conv = graph.add("conv", pointwise(1), {0});
  const auto relu = graph.add("relu", models::Relu{}, {conv});
  graph.add("clip", models::Clip{0, 2}, {relu});
  const auto q = quantize_with(graph, Ranges{{0, 1}, {-1, 1}, {0, 255}, {0, 2}}, Scheme{});
  REQUIRE(q.nodes.size() == 3);
  CHECK(as<QLookup>(q, 2).table.back() == -126);  // 2 / 1 above -128
  CHECK(operation_name(q.output().operation) == "Clip");
}

TEST_CASE("pools and Flatten keep their input's quantization") {
  models::Graph graph("g", {2, 2, 1});
  models::Window window;
  window.kernel_height = window.kernel_width = 2;
  const auto max = graph.add("max", models::MaxPool{window}, {0});
  const auto average = graph.add("average", models::AveragePool{{}, true}, {max});
  graph.add("flatten", models::Flatten{}, {average});
  Scheme scheme;
  scheme.requantize = RequantizeMode::fixed_point;
  const auto q = quantize_with(graph, Ranges{{0, 1}, {0, 7}, {0, 7}, {0, 7}}, scheme);
  REQUIRE(q.nodes.size() == 4);
  for (const auto& node : q.nodes) CHECK(node.quantization == q.input().quantization);
  CHECK(as<QMaxPool>(q, 1).window == window);
  CHECK(as<QAveragePool>(q, 2).count_include_pad);
  CHECK(as<QAveragePool>(q, 2).mode == RequantizeMode::fixed_point);
  CHECK(operation_name(q.nodes[3].operation) == "Flatten");
}

TEST_CASE("Sigmoid and Tanh become tables with fixed ranges") {
  models::Graph graph("g", {1, 1, 1});
  const auto sigmoid = graph.add("sigmoid", models::Sigmoid{}, {0});
  graph.add("tanh", models::Tanh{}, {sigmoid});
  const auto q = quantize_with(graph, Ranges{{-12.8F, 12.7F}, {0.4F, 0.6F}, {0, 0.5F}}, Scheme{});
  CHECK(q.nodes[1].quantization == Quantization{Format{}, 1.0F / 255, -128});
  const auto& table = as<QLookup>(q, 1).table;
  // Input scale 0.1, zero point 0. fp32(1/255) is above 1/255, so sigmoid(0) / scale = 127.49999,
  // to 127, - 128 = -1;
  // sigmoid(1) 255 = 186.4; sigmoid(-12.8) 255 = 0.0007; sigmoid(12.7) 255 = 254.9992.
  CHECK(table[128] == -1);
  CHECK(table[138] == 58);
  CHECK(table[0] == -128);
  CHECK(table[255] == 127);
  CHECK(q.nodes[2].quantization == Quantization{Format{}, 2.0F / 255, -1});
  // The zero point is -128 + 127.49999 to -1 for the same reason. tanh(1) / (2 / 255) = 97.1.
  CHECK(as<QLookup>(q, 2).table[255] == 96);
  CHECK(as<QLookup>(q, 2).table[0] == -1);
}

TEST_CASE("a final Softmax and what the output does not need are left out") {
  models::Graph graph("g", {1, 1, 2});
  const auto fc = graph.add("fc", dense({1, 2, 3, 4}, {0, 0}), {0});
  graph.add("unused", models::Relu{}, {fc});
  graph.add("softmax", models::Softmax{}, {fc});
  const auto q = quantize_with(graph, Ranges(4, {-1, 1}), Scheme{});
  REQUIRE(q.nodes.size() == 2);
  CHECK(q.output().name == "fc");
  CHECK(as<QDense>(q, 1).requantizer.low == -128);
}

TEST_CASE("every width of the scheme gives values of its format") {
  models::Graph graph("g", {1, 1, 3});
  graph.add("fc", dense({1, -1, 0.3F}, {0.1F}), {0});
  for (const int bits : {2, 3, 4, 5, 6, 7, 8, 16}) {
    Scheme scheme;
    scheme.weight_bits = scheme.activation_bits = bits;
    const auto q = quantize_with(graph, Ranges{{-1, 1}, {-1, 1}}, scheme);
    const auto& fc = as<QDense>(q, 1);
    const int most = (1 << (bits - 1)) - 1;
    CHECK(fc.weight[0] == most);
    CHECK(fc.weight[1] == -most);
    CHECK(fc.requantizer.low == -most - 1);
    CHECK(fc.requantizer.high == most);
  }
  Scheme scheme;
  scheme.activation_signed = false;
  const auto q = quantize_with(graph, Ranges{{0, 1}, {-1, 1}}, scheme);
  CHECK(q.input().quantization.zero_point == 0);
  CHECK(as<QDense>(q, 1).requantizer.low == 0);
  CHECK(as<QDense>(q, 1).requantizer.high == 255);
}

TEST_CASE("scales whose ratio no fp32 number holds are refused by the layer's name") {
  models::Graph graph("g", {1, 1, 1});
  graph.add("fc", dense({1e30F}, {0}), {0});
  CHECK_THROWS_WITH(quantize_with(graph, Ranges{{0, 1e30F}, {0, 1}}, Scheme{}),
                    Catch::StartsWith("fc: has the scales"));
}

TEST_CASE("an average of more values than a 32-bit sum holds is refused") {
  // 256 * 256 values of 2^15 are 2^31; one row less is below it.
  Scheme scheme;
  scheme.activation_bits = 16;
  for (const std::int64_t height : {255, 256}) {
    models::Graph graph("g", {height, 256, 1});
    models::Window window;
    window.kernel_height = height;
    window.kernel_width = 256;
    graph.add("average", models::AveragePool{window, false}, {0});
    const std::vector<Observer::Range> ranges(2, {0, 1});
    if (height == 255) {
      CHECK_NOTHROW(quantize_with(graph, ranges, scheme));
    } else {
      CHECK_THROWS_WITH(quantize_with(graph, ranges, scheme),
                        Catch::Contains("average") && Catch::Contains("65536 values of 16 bits"));
    }
  }
}

TEST_CASE("pixels are quantized as p / 255") {
  const auto q = choose_quantization({0, 1}, Format{});
  const std::vector<std::uint8_t> pixels = {0, 1, 128, 255};
  CHECK(quantize_pixels(q, pixels) == std::vector<std::int16_t>{-128, -127, 0, 127});
  const Quantization coarse{Format{2, false, false}, 1.0F / 3, 0};
  const std::vector<std::uint8_t> thirds = {0, 42, 43, 255};
  CHECK(quantize_pixels(coarse, thirds) == std::vector<std::int16_t>{0, 0, 1, 3});
}

namespace {

/// input, conv and its Relu, pool, fc.
models::Graph layered() {
  models::Graph graph("g", {2, 2, 1});
  models::Conv conv;
  conv.weight = {1};
  conv.bias = {0};
  graph.add("conv", conv, {0});
  graph.add("relu", models::Relu{}, {1});
  graph.add("pool", models::MaxPool{}, {2});
  graph.add("fc", dense({1, 2, 3, 7}, {0}), {3});
  return graph;
}

Scheme with_layer(const std::string& name, LayerScheme layer) {
  Scheme scheme;
  scheme.layers[name] = layer;
  return scheme;
}

std::string error_for(const Scheme& scheme) {
  try {
    quantize_with(layered(), Ranges(5, {-1, 1}), scheme);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a layer's own widths and granularity are those of its weights and its output") {
  Scheme scheme;
  scheme.weight_bits = 4;
  scheme.activation_bits = 4;
  scheme.layers["conv"] = {8, 6, Granularity::per_tensor};
  scheme.layers["input"].activation_bits = 5;
  const auto q =
      quantize_with(layered(), Ranges{{0, 31}, {0, 9}, {0, 63}, {0, 63}, {-8, 7}}, scheme);
  CHECK(q.input().quantization == Quantization{{5, true, false}, 1, -16});
  CHECK(as<QConv>(q, 1).weight_format == Format{8, true, true});
  CHECK(as<QConv>(q, 1).weight == std::vector<std::int16_t>{127});
  CHECK(q.nodes[1].quantization == Quantization{{6, true, false}, 1, -32});
  CHECK(q.nodes[2].quantization == q.nodes[1].quantization);  // the pool's is the convolution's
  CHECK(as<QDense>(q, 3).weight == std::vector<std::int16_t>{1, 2, 3, 7});
  CHECK(q.output().quantization == Quantization{{4, true, false}, 1, 0});
  CHECK(q.activation_format() == Format{6, true, false});
  CHECK(q.weight_format() == Format{8, true, true});
  CHECK(quantize_with(layered(), Ranges(5, {-1, 1}), with_layer("conv", {4, 4, {}}))
            .weight_format() == Format{8, true, true});
}

TEST_CASE("symmetric activations have the zero point 0") {
  Scheme scheme;
  scheme.activation_symmetric = true;
  const auto q = quantize_with(layered(), Ranges(5, {-1, 254}), scheme);
  for (const QNode& node : q.nodes) {
    CHECK(node.quantization == Quantization{{8, true, true}, 2, 0});
  }
  CHECK(as<QConv>(q, 1).requantizer.low == 0);  // the fused Relu
  CHECK(as<QDense>(q, 3).requantizer.low == -127);
}

TEST_CASE("keys for a layer that cannot have them are refused") {
  CHECK(error_for(with_layer("conf", {4, {}, {}})) ==
        "scheme: layers.conf: no layer has this name (did you mean conv?)");
  CHECK(error_for(with_layer("relu", {4, {}, {}})) ==
        "scheme: layers.relu: is fused into another layer (conv)");
  CHECK(error_for(with_layer("pool", {4, {}, {}})) ==
        "scheme: layers.pool: weight_bits is for a layer with weights, not for MaxPool");
  CHECK(error_for(with_layer("input", {{}, {}, Granularity::per_tensor})) ==
        "scheme: layers.input: granularity is for a layer with weights, not for Input");
  CHECK(error_for(with_layer("pool", {{}, 4, {}})) ==
        "scheme: layers.pool: MaxPool keeps its input's quantization (activation_bits for the "
        "layer before it)");
  CHECK(error_for(with_layer("conv", {4, 4, Granularity::per_tensor})).empty());
}

TEST_CASE("a calibration for another scheme is refused") {
  const Calibration calibration{std::make_shared<const models::Graph>(layered()), Scheme{},
                                std::vector<std::shared_ptr<const Observer>>(5)};
  Scheme scheme;
  scheme.seed = 1;
  CHECK_THROWS_AS(quantize_graph(calibration, scheme), InternalError);
}
