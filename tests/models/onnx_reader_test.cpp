#include "models/onnx_reader.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"
#include "tests/models/onnx_builder.h"
#include "tests/models/temporary_directory.h"

using namespace tilewave::models;
using Catch::Contains;
using tilewave::test::OnnxBuilder;
using Names = std::vector<std::string>;
using Floats = std::vector<float>;

namespace {

Graph read(const OnnxBuilder& builder) {
  return parse_onnx(builder.bytes(), "net.onnx");
}

/// "name:Operation" of every node but the input.
Names listed(const Graph& graph) {
  Names names;
  for (std::size_t i = 1; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    names.push_back(node.name + ":" + operation_name(node.operation));
  }
  return names;
}

template <typename Operation>
const Operation& operation(const Graph& graph, NodeId id) {
  return std::get<Operation>(graph.node(id).operation);
}

Floats counting(std::size_t count) {
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

}  // namespace

TEST_CASE("the seed's network is read with the shapes that it has") {
  const OnnxBuilder::Attribute same = OnnxBuilder::text("auto_pad", "SAME_UPPER");
  const std::vector<OnnxBuilder::Attribute> halve = {OnnxBuilder::integers("kernel_shape", {2, 2}),
                                                     OnnxBuilder::integers("strides", {2, 2})};
  OnnxBuilder builder({-1, 1, 28, 28});
  builder.floats("w1", {64, 1, 2, 2}, Floats(256, 0.5f))
      .floats("b1", {64}, Floats(64, 1))
      .floats("w2", {32, 64, 2, 2}, Floats(8192))
      .floats("w3", {256, 1568}, Floats(401408))
      .floats("b3", {256}, Floats(256))
      .floats("w4", {10, 256}, Floats(2560))
      .node("Conv", {"x", "w1", "b1"}, {"conv1"}, {same})
      .node("Relu", {"conv1"}, {"relu1"})
      .node("MaxPool", {"relu1"}, {"pool1"}, halve)
      .node("Conv", {"pool1", "w2"}, {"conv2"}, {same})
      .node("Relu", {"conv2"}, {"relu2"})
      .node("MaxPool", {"relu2"}, {"pool2"}, halve)
      .node("Flatten", {"pool2"}, {"flatten"})
      .node("Gemm", {"flatten", "w3", "b3"}, {"dense1"}, {OnnxBuilder::integer("transB", 1)})
      .node("Relu", {"dense1"}, {"relu3"})
      .node("Gemm", {"relu3", "w4"}, {"dense2"}, {OnnxBuilder::integer("transB", 1)})
      .node("Softmax", {"dense2"}, {"y"});
  const Graph graph = read(builder);
  CHECK(graph.name() == "net");
  CHECK(graph.node(0).name == "x");
  CHECK(graph.node(0).shape == Shape{28, 28, 1});
  CHECK(listed(graph) == Names{"conv1:Conv", "relu1:Relu", "pool1:MaxPool", "conv2:Conv",
                               "relu2:Relu", "pool2:MaxPool", "flatten:Flatten", "dense1:Gemm",
                               "relu3:Relu", "dense2:Gemm", "y:Softmax"});
  const Window window{.kernel_height = 2, .kernel_width = 2, .pad_bottom = 1, .pad_right = 1};
  CHECK(operation<Conv>(graph, 1).window == window);
  CHECK(operation<Conv>(graph, 1).bias == Floats(64, 1));
  CHECK(operation<Conv>(graph, 4).bias == Floats(32, 0));
  CHECK(graph.node(4).shape == Shape{14, 14, 32});
  CHECK(graph.node(7).shape == Shape{1, 1, 1568});
  CHECK(graph.output().shape == Shape{1, 1, 10});
}

TEST_CASE("a convolution's weight goes from OIHW to OHWI") {
  OnnxBuilder builder({1, 2, 3, 3});
  builder.floats("w", {2, 2, 1, 2}, counting(8)).node("Conv", {"x", "w"}, {"y"});
  // [o][i][x] = 4 o + 2 i + x becomes [o][x][i].
  CHECK(operation<Conv>(read(builder), 1).weight == Floats{0, 2, 1, 3, 4, 6, 5, 7});
}

TEST_CASE("a Gemm after a Flatten has its columns in NHWC order") {
  // Two channels of 1 x 3 pixels: ONNX's order is c0p0 c0p1 c0p2 c1p0 c1p1 c1p2.
  OnnxBuilder builder({-1, 2, 1, 3});
  builder.floats("w", {6, 2}, counting(12))
      .node("Flatten", {"x"}, {"f"})
      .node("Sigmoid", {"f"}, {"s"})
      .node("MatMul", {"s", "w"}, {"y"});
  const Graph graph = read(builder);
  CHECK(listed(graph) == Names{"f:Flatten", "s:Sigmoid", "y:Gemm"});
  // w[in][out] = 2 in + out; ours is [out][in] with in = c0p0 c1p0 c0p1 c1p1 c0p2 c1p2.
  CHECK(operation<Dense>(graph, 3).weight == Floats{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11});
  CHECK(operation<Dense>(graph, 3).bias == Floats{0, 0});
}
