#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "models/graph.h"

namespace tilewave::tests {

/// Builds fp32 graphs with random weights from a seed; what is added last is the output.
class NetworkBuilder {
 public:
  NetworkBuilder(models::Shape input, std::uint32_t seed) : graph("random", input), random_(seed) {}

  models::NodeId add(models::Operation operation, std::vector<models::NodeId> inputs) {
    last_ = graph.add("node" + std::to_string(graph.nodes().size()), std::move(operation),
                      std::move(inputs));
    return last_;
  }
  /// The same after the node added last.
  models::NodeId then(models::Operation operation) { return add(std::move(operation), {last_}); }

  models::NodeId conv(models::NodeId input, models::Window window, std::int64_t out,
                      std::int64_t groups = 1) {
    const std::int64_t k =
        window.kernel_height * window.kernel_width * graph.node(input).shape.channels / groups;
    return add(models::Conv{window, groups, values(out * k), values(out)}, {input});
  }
  models::NodeId dense(models::NodeId input, std::int64_t out) {
    const std::int64_t k = graph.node(input).shape.elements();
    return add(models::Dense{values(out * k), values(out)}, {input});
  }

  std::vector<std::uint8_t> images(std::int64_t count) {
    std::uniform_int_distribution<int> pixel(0, 255);
    std::vector<std::uint8_t> pixels(
        static_cast<std::size_t>(count * graph.node(0).shape.elements()));
    for (auto& value : pixels) value = static_cast<std::uint8_t>(pixel(random_));
    return pixels;
  }

  models::Graph graph;

 private:
  std::vector<float> values(std::int64_t count) {
    std::uniform_real_distribution<float> weight(-1, 1);
    std::vector<float> made(static_cast<std::size_t>(count));
    for (auto& value : made) value = weight(random_);
    return made;
  }

  std::mt19937 random_;
  models::NodeId last_ = 0;
};

/// Conv, residual Add with a fused and an unfused activation, every pool and value map, one tensor
/// that three nodes read, depthwise and grouped convolutions, two Dense layers and a Softmax.
inline NetworkBuilder every_operation(std::uint32_t seed) {
  NetworkBuilder b({9, 11, 3}, seed);
  const models::Window three{.kernel_height = 3,
                             .kernel_width = 3,
                             .pad_top = 1,
                             .pad_left = 1,
                             .pad_bottom = 1,
                             .pad_right = 1};
  b.conv(0, three, 6);
  const auto stem = b.then(models::Relu{});
  const auto depthwise = b.conv(stem, three, 6, 6);
  const auto clipped = b.add(models::Clip{-0.5F, 6}, {depthwise});
  const auto grouped = b.conv(clipped, three, 6, 3);
  const auto sum = b.add(models::Add{}, {grouped, stem});
  const auto wide = b.add(models::Sigmoid{}, {sum});
  b.add(models::Add{}, {wide, stem});
  b.then(models::Relu{});
  b.then(models::MaxPool{{.kernel_height = 3,
                          .kernel_width = 2,
                          .stride_height = 2,
                          .stride_width = 2,
                          .pad_top = 1,
                          .pad_right = 1}});
  b.then(models::AveragePool{{.kernel_height = 2, .kernel_width = 2, .pad_left = 1}, true});
  const auto averaged = b.then(models::AveragePool{
      {.kernel_height = 2, .kernel_width = 3, .stride_height = 2, .pad_bottom = 1}, false});
  const auto flat = b.add(models::Flatten{}, {averaged});
  const auto hidden = b.dense(flat, 13);
  const auto curved = b.add(models::Tanh{}, {hidden});
  b.dense(curved, 7);
  b.then(models::Softmax{});
  return b;
}

}  // namespace tilewave::tests
