#include <onnx/onnx_pb.h>

#include <catch2/catch.hpp>
#include <limits>

#include "base/error.h"
#include "models/onnx_reader.h"
#include "tests/models/onnx_builder.h"

using namespace tilewave::models;
using tilewave::InputError;
using tilewave::test::OnnxBuilder;
using Attribute = OnnxBuilder::Attribute;
using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;
using Proto = onnx::TensorProto;

namespace {

std::string error_of(const Bytes& bytes) {
  try {
    parse_onnx(bytes, "a.onnx");
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}
std::string error_of(const OnnxBuilder& builder) {
  return error_of(builder.bytes());
}

/// The error for one node that reads "x" of this shape and constants "w" (4 x 2) and "b" (2).
std::string error_of_node(OnnxBuilder::Dims input, const std::string& op,
                          std::vector<std::string> inputs = {"x"},
                          std::vector<Attribute> attributes = {}) {
  OnnxBuilder builder(std::move(input));
  builder.floats("w", {4, 2}, Floats(8)).floats("b", {2}, Floats(2));
  return error_of(builder.node(op, std::move(inputs), {"y"}, std::move(attributes)));
}

/// A small network with every kind of node, to be damaged.
OnnxBuilder sample() {
  OnnxBuilder builder({-1, 1, 4, 4});
  builder.floats("w", {2, 1, 2, 2}, Floats(8, 0.5f))
      .floats("b", {2}, {1, 2})
      .floats("m", {8, 3}, Floats(24, 0.25f))
      .whole("flat", {2}, {0, -1})
      .node("Conv", {"x", "w", "b"}, {"c"}, {OnnxBuilder::text("auto_pad", "SAME_UPPER")})
      .node("BatchNormalization", {"c", "b", "b", "b", "b"}, {"n"})
      .node("Relu", {"n"}, {"r"})
      .node("Add", {"r", "n"}, {"s"})
      .node(
          "MaxPool", {"s"}, {"p"},
          {OnnxBuilder::integers("kernel_shape", {2, 2}), OnnxBuilder::integers("strides", {2, 2})})
      .node("Reshape", {"p", "flat"}, {"f"})
      .node("MatMul", {"f", "m"}, {"d"})
      .node("Softmax", {"d"}, {"y"});
  return builder;
}

/// A tensor without data, as an initializer that a Gemm reads.
template <typename Change>
std::string error_of_tensor(Change change) {
  OnnxBuilder builder({-1, 4});
  builder.node("Gemm", {"x", "t"}, {"y"});
  Proto& tensor = *builder.proto().mutable_graph()->add_initializer();
  tensor.set_name("t");
  tensor.set_data_type(Proto::FLOAT);
  change(tensor);
  return error_of(builder);
}

}  // namespace

TEST_CASE("an ONNX file cut anywhere reads or is an input error") {
  const Bytes whole = sample().bytes();
  REQUIRE(error_of(whole) == "no error");
  CHECK(error_of(Bytes{}) == "a.onnx: file: is not an ONNX model: it has no graph");
  CHECK(error_of(Bytes(whole.begin(), whole.end() - 1)) ==
        "a.onnx: file: is not an ONNX model, or is damaged");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    REQUIRE_NOTHROW(error_of(Bytes(whole.begin(), whole.begin() + static_cast<long>(size))));
  }
}

TEST_CASE("an ONNX file with any bit flipped reads or is an input error of one line") {
  const Bytes whole = sample().bytes();
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    CAPTURE(bit);
    Bytes broken = whole;
    broken[bit / 8] = static_cast<std::uint8_t>(broken[bit / 8] ^ (1u << bit % 8));
    std::string error;
    REQUIRE_NOTHROW(error = error_of(broken));
    REQUIRE(error.find('\n') == std::string::npos);
  }
}

