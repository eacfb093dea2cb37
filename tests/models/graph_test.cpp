#include "models/graph.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <limits>

#include "base/error.h"

using namespace tilewave::models;
using Catch::Contains;
using tilewave::InputError;

namespace {

/// The number of places at which a window can stand, by trying every one.
std::int64_t places(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                    std::int64_t dilation, std::int64_t before, std::int64_t after) {
  std::int64_t count = 0;
  for (std::int64_t start = -before;; start += stride) {
    std::int64_t last_tap = start;
    for (std::int64_t tap = 1; tap < kernel; ++tap) last_tap += dilation;
    if (last_tap >= size + after) return count;
    ++count;
  }
}

Conv conv_1x1(std::size_t in, std::size_t out) {
  return {.window = {}, .weight = std::vector<float>(in * out), .bias = std::vector<float>(out)};
}

Graph small_graph() {
  return {"g", {4, 4, 2}};
}

}  // namespace

TEST_CASE("a window's output shape equals the count of its places") {
  REQUIRE(rc::check([] {
    const auto in = [](int low, int high) { return std::int64_t{*rc::gen::inRange(low, high)}; };
    const Shape input{in(1, 20), in(1, 20), in(1, 4)};
    const Window w{in(1, 6), in(1, 6), in(1, 5), in(1, 5), in(1, 4),
                   in(1, 4), in(0, 4), in(0, 4), in(0, 4), in(0, 4)};
    const Shape expected{places(input.height, w.kernel_height, w.stride_height, w.dilation_height,
                                w.pad_top, w.pad_bottom),
                         places(input.width, w.kernel_width, w.stride_width, w.dilation_width,
                                w.pad_left, w.pad_right),
                         input.channels};
    if (expected.height == 0 || expected.width == 0) {
      RC_ASSERT_THROWS_AS(windowed_shape(w, input, "w"), InputError);
    } else {
      RC_ASSERT(windowed_shape(w, input, "w") == expected);
    }
  }));
}

TEST_CASE("a pool is accepted only if every window holds a place of the input") {
  REQUIRE(rc::check([] {
    const auto in = [](int low, int high) { return std::int64_t{*rc::gen::inRange(low, high)}; };
    const std::int64_t size = in(1, 8);
    const Window w{.kernel_height = in(1, 5),
                   .stride_height = in(1, 4),
                   .dilation_height = in(1, 5),
                   .pad_top = in(0, 6),
                   .pad_bottom = in(0, 6)};
    Graph graph("g", {size, 1, 1});
    try {
      graph.add("pool", MaxPool{w}, {0});
    } catch (const InputError&) {
      return;
    }
    for (std::int64_t out = 0; out < graph.output().shape.height; ++out) {
      bool inside = false;
      for (std::int64_t tap = 0; tap < w.kernel_height; ++tap) {
        const std::int64_t at = out * w.stride_height - w.pad_top + tap * w.dilation_height;
        inside = inside || (at >= 0 && at < size);
      }
      RC_ASSERT(inside);
    }
  }));
}

TEST_CASE("the shapes of the seed's network are inferred") {
  const Window same{.kernel_height = 2, .kernel_width = 2, .pad_bottom = 1, .pad_right = 1};
  const Window halve{.kernel_height = 2, .kernel_width = 2, .stride_height = 2, .stride_width = 2};
  Graph graph("cnn", {28, 28, 1});
  auto id = graph.add(
      "conv1",
      Conv{.window = same, .weight = std::vector<float>(64 * 4), .bias = std::vector<float>(64)},
      {0});
  CHECK(graph.node(id).shape == Shape{28, 28, 64});
  id = graph.add("relu1", Relu{}, {id});
  id = graph.add("pool1", MaxPool{halve}, {id});
  CHECK(graph.node(id).shape == Shape{14, 14, 64});
  id = graph.add("flatten", Flatten{}, {id});
  CHECK(graph.node(id).shape == Shape{1, 1, 12544});
  id = graph.add("dense", Dense{std::vector<float>(125440), std::vector<float>(10)}, {id});
  id = graph.add("softmax", Softmax{}, {id});
  CHECK(graph.output().shape == Shape{1, 1, 10});
  CHECK(operation_name(graph.node(1).operation) == "Conv");
  CHECK(operation_name(graph.node(5).operation) == "Gemm");
  CHECK(operation_name(graph.output().operation) == "Softmax");
}

TEST_CASE("consumers are the nodes that read a tensor, each once") {
  Graph graph = small_graph();
  const NodeId relu = graph.add("relu", Relu{}, {0});
  const NodeId twice = graph.add("twice", Add{}, {relu, relu});
  const NodeId sum = graph.add("sum", Add{}, {relu, twice});
  CHECK(graph.consumers(relu) == std::vector<NodeId>{twice, sum});
  CHECK(graph.consumers(sum).empty());
}

