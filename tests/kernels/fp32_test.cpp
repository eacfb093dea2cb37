#include "kernels/cpu/fp32.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"
#include "kernels/reference.h"
#include "tests/kernels/naive_fp32.h"
#include "tests/kernels/network_builder.h"
#include "tests/kernels/random_window.h"

namespace tilewave::kernels {
namespace {

using tests::NaiveFp32;
using tests::NetworkBuilder;
using tests::pick;
using tests::random_window;
using tests::Real;

bool within_bound(std::span<const float> fast, const std::vector<Real>& naive) {
  if (fast.size() != naive.size()) return false;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    if (!(std::abs(double{fast[i]} - naive[i].value) <= naive[i].bound)) {
      WARN("value " << i << ": " << fast[i] << ", expected " << naive[i].value << " +- "
                    << naive[i].bound);
      return false;
    }
  }
  return true;
}

/// Every image's output, by the reference path, is within the bound.
bool outputs_agree(const models::Graph& graph, const std::vector<std::uint8_t>& pixels,
                   ReferenceOptions options) {
  const Outputs outputs = make_cpu_fp32(graph, options)->run(pixels);
  const auto image_size = static_cast<std::size_t>(graph.nodes().front().shape.elements());
  const auto classes = static_cast<std::size_t>(outputs.classes);
  for (std::size_t image = 0; image < pixels.size() / image_size; ++image) {
    const auto naive =
        NaiveFp32::run(graph, std::span(pixels).subspan(image * image_size, image_size));
    if (!within_bound(std::span(outputs.real).subspan(image * classes, classes), naive.back())) {
      return false;
    }
  }
  return true;
}

std::uint32_t random_seed() {
  return *rc::gen::arbitrary<std::uint32_t>();
}

TEST_CASE("a convolution with any window and groups equals the naive sums in fp32") {
  REQUIRE(rc::check([] {
    const int groups = pick(1, 4);
    const int channels = groups * pick(1, 5);
    NetworkBuilder b({pick(7, 12), pick(7, 12), channels}, random_seed());
    b.conv(0, random_window(3), groups * pick(1, 9), groups);
    RC_ASSERT(outputs_agree(b.graph, b.images(pick(1, 5)), {.threads = pick(1, 2), .batch = 3}));
  }));
}

TEST_CASE("a depthwise convolution equals the naive sums in fp32") {
  REQUIRE(rc::check([] {
    const int channels = pick(2, 19);
    NetworkBuilder b({pick(7, 12), pick(7, 12), channels}, random_seed());
    b.conv(0, random_window(3), channels, channels);
    b.then(models::Clip{-0.25F, 0.75F});
    RC_ASSERT(outputs_agree(b.graph, b.images(2), {}));
  }));
}

TEST_CASE("a pool with any window equals the naive pool in fp32") {
  REQUIRE(rc::check([] {
    NetworkBuilder b({pick(9, 12), pick(9, 12), pick(1, 9)}, random_seed());
    models::Window window = random_window(3);
    // A pool's padding is smaller than its window.
    for (auto* pad : {&window.pad_top, &window.pad_bottom}) {
      *pad = std::min(*pad, (window.kernel_height - 1) * window.dilation_height);
    }
    for (auto* pad : {&window.pad_left, &window.pad_right}) {
      *pad = std::min(*pad, (window.kernel_width - 1) * window.dilation_width);
    }
    if (pick(0, 1) == 0) {
      b.add(models::MaxPool{window}, {0});
    } else {
      b.add(models::AveragePool{window, pick(0, 1) == 0}, {0});
    }
    RC_ASSERT(outputs_agree(b.graph, b.images(3), {}));
  }));
}

TEST_CASE("a convolution and the pooling after it equal the naive network in fp32") {
  REQUIRE(rc::check([] {
    const int groups = pick(1, 2);
    NetworkBuilder b({pick(9, 14), pick(9, 14), groups * pick(1, 3)}, random_seed());
    b.conv(0, random_window(2), groups * pick(1, 40), groups);
    if (pick(0, 1) == 0) b.then(models::Clip{-0.25F, 0.75F});
    // Mostly windows side by side, which are done with the convolution.
    models::Window pool{.kernel_height = pick(1, 3), .kernel_width = pick(1, 2)};
    pool.stride_height = pick(0, 3) == 0 ? 1 : pool.kernel_height;
    pool.stride_width = pick(0, 3) == 0 ? 1 : pool.kernel_width;
    const auto pooled = b.then(models::MaxPool{pool});
    // Sometimes the convolution has another reader, which needs all of it.
    if (pick(0, 3) == 0) {
      b.add(models::MaxPool{pool}, b.graph.node(pooled).inputs);
      b.add(models::Add{}, {pooled, pooled + 1});
    }
    RC_ASSERT(outputs_agree(b.graph, b.images(5), {.threads = pick(1, 3), .batch = pick(1, 20)}));
  }));
}

TEST_CASE("a long contraction over many chunks of rows equals the naive sums in fp32") {
  NetworkBuilder b({17, 15, 512}, 1);
  b.conv(0, {.kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1}, 5);
  CHECK(outputs_agree(b.graph, b.images(2), {}));
}

TEST_CASE("every node of a network with every operation equals the naive evaluation in fp32") {
  for (const auto* vector : {&portable_vector_kernels(), &best_vector_kernels()}) {
    auto b = tests::every_operation(7);
    const auto pixels = b.images(1);
    const auto naive = NaiveFp32::run(b.graph, pixels);
    for (const auto fusion : {Fp32Network::Fusion::none, Fp32Network::Fusion::full}) {
      const Fp32Network network(b.graph, *vector, fusion);
      auto tensors = network.make_tensors();
      auto scratch = network.make_scratch();
      std::size_t visited = 0;
      const auto output = network.forward(
          pixels, tensors, scratch, [&](models::NodeId id, std::span<const float> values) {
            CHECK(id == static_cast<models::NodeId>(visited++));
            const auto node = static_cast<std::size_t>(id);
            const bool fused =
                fusion == Fp32Network::Fusion::full && node + 1 < naive.size() &&
                b.graph.consumers(id).size() == 1 &&
                std::holds_alternative<models::Relu>(b.graph.nodes()[node + 1].operation);
            const bool clipped =
                fusion == Fp32Network::Fusion::full && node + 1 < naive.size() &&
                std::holds_alternative<models::Clip>(b.graph.nodes()[node + 1].operation);
            CHECK(within_bound(values, naive[fused || clipped ? node + 1 : node]));
          });
      CHECK(visited == naive.size());
      CHECK(within_bound(output, naive.back()));
      CHECK(network.output().name == b.graph.nodes()[naive.size() - 1].name);
    }
  }
}

TEST_CASE("fp32 outputs do not depend on threads, batch or the images beside") {
  auto b = tests::every_operation(11);
  const auto pixels = b.images(300);
  const auto expected = make_cpu_fp32(b.graph, {.threads = 1, .batch = 1})->run(pixels);
  REQUIRE(expected.real.size() == 300 * 7);
  for (const int threads : {1, 2, 3}) {
    for (const std::int64_t batch : {2, 7, 256, 1000}) {
      CAPTURE(threads, batch);
      const auto outputs = make_cpu_fp32(b.graph, {threads, batch})->run(pixels);
      CHECK(outputs.real == expected.real);
      CHECK(outputs.integers.empty());
    }
  }
}

TEST_CASE("a reference path can be run again, on no images too") {
  auto b = tests::every_operation(3);
  const auto path = make_cpu_fp32(b.graph, {});
  const auto pixels = b.images(5);
  const auto first = path->run(pixels);
  CHECK(path->run({}).real.empty());
  CHECK(path->run(pixels).real == first.real);
  CHECK(path->name() == "cpu fp32 (Eigen)");
}

TEST_CASE("wrong options and part of an image are input errors") {
  NetworkBuilder b({2, 2, 1}, 1);
  b.dense(0, 1);
  CHECK_THROWS_AS(make_cpu_fp32(b.graph, {.threads = 0}), InputError);
  CHECK_THROWS_AS(make_cpu_fp32(b.graph, {.batch = 0}), InputError);
  const std::vector<std::uint8_t> pixels(7);
  CHECK_THROWS_WITH(make_cpu_fp32(b.graph, {})->run(pixels),
                    Catch::Contains("7 bytes are not whole images"));
}

}  // namespace
}  // namespace tilewave::kernels
