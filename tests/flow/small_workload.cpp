#include "tests/flow/small_workload.h"

#include <random>

#include "kernels/calibrate.h"

namespace tilewave::test {
namespace {

using Random = std::mt19937;

std::vector<float> weights(Random& random, std::size_t count) {
  std::uniform_real_distribution<float> value(-0.5F, 0.5F);
  std::vector<float> result(count);
  for (float& weight : result) weight = value(random);
  return result;
}

models::Graph small_graph(Random& random) {
  models::Graph graph("small", {6, 6, 1});
  models::Conv conv;
  conv.window.kernel_height = conv.window.kernel_width = 3;
  conv.weight = weights(random, 4 * 9);
  conv.bias = weights(random, 4);
  const auto convolved = graph.add("conv", conv, {0});
  models::MaxPool pool;
  pool.window = {2, 2, 2, 2};
  const auto pooled = graph.add("pool", pool, {convolved});
  const auto flat = graph.add("flatten", models::Flatten{}, {pooled});
  graph.add("dense", models::Dense{weights(random, 3 * 16), weights(random, 3)}, {flat});
  return graph;
}

models::Images small_images(Random& random, std::int64_t count) {
  models::Images images;
  images.shape = {6, 6, 1};
  images.count = count;
  for (std::int64_t i = 0; i < count * 36; ++i) {
    images.pixels.push_back(static_cast<std::uint8_t>(random() & 0xff));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    images.labels.push_back(static_cast<std::uint8_t>(random() % 3));
  }
  return images;
}

}  // namespace

flow::Workload small_workload() {
  Random random(7);
  models::Graph graph = small_graph(random);
  models::Dataset data{"noise", small_images(random, 10), small_images(random, 20)};
  quant::Scheme scheme;
  scheme.calibration_images = 20;
  quant::QuantizedGraph quantized = kernels::quantize(graph, data.calibration, scheme);
  return {std::move(graph), std::move(data), std::move(quantized), 0.25};
}

}  // namespace tilewave::test