TEST_CASE("a graph's errors name the node and what is allowed") {
  Graph graph = small_graph();
  const auto error = [&](Operation operation, std::vector<NodeId> inputs, const char* name = "n") {
    try {
      graph.add(name, std::move(operation), std::move(inputs));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK(error(Relu{}, {1}) == "node n (Relu): reads node number 1 (earlier nodes)");
  CHECK(error(Relu{}, {-1}) == "node n (Relu): reads node number -1 (earlier nodes)");
  CHECK(error(Add{}, {0}) == "node n (Add): has 1 inputs (2)");
  CHECK(error(Relu{}, {0}, "input") == "node input (Relu): another node has this name");
  CHECK(error(Relu{}, {0}, "") == "node  (Relu): the name is empty");
  CHECK(error(Input{}, {}) == "node n (Input): a graph has one Input, its node 0");
  CHECK(
      error(Clip{2, 1}, {0}) ==
      "node n (Clip): clips to [2.000000, 1.000000] (a low bound that is not above the high one)");
  CHECK(error(Softmax{}, {0}) ==
        "node n (Softmax): its input is 4 x 4 x 2 (a flat tensor, 1 x 1 x n)");
  CHECK(error(conv_1x1(3, 4), {0}) ==
        "node n (Conv): the weight has 12 values (8 expected from the shapes)");
  CHECK(error(conv_1x1(2, 0), {0}) ==
        "node n (Conv): the number of outputs (biases) is 0 (1 to 2147483647)");
  Conv grouped = conv_1x1(2, 4);
  grouped.groups = 3;
  CHECK(error(grouped, {0}) ==
        "node n (Conv): groups is 3 (a divisor of the input's 2 and the output's 4 channels)");
  CHECK(error(Dense{std::vector<float>(5), std::vector<float>(1)}, {0}) ==
        "node n (Gemm): the weight has 5 values (32 expected from the shapes)");
  Conv broken = conv_1x1(2, 1);
  broken.weight[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK(error(broken, {0}) == "node n (Conv): weight[1] is NaN (finite values)");
  broken = conv_1x1(2, 1);
  broken.bias[0] = std::numeric_limits<float>::infinity();
  CHECK(error(broken, {0}) == "node n (Conv): bias[0] is infinite (finite values)");
  CHECK(error(MaxPool{{.stride_width = 0}}, {0}) ==
        "node n (MaxPool): stride width is 0 (1 to 2147483647)");
  CHECK(error(MaxPool{{.kernel_height = 5}}, {0}) ==
        "node n (MaxPool): the window's height of 5 does not fit the padded input's 4");
  CHECK(error(MaxPool{{.kernel_width = 2, .pad_right = 2}}, {0}) ==
        "node n (MaxPool): padding of 2 is not smaller than the window's width (less than 2)");
  CHECK_THAT(error(MaxPool{{.kernel_width = 2, .dilation_width = 5, .pad_left = 3}}, {0}),
             Contains("a dilation of 5 can place the whole window outside the input"));
  CHECK(graph.nodes().size() == 1);

  graph.add("relu", Relu{}, {0});
  const NodeId pool =
      graph.add("pool", AveragePool{{.kernel_height = 4, .kernel_width = 4}, false}, {0});
  CHECK(error(Add{}, {0, pool}) ==
        "node n (Add): cannot add 4 x 4 x 2 and 1 x 1 x 2 (two tensors of the same shape)");
  graph.add("softmax", Softmax{}, {pool});
  CHECK(error(Relu{}, {0}) == "node n (Relu): follows a Softmax (a Softmax only as the last node)");
}

TEST_CASE("sizes that overflow are refused, not computed") {
  const std::int64_t huge = std::int64_t{1} << 40;
  CHECK_THROWS_WITH(Graph("g", {1, 1, huge}), Contains("1 x 1 x 1099511627776 is out of range"));
  CHECK_THROWS_WITH(Graph("g", {1 << 20, 1 << 20, 1}), Contains("is out of range"));
  CHECK_THROWS_WITH(Graph("g", {-1, -1, 1}), Contains("-1 x -1 x 1 is out of range"));
  CHECK_THROWS_WITH(Graph("g", {0, 1, 1}), Contains("is out of range"));
  CHECK_NOTHROW(Graph("g", {1, 1, kMaxElements}));

  Graph graph("g", {1 << 15, 1 << 15, 1});
  const std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_AS(graph.add("k", MaxPool{{.kernel_height = limit}}, {0}), InputError);
  CHECK_THROWS_AS(graph.add("d", MaxPool{{.kernel_height = 2, .dilation_height = limit}}, {0}),
                  InputError);
  CHECK_THROWS_AS(graph.add("p", MaxPool{{.pad_top = limit, .pad_bottom = limit}}, {0}),
                  InputError);
  CHECK_THROWS_WITH(
      graph.add("wide", Conv{.window = {}, .weight = {1, 1}, .bias = {0, 0}}, {0}),
      "node wide (Conv): the shape 32768 x 32768 x 2 is out of range (height x width x channels of "
      "1 to 2147483647 in all)");
  CHECK_THROWS_WITH(graph.add("few", Dense{{1}, {1, 1}}, {0}),
                    Contains("2147483648 expected from the shapes"));
}