TEST_CASE("a tensor of too many elements or of a negative size is refused") {
  CHECK(error_of_tensor([](Proto& t) {
          t.add_dims(std::int64_t{1} << 20);
          t.add_dims(std::int64_t{1} << 20);
        }) == "a.onnx: tensor t: has a shape with too many elements (at most 2147483647)");
  CHECK(error_of_tensor([](Proto& t) {
          for (int i = 0; i < 4; ++i) t.add_dims(std::numeric_limits<std::int64_t>::max());
        }) == "a.onnx: tensor t: has a shape with too many elements (at most 2147483647)");
  CHECK(error_of_tensor([](Proto& t) {
          t.add_dims(-4);
          t.add_dims(-1);
        }) == "a.onnx: tensor t: has a dimension of -4");
  CHECK(error_of_tensor([](Proto& t) {
          t.add_dims(1 << 30);
          t.set_raw_data("abcd");
        }) == "a.onnx: tensor t: has raw data of 4 bytes (4294967296 expected from its shape)");
  CHECK(error_of_tensor([](Proto& t) { t.add_dims(1 << 30); }) ==
        "a.onnx: tensor t: has 0 values (1073741824 expected from its shape)");
  CHECK(error_of_tensor([](Proto& t) { t.add_dims(0); }) ==
        "a.onnx: node y (Gemm): input 1, t, is empty");
}

TEST_CASE("a tensor's data must be in the file, finite and of a type that is supported") {
  CHECK(error_of_tensor([](Proto& t) { t.set_data_location(Proto::EXTERNAL); }) ==
        "a.onnx: tensor t: has its data in another file (data within the ONNX file)");
  CHECK(error_of_tensor([](Proto& t) { t.mutable_segment()->set_begin(0); }) ==
        "a.onnx: tensor t: is a segment of a tensor");
  CHECK(error_of_tensor([](Proto& t) { t.set_data_type(Proto::STRING); }) ==
        "a.onnx: node y (Gemm): input 1, t, is of type STRING (FLOAT, DOUBLE or FLOAT16)");
  CHECK(error_of_tensor([](Proto& t) { t.set_data_type(77); }) ==
        "a.onnx: node y (Gemm): input 1, t, is of type type 77 (FLOAT, DOUBLE or FLOAT16)");
  CHECK(error_of_tensor([](Proto& t) {
          t.add_dims(2);
          t.add_float_data(1);
          t.add_float_data(std::numeric_limits<float>::quiet_NaN());
        }) == "a.onnx: tensor t: value 1 is NaN");
  CHECK(error_of_tensor([](Proto& t) {
          t.add_dims(4);
          t.add_dims(1);
          for (int i = 0; i < 4; ++i) t.add_float_data(std::numeric_limits<float>::infinity());
        }) == "a.onnx: node y (Gemm): weight[0] is infinite (finite values)");
}

TEST_CASE("tensors shared so often that they fill the memory are refused") {
  OnnxBuilder builder({-1, 1024});
  builder.floats("w", {1024, 1024}, Floats(1024 * 1024));
  std::string from = "x";
  for (int i = 0; i < 40; ++i) {
    const std::string to = i == 39 ? "y" : "t" + std::to_string(i);
    builder.node("MatMul", {from, "w"}, {to});
    from = to;
  }
  CHECK_THAT(error_of(builder),
             Catch::Contains("shares tensors of the file so often that its weights do not fit"));
}

TEST_CASE("the input must have one shape but for its batch") {
  const auto with_dims = [](OnnxBuilder::Dims dims) {
    return error_of(std::move(OnnxBuilder(std::move(dims)).node("Relu", {"x"}, {"y"})));
  };
  CHECK(with_dims({-1, 1, 4, -1}) ==
        "a.onnx: input x: dimension 3 N has no fixed size (only the batch, dimension 0, may have "
        "any)");
  CHECK(with_dims({1, -2, 4, 4}) == "a.onnx: input x: dimension 1 is -2 (1 to 2147483647)");
  CHECK(with_dims({-7, 4}) == "a.onnx: input x: dimension 0 is -7 (1 to 2147483647)");
  CHECK(with_dims({1, std::int64_t{1} << 40}) ==
        "a.onnx: input x: dimension 1 is 1099511627776 (1 to 2147483647)");
  CHECK(with_dims({1, 1 << 20, 1 << 20, 1}) ==
        "a.onnx: node x (Input): the shape 1048576 x 1 x 1048576 is out of range (height x width x "
        "channels of 1 to 2147483647 in all)");
  CHECK(with_dims({1, 2, 3}) ==
        "a.onnx: input x: has 3 dimensions ([batch, channels, height, width] or [batch, "
        "elements])");
  OnnxBuilder bytes({1, 4});
  bytes.node("Relu", {"x"}, {"y"});
  bytes.proto()
      .mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(Proto::UINT8);
  CHECK(error_of(bytes) == "a.onnx: input x: is not a tensor of FLOAT (images as FLOAT)");
}

