#include "models/onnx_reader.h"

#include <onnx/onnx_pb.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/models/onnx_builder.h"
#include "tests/support/temporary_directory.h"

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

TEST_CASE("Gemm reads both orders of its matrix, alpha, beta and a broadcast bias") {
  OnnxBuilder builder({1, 2});
  builder.floats("w", {2, 3}, counting(6))
      .floats("c", {1}, {10})
      .node("Gemm", {"x", "w", "c"}, {"y"},
            {OnnxBuilder::real("alpha", 2), OnnxBuilder::real("beta", 0.5f)});
  // w[in][out] = 3 in + out, times 2.
  CHECK(operation<Dense>(read(builder), 1).weight == Floats{0, 6, 2, 8, 4, 10});
  CHECK(operation<Dense>(read(builder), 1).bias == Floats{5, 5, 5});
}

TEST_CASE("MatMul and an Add of a constant become one Dense, whichever side the constant is on") {
  for (const bool first : {false, true}) {
    OnnxBuilder builder({-1, 2});
    builder.floats("w", {2, 2}, {1, 2, 3, 4})
        .floats("b", {1, 2}, {5, 6})
        .node("MatMul", {"x", "w"}, {"m"})
        .node("Add", first ? Names{"b", "m"} : Names{"m", "b"}, {"y"});
    const Graph graph = read(builder);
    CHECK(listed(graph) == Names{"m:Gemm"});
    CHECK(operation<Dense>(graph, 1).weight == Floats{1, 3, 2, 4});
    CHECK(operation<Dense>(graph, 1).bias == Floats{5, 6});
  }
}

TEST_CASE("BatchNormalization and biases fold into the Conv before them") {
  OnnxBuilder builder({-1, 1, 2, 2});
  builder.floats("w", {2, 1, 1, 1}, {1, 2})
      .floats("b", {2}, {1, 1})
      .floats("scale", {2}, {3, 4})
      .floats("shift", {2}, {10, 20})
      .floats("mean", {2}, {1, 3})
      .floats("var", {2}, {3, 15})
      .floats("more", {2, 1, 1}, {100, 200})
      .node("Conv", {"x", "w", "b"}, {"c"})
      .node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, {"n"},
            {OnnxBuilder::real("epsilon", 1)})
      .node("Add", {"n", "more"}, {"y"});
  const Graph graph = read(builder);
  CHECK(listed(graph) == Names{"c:Conv"});
  // Factors 3 / sqrt(3 + 1) = 1.5 and 4 / sqrt(15 + 1) = 1.
  CHECK(operation<Conv>(graph, 1).weight == Floats{1.5f, 2});
  // (1 - 1) * 1.5 + 10 + 100 and (1 - 3) * 1 + 20 + 200.
  CHECK(operation<Conv>(graph, 1).bias == Floats{110, 218});
}

TEST_CASE("BatchNormalization that cannot be folded becomes a depthwise Conv") {
  OnnxBuilder builder({-1, 2, 2, 2});
  builder.floats("w", {2, 2, 1, 1}, {1, 2, 3, 4})
      .floats("one", {2}, {1, 1})
      .floats("two", {2}, {2, 4})
      .floats("zero", {2}, {0, 0})
      .node("Conv", {"x", "w"}, {"c"})
      .node("BatchNormalization", {"c", "two", "one", "zero", "one"}, {"n"},
            {OnnxBuilder::real("epsilon", 0)})
      .node("Add", {"c", "n"}, {"y"});
  const Graph graph = read(builder);
  CHECK(listed(graph) == Names{"c:Conv", "n:Conv", "y:Add"});
  CHECK(operation<Conv>(graph, 1).weight == Floats{1, 2, 3, 4});
  CHECK(operation<Conv>(graph, 2).groups == 2);
  CHECK(operation<Conv>(graph, 2).weight == Floats{2, 4});
  CHECK(operation<Conv>(graph, 2).bias == Floats{1, 1});
  CHECK(graph.node(3).inputs == std::vector<NodeId>{1, 2});
}

