#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tests/support/naive.h"

namespace tilewave::test {
namespace {

using models::Node;
using Values = std::vector<float>;

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

class RealEvaluator {
 public:
  RealEvaluator(const models::Graph& graph, const Values& image) : graph_(graph) {
    values_.push_back(image);
    for (std::size_t id = 1; id < graph.nodes().size(); ++id) {
      node_ = &graph.nodes()[id];
      values_.push_back(
          std::visit([&](const auto& operation) { return apply(operation); }, node_->operation));
    }
  }
  std::vector<Values> take() { return std::move(values_); }

 private:
  const models::Shape& from() const { return graph_.node(node_->inputs[0]).shape; }
  const models::Shape& shape() const { return node_->shape; }
  const Values& input(std::size_t which = 0) const { return values_[index(node_->inputs[which])]; }

  Values apply(const models::Input&) const { return values_.front(); }

  Values apply(const models::Conv& conv) const {
    const std::int64_t in_channels = from().channels / conv.groups;
    const std::int64_t out_channels = shape().channels / conv.groups;
    Values out;
    for (std::int64_t i = 0; i < shape().elements(); ++i) {
      const std::int64_t n = i % shape().channels;
      const std::int64_t pixel = i / shape().channels;
      const std::int64_t group = n / out_channels;
      std::int64_t k = n * conv.window.kernel_height * conv.window.kernel_width * in_channels;
      double sum = static_cast<double>(conv.bias[index(n)]);
      for_each_place(conv.window, from(), pixel / shape().width, pixel % shape().width,
                     [&](bool inside, std::int64_t y, std::int64_t x) {
                       const auto first =
                           (y * from().width + x) * from().channels + group * in_channels;
                       for (std::int64_t c = 0; c < in_channels; ++c, ++k) {
                         if (!inside) continue;
                         sum += static_cast<double>(conv.weight[index(k)]) *
                                static_cast<double>(input()[index(first + c)]);
                       }
                     });
      out.push_back(static_cast<float>(sum));
    }
    return out;
  }

  Values apply(const models::Dense& dense) const {
    Values out;
    for (std::size_t n = 0; n < dense.bias.size(); ++n) {
      double sum = static_cast<double>(dense.bias[n]);
      for (std::size_t k = 0; k < input().size(); ++k) {
        sum += static_cast<double>(dense.weight[n * input().size() + k]) *
               static_cast<double>(input()[k]);
      }
      out.push_back(static_cast<float>(sum));
    }
    return out;
  }

  Values apply(const models::Add&) const {
    Values out;
    for (std::size_t i = 0; i < input().size(); ++i) out.push_back(input(0)[i] + input(1)[i]);
    return out;
  }

  template <typename Function>
  Values map(Function function) const {
    Values out;
    for (const float x : input()) out.push_back(function(x));
    return out;
  }
  Values apply(const models::Relu&) const {
    return map([](float x) { return std::max(x, 0.0F); });
  }
  Values apply(const models::Clip& clip) const {
    return map([&](float x) { return std::clamp(x, clip.low, clip.high); });
  }
  Values apply(const models::Sigmoid&) const {
    return map([](float x) { return 1 / (1 + std::exp(-x)); });
  }
  Values apply(const models::Tanh&) const {
    return map([](float x) { return std::tanh(x); });
  }

  /// Of the places of one window that lie inside, except for `places`: all of them.
  struct Gathered {
    float largest = -std::numeric_limits<float>::infinity();
    double sum = 0;
    int inside = 0;
    int places = 0;
  };
  template <typename Reduce>
  Values pool(const models::Window& window, Reduce reduce) const {
    Values out;
    for (std::int64_t i = 0; i < shape().elements(); ++i) {
      const std::int64_t channel = i % shape().channels;
      const std::int64_t pixel = i / shape().channels;
      Gathered gathered;
      for_each_place(window, from(), pixel / shape().width, pixel % shape().width,
                     [&](bool inside, std::int64_t y, std::int64_t x) {
                       ++gathered.places;
                       if (!inside) return;
                       ++gathered.inside;
                       const float value =
                           input()[index((y * from().width + x) * from().channels + channel)];
                       gathered.largest = std::max(gathered.largest, value);
                       gathered.sum += static_cast<double>(value);
                     });
      out.push_back(reduce(gathered));
    }
    return out;
  }
  Values apply(const models::MaxPool& max) const {
    return pool(max.window, [](const Gathered& g) { return g.largest; });
  }
  Values apply(const models::AveragePool& average) const {
    return pool(average.window, [&](const Gathered& g) {
      return static_cast<float>(g.sum / (average.count_include_pad ? g.places : g.inside));
    });
  }

  Values apply(const models::Flatten&) const { return input(); }

  Values apply(const models::Softmax&) const {
    const float largest = *std::max_element(input().begin(), input().end());
    double sum = 0;
    for (const float x : input()) sum += std::exp(static_cast<double>(x - largest));
    return map([&](float x) {
      return static_cast<float>(std::exp(static_cast<double>(x - largest)) / sum);
    });
  }

  const models::Graph& graph_;
  const Node* node_ = nullptr;
  std::vector<Values> values_;
};

}  // namespace

std::vector<std::vector<float>> naive_fp32_all(const models::Graph& graph,
                                               const std::vector<float>& image) {
  return RealEvaluator(graph, image).take();
}

}  // namespace tilewave::test