TEST_CASE("a graph has one input, one output, no cycle and no loose end") {
  OnnxBuilder cycle({1, 4});
  cycle.node("Add", {"x", "b"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Tanh", {"b"}, {"y"});
  CHECK(error_of(cycle) ==
        "a.onnx: node a (Add): depends on its own output: the graph has a cycle");
  OnnxBuilder self({1, 4});
  self.node("Relu", {"y"}, {"y"});
  CHECK(error_of(self) ==
        "a.onnx: node y (Relu): depends on its own output: the graph has a cycle");
  CHECK(error_of_node({1, 4}, "Relu", {"nowhere"}) ==
        "a.onnx: node y (Relu): reads tensor nowhere, which nothing makes");
  CHECK(error_of(std::move(OnnxBuilder({1, 4}).node("Relu", {"x"}, {"z"}))) ==
        "a.onnx: output y: is made by no node");
  CHECK(error_of_node({1, 4}, "Identity") == "a.onnx: graph: has no node that computes anything");

  OnnxBuilder twice({1, 4});
  twice.node("Relu", {"x"}, {"y"}).node("Tanh", {"x"}, {"y"});
  CHECK(error_of(twice) == "a.onnx: node y (Tanh): another node has this name");
  twice.proto().mutable_graph()->mutable_node(1)->set_name("other");
  CHECK(error_of(twice) == "a.onnx: node other (Tanh): tensor y is made twice");
  OnnxBuilder constants({1, 4});
  constants.floats("w", {1}, {1}).floats("w", {1}, {1}).node("Relu", {"x"}, {"y"});
  CHECK(error_of(constants) == "a.onnx: tensor w: is made twice");

  OnnxBuilder ends({1, 4});
  ends.node("Relu", {"x"}, {"y"});
  onnx::GraphProto& graph = *ends.proto().mutable_graph();
  graph.add_output()->set_name("z");
  CHECK(error_of(ends) == "a.onnx: graph: has 2 outputs (one)");
  graph.mutable_output()->RemoveLast();
  graph.add_input()->set_name("x2");
  CHECK(error_of(ends) == "a.onnx: graph: has several inputs, x and x2 (one)");
  graph.clear_input();
  CHECK(error_of(ends) == "a.onnx: graph: has no input");
}

TEST_CASE("an operator, opset or attribute that is not supported is named") {
  CHECK(error_of_node({1, 4}, "LSTM") ==
        "a.onnx: node y (LSTM): operator LSTM is not supported (supported are Add, AveragePool, "
        "BatchNormalization, Clip, Constant, Conv, Dropout, Flatten, Gemm, GlobalAveragePool, "
        "Identity, MatMul, MaxPool, Relu, Reshape, Sigmoid, Softmax, Tanh)");
  OnnxBuilder domain({1, 4});
  domain.node("Relu", {"x"}, {"y"});
  domain.proto().mutable_graph()->mutable_node(0)->set_domain("my");
  CHECK_THAT(error_of(domain), Catch::Contains("node y (my:Relu): operator my:Relu is not"));
  CHECK(error_of(std::move(OnnxBuilder({1, 4}, 6).node("Relu", {"x"}, {"y"}))) ==
        "a.onnx: opset: is 6 (7 or later)");
  CHECK(error_of_node({1, 4}, "Relu", {"x"}, {OnnxBuilder::integer("alpha", 1)}) ==
        "a.onnx: node y (Relu): attribute alpha is not known");
  CHECK(error_of_node({1, 4}, "Gemm", {"x", "w"}, {OnnxBuilder::real("transB", 1)}) ==
        "a.onnx: node y (Gemm): attribute transB has another type (INT)");
  CHECK(error_of_node({1, 4}, "Relu", {"x", "x"}) ==
        "a.onnx: node y (Relu): has 2 inputs (1 to 1)");
  CHECK(error_of_node({1, 4}, "Relu", {""}) ==
        "a.onnx: node y (Relu): leaves out an input that it needs");
}

TEST_CASE("what a node's inputs and attributes must be is said") {
  CHECK(error_of_node({1, 3}, "Gemm", {"x", "w"}) ==
        "a.onnx: node y (Gemm): its matrix is for 4 inputs (the input has 3 elements)");
  CHECK(error_of_node({1, 4}, "Gemm", {"x", "b"}) ==
        "a.onnx: node y (Gemm): its matrix has 1 dimensions (2)");
  CHECK(error_of_node({1, 4}, "Gemm", {"x", "x"}) ==
        "a.onnx: node y (Gemm): input 1, x, is not a constant");
  CHECK(error_of_node({1, 4}, "Gemm", {"x", "w", "w"}) ==
        "a.onnx: node y (Gemm): constant w is not one value per channel (1 or 2 values along the "
        "channels)");
  CHECK(error_of_node({1, 4}, "Gemm", {"x", "w"}, {OnnxBuilder::integer("transA", 1)}) ==
        "a.onnx: node y (Gemm): transA is not 0 (0)");
  CHECK(error_of_node({1, 4, 1, 1}, "MatMul", {"x", "w"}) ==
        "a.onnx: node y (MatMul): its input has 4 dimensions (2: batch, elements)");
  CHECK(error_of_node({1, 4}, "Conv", {"x", "w"}) ==
        "a.onnx: node y (Conv): its input has 2 dimensions (4: batch, channels, height, width)");
  CHECK(error_of_node({1, 4, 2, 2}, "Conv", {"x", "w"}) ==
        "a.onnx: node y (Conv): its weight has 2 dimensions (4: outputs, channels per group, "
        "height, width)");
  CHECK(error_of_node({1, 4, 2, 2}, "MaxPool") ==
        "a.onnx: node y (MaxPool): kernel_shape is missing or wrong (2 values of 1 to "
        "2147483647)");
  const Attribute kernel = OnnxBuilder::integers("kernel_shape", {2, 2});
  CHECK(error_of_node({1, 4, 4, 4}, "MaxPool", {"x"},
                      {kernel, OnnxBuilder::integers("strides", {0, 1})}) ==
        "a.onnx: node y (MaxPool): strides is [0, 1] (2 values of 1 to 2147483647)");
  CHECK(error_of_node({1, 4, 4, 4}, "MaxPool", {"x"},
                      {kernel, OnnxBuilder::integers("pads", {2, 0, 0, 0})}) ==
        "a.onnx: node y (MaxPool): padding of 2 is not smaller than the window's height (less than "
        "2)");
  CHECK(error_of_node({1, 4, 4, 4}, "MaxPool", {"x"},
                      {kernel, OnnxBuilder::text("auto_pad", "SAME")}) ==
        "a.onnx: node y (MaxPool): auto_pad is SAME (NOTSET, VALID, SAME_UPPER or SAME_LOWER)");
  CHECK(error_of_node(
            {1, 4, 5, 5}, "AveragePool", {"x"},
            {kernel, OnnxBuilder::integers("strides", {2, 2}), OnnxBuilder::integer("ceil_mode", 1),
             OnnxBuilder::integer("count_include_pad", 1)}) ==
        "a.onnx: node y (AveragePool): ceil_mode with count_include_pad is not supported");
  CHECK(error_of_node({1, 2, 2, 2}, "BatchNormalization", {"x", "b", "b", "b", "w"}) ==
        "a.onnx: node y (BatchNormalization): input 4 has 8 values in 2 dimensions (2 in 1, as "
        "there are channels)");
  CHECK(error_of_node({1, 2, 2, 2}, "BatchNormalization", {"x", "b", "b", "b", "b"},
                      {OnnxBuilder::real("epsilon", 0)}) ==
        "a.onnx: node y (BatchNormalization): the variance of channel 0 is 0 (variance + epsilon "
        "above 0)");
  CHECK(error_of_node({1, 2, 2, 2}, "Add", {"x", "w"}) ==
        "a.onnx: node y (Add): constant w is not one value per channel (1 or 2 values along the "
        "channels)");
  CHECK(error_of_node({1, 4}, "Add", {"b", "b"}) ==
        "a.onnx: node y (Add): tensor b is a constant (a tensor made from the input)");
  CHECK(error_of_node({1, 4}, "Clip", {"x", "b"}) ==
        "a.onnx: node y (Clip): input 1 has 2 values (one)");
  CHECK(error_of_node({1, 4, 2, 2}, "Flatten", {"x"}, {OnnxBuilder::integer("axis", 2)}) ==
        "a.onnx: node y (Flatten): axis is 2 (1)");
  CHECK(error_of_node({1, 4}, "Constant", {}) ==
        "a.onnx: node y (Constant): has no value (a tensor, numbers or a number)");
  CHECK(error_of_node({1, 4}, "Dropout", {"x", "", "b"}) ==
        "a.onnx: node y (Dropout): may be in training mode (training_mode a constant false)");
}

TEST_CASE("a Reshape that is not a flatten is refused") {
  const auto reshape = [](OnnxBuilder::Dims target, std::int64_t batch = -1) {
    OnnxBuilder builder({batch, 2, 2, 2});
    const auto rank = static_cast<std::int64_t>(target.size());
    builder.whole("s", {rank}, target)
        .floats("w", {8, 1}, Floats(8))
        .node("Reshape", {"x", "s"}, {"r"})
        .node("MatMul", {"r", "w"}, {"y"});
    return error_of(builder);
  };
  const std::string refused =
      "a.onnx: node r (Reshape): reshapes to something else than [batch, elements] ([-1, 8] or "
      "[0, -1])";
  CHECK(reshape({-1, 8}) == "no error");
  CHECK(reshape({0, -1}) == "no error");
  CHECK(reshape({3, 8}, 3) == "no error");
  CHECK(reshape({1, 8}) == refused);
  CHECK(reshape({-1, 4}) == refused);
  CHECK(reshape({-1, -1}) == refused);
  CHECK(reshape({0, 0}) == refused);
  CHECK(reshape({8, -1}) == refused);
  CHECK(reshape({-1, 2, 4}) == refused);
}

TEST_CASE("a flattened image may only reach what can take its order") {
  OnnxBuilder output({-1, 2, 2, 2});
  output.node("Flatten", {"x"}, {"f"}).node("Relu", {"f"}, {"y"});
  CHECK(
      error_of(output) ==
      "a.onnx: output y: is a flattened image of 4 pixels and 2 channels, whose order of elements "
      "is not kept (flattened images only before Gemm or MatMul)");
  OnnxBuilder softmax({-1, 2, 2, 2});
  softmax.node("Flatten", {"x"}, {"f"}).node("Softmax", {"f"}, {"y"});
  CHECK(error_of(softmax) ==
        "a.onnx: node y (Softmax): is a flattened image of 4 pixels and 2 channels, whose order of "
        "elements is not kept (flattened images only before Gemm or MatMul)");
  OnnxBuilder one_channel({-1, 1, 2, 2});
  one_channel.node("Flatten", {"x"}, {"f"}).node("Softmax", {"f"}, {"y"});
  CHECK(error_of(one_channel) == "no error");
  OnnxBuilder mixed({-1, 2, 2, 1});
  mixed.floats("w", {4, 4}, Floats(16))
      .node("Flatten", {"x"}, {"f"})
      .node("MatMul", {"f", "w"}, {"g"})
      .node("Add", {"f", "g"}, {"y"});
  CHECK(error_of(mixed) ==
        "a.onnx: node y (Add): its inputs differ in their dimensions (two tensors of the same "
        "shape)");
}

TEST_CASE("a name with control characters stays on one line") {
  OnnxBuilder builder({1, 4});
  builder.node("LSTM\n", {"x"}, {"y"});
  builder.proto().mutable_graph()->mutable_node(0)->set_name("two\nlines\x1b[31m");
  CHECK_THAT(error_of(builder), Catch::StartsWith("a.onnx: node two?lines?[31m (LSTM?): operator"));
}