TEST_CASE("an Identity does not hide that a Conv has another reader") {
  OnnxBuilder builder({-1, 1, 2, 2});
  builder.floats("w", {1, 1, 1, 1}, {1})
      .floats("b", {1, 1, 1}, {5})
      .node("Conv", {"x", "w"}, {"c"})
      .node("Identity", {"c"}, {"i"})
      .node("Add", {"i", "b"}, {"a"})
      .node("Add", {"c", "a"}, {"y"});
  const Graph graph = read(builder);
  CHECK(listed(graph) == Names{"c:Conv", "a:Conv", "y:Add"});
  CHECK(operation<Conv>(graph, 1).bias == Floats{0});
  CHECK(operation<Conv>(graph, 2).bias == Floats{5});
}

TEST_CASE("a constant added to a flattened image is in NHWC order") {
  OnnxBuilder builder({-1, 2, 1, 2});
  builder.floats("b", {4}, {1, 2, 3, 4})
      .floats("w", {4, 1}, {1, 10, 100, 1000})
      .node("Flatten", {"x"}, {"f"})
      .node("Add", {"f", "b"}, {"a"})
      .node("MatMul", {"a", "w"}, {"y"});
  const Graph graph = read(builder);
  CHECK(operation<Conv>(graph, 2).bias == Floats{1, 3, 2, 4});
  CHECK(operation<Dense>(graph, 3).weight == Floats{1, 100, 10, 1000});
}

TEST_CASE("windows are read: strides, pads, dilations, auto_pad, ceil_mode") {
  const auto window = [](std::vector<OnnxBuilder::Attribute> attributes, std::int64_t height,
                         const char* op = "MaxPool") {
    OnnxBuilder builder({-1, 1, height, 9});
    builder.node(op, {"x"}, {"y"}, std::move(attributes));
    const Graph graph = read(builder);
    const auto* pool = std::get_if<MaxPool>(&graph.node(1).operation);
    return pool ? pool->window : operation<AveragePool>(graph, 1).window;
  };
  const auto kernel = OnnxBuilder::integers("kernel_shape", {3, 2});
  CHECK(window({kernel, OnnxBuilder::integers("strides", {2, 3}),
                OnnxBuilder::integers("dilations", {1, 4}),
                OnnxBuilder::integers("pads", {1, 0, 2, 3})},
               9) == Window{3, 2, 2, 3, 1, 4, 1, 0, 2, 3});
  // Height 8, stride 3, kernel 3: ceil(8 / 3) = 3 windows need 9. Width 9, kernel 2: 10.
  const auto strides = OnnxBuilder::integers("strides", {3, 1});
  CHECK(window({kernel, strides, OnnxBuilder::text("auto_pad", "SAME_UPPER")}, 8) ==
        Window{3, 2, 3, 1, 1, 1, 0, 0, 1, 1});
  CHECK(window({kernel, strides, OnnxBuilder::text("auto_pad", "SAME_LOWER")}, 8) ==
        Window{3, 2, 3, 1, 1, 1, 1, 1, 0, 0});
  CHECK(window({kernel, strides, OnnxBuilder::text("auto_pad", "VALID")}, 8) ==
        Window{3, 2, 3, 1, 1, 1, 0, 0, 0, 0});
  // Windows start at 0 and 3; a third, at 6, lacks 1 of its 3 rows.
  const auto ceiling = OnnxBuilder::integer("ceil_mode", 1);
  CHECK(window({kernel, strides, ceiling}, 8) == Window{3, 2, 3, 1, 1, 1, 0, 0, 1, 0});
  // With 6 rows the third would start beyond them, and is left out.
  CHECK(window({OnnxBuilder::integers("kernel_shape", {1, 2}), strides, ceiling}, 6) ==
        Window{1, 2, 3, 1, 1, 1, 0, 0, 0, 0});
  CHECK(window({}, 5, "GlobalAveragePool") == Window{5, 9, 1, 1, 1, 1, 0, 0, 0, 0});
}

TEST_CASE("Clip reads its bounds from attributes and from constants") {
  OnnxBuilder six({1, 4}, 7);
  six.node("Clip", {"x"}, {"y"}, {OnnxBuilder::real("min", -1), OnnxBuilder::real("max", 6)});
  CHECK(operation<Clip>(read(six), 1).low == -1);
  CHECK(operation<Clip>(read(six), 1).high == 6);
  OnnxBuilder thirteen({1, 4});
  thirteen.floats("top", {}, {6}).node("Clip", {"x", "", "top"}, {"y"});
  CHECK(operation<Clip>(read(thirteen), 1).low == std::numeric_limits<float>::lowest());
  CHECK(operation<Clip>(read(thirteen), 1).high == 6);
  OnnxBuilder relu({1, 4});
  relu.floats("zero", {}, {0}).node("Clip", {"x", "zero"}, {"y"});
  CHECK(listed(read(relu)) == Names{"y:Relu"});
}

TEST_CASE("Identity, Dropout and Reshapes that change nothing vanish; a flattening Reshape stays") {
  OnnxBuilder builder({-1, 2, 2, 2});
  builder.whole("same", {4}, {-1, 2, 0, 2})
      .whole("flat", {2}, {0, -1})
      .whole("flat2", {2}, {-1, 8})
      .whole("to2d", {2}, {8, -1})
      .floats("cube", {4, 2, 2}, counting(16))
      .floats("ratio", {}, {0.5f})
      .node("Identity", {"x"}, {"i"})
      .node("Dropout", {"i", "ratio"}, {"d"})
      .node("Reshape", {"d", "same"}, {"r"})
      .node("Tanh", {"r"}, {"t"})
      .node("Reshape", {"t", "flat"}, {"f"})
      .node("Reshape", {"f", "flat2"}, {"g"})
      .node("Reshape", {"cube", "to2d"}, {"matrix"})
      .node("MatMul", {"g", "matrix"}, {"y"});
  CHECK(listed(read(builder)) == Names{"t:Tanh", "f:Flatten", "y:Gemm"});
}

TEST_CASE("nodes may stand in any order, unnamed, and beside ones that nothing needs") {
  OnnxBuilder builder({-1, 1, 2, 2});
  builder.node("Relu", {"s"}, {"y"})
      .node("Nonsense", {"s"}, {"unused"})
      .node("Add", {"x", "t"}, {"s"})
      .node("Tanh", {"x"}, {"t"});
  for (auto& node : *builder.proto().mutable_graph()->mutable_node()) node.clear_name();
  CHECK(listed(read(builder)) == Names{"Tanh_3:Tanh", "Add_2:Add", "Relu_0:Relu"});
}

TEST_CASE("constants are read from every type and field that is supported") {
  using Proto = onnx::TensorProto;
  const auto bias = [](const Proto& tensor) {
    OnnxBuilder builder({-1, 1});
    builder.floats("w", {1, 3}, {0, 0, 0}).node("Gemm", {"x", "w", "b"}, {"y"});
    Proto& b = *builder.proto().mutable_graph()->add_initializer();
    b = tensor;
    b.set_name("b");
    b.add_dims(3);
    return operation<Dense>(read(builder), 1).bias;
  };
  Proto floats;
  floats.set_data_type(Proto::FLOAT);
  for (const float v : {1.5f, -2.0f, 3.0f}) floats.add_float_data(v);
  CHECK(bias(floats) == Floats{1.5f, -2, 3});
  Proto doubles;
  doubles.set_data_type(Proto::DOUBLE);
  const double raw[] = {1.5, -2, 3};
  doubles.set_raw_data(raw, sizeof raw);
  CHECK(bias(doubles) == Floats{1.5f, -2, 3});
  Proto halves;
  halves.set_data_type(Proto::FLOAT16);
  // 1.5 = 2^0 * 1.1b; -65504, the largest; 2^-24, the smallest above 0.
  for (const int v : {0x3e00, 0xfbff, 0x0001}) halves.add_int32_data(v);
  CHECK(bias(halves) == Floats{1.5f, -65504, std::ldexp(1.0f, -24)});
}

TEST_CASE("a known network and a path are told apart, and a typo is answered") {
  const tilewave::test::TemporaryDirectory directory;
  OnnxBuilder builder({-1, 4});
  builder.node("Relu", {"x"}, {"y"});
  directory.write("small.onnx", builder.bytes());
  CHECK(load_model(directory.path("small.onnx")).name() == "small");
  CHECK_THROWS_WITH(load_model("mnist_cn"),
                    "model mnist_cn: is neither a known name nor a file (did you mean mnist_cnn?)");
  CHECK(model_names() == Names{"mnist_cnn", "mnist_cnn_w4a4", "fashion_cnn"});
}
