#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "models/graph.h"

namespace tilewave::tests {

/// A real value in double precision, and how far an fp32 evaluation in any order of the sums may
/// be from it: the classic forward bound, n * u * (sum of magnitudes) for a sum of n terms, passed
/// on from node to node.
struct Real {
  double value = 0;
  double bound = 0;
};

/// Evaluates a graph for one image, place by place, with no thought for speed. A final Softmax is
/// left out. Returns every node's tensor.
class NaiveFp32 {
 public:
  static std::vector<std::vector<Real>> run(const models::Graph& graph,
                                            std::span<const std::uint8_t> image) {
    NaiveFp32 naive{graph, image, {}};
    for (const models::Node& node : graph.nodes()) {
      naive.node_ = &node;
      if (std::holds_alternative<models::Softmax>(node.operation)) break;
      naive.tensors_.emplace_back(static_cast<std::size_t>(node.shape.elements()));
      std::visit([&](const auto& operation) { naive.evaluate(operation); }, node.operation);
    }
    return naive.tensors_;
  }

 private:
  // Unit roundoff of fp32, with a little for the terms of second order and subnormals.
  static constexpr double kUnit = 1.01 / (1 << 24);
  static constexpr double kTiny = 1e-37;

  NaiveFp32(const models::Graph& graph, std::span<const std::uint8_t> image,
            std::vector<std::vector<Real>> tensors)
      : graph_(graph), image_(image), tensors_(std::move(tensors)) {}

  const std::vector<Real>& in(std::size_t i = 0) const {
    return tensors_[static_cast<std::size_t>(node_->inputs[i])];
  }
  const models::Shape& in_shape() const { return graph_.node(node_->inputs[0]).shape; }
  std::vector<Real>& out() { return tensors_.back(); }

  struct Sum {
    double value = 0, magnitude = 0, bound = 0;
    int terms = 0;
    void add(Real x, double weight) {
      value += x.value * weight;
      magnitude += std::abs(x.value * weight);
      bound += x.bound * std::abs(weight);
      ++terms;
    }
    Real result() const { return {value, bound + (terms + 2) * kUnit * magnitude + kTiny}; }
  };

  /// Calls visit(tap_row, tap_column, input place without its channel) for taps inside the image.
  template <typename Visit>
  void taps(const models::Window& w, std::int64_t y, std::int64_t x, const Visit& visit) const {
    const models::Shape& shape = in_shape();
    for (std::int64_t r = 0; r < w.kernel_height; ++r) {
      for (std::int64_t c = 0; c < w.kernel_width; ++c) {
        const std::int64_t iy = y * w.stride_height - w.pad_top + r * w.dilation_height;
        const std::int64_t ix = x * w.stride_width - w.pad_left + c * w.dilation_width;
        if (iy < 0 || ix < 0 || iy >= shape.height || ix >= shape.width) continue;
        visit(r, c, (iy * shape.width + ix) * shape.channels);
      }
    }
  }
  /// Calls visit(y, x, channel, result) for each place of the output.
  template <typename Visit>
  void places(const Visit& visit) {
    std::size_t place = 0;
    for (std::int64_t y = 0; y < node_->shape.height; ++y) {
      for (std::int64_t x = 0; x < node_->shape.width; ++x) {
        for (std::int64_t c = 0; c < node_->shape.channels; ++c) visit(y, x, c, out()[place++]);
      }
    }
  }
  template <typename Function>
  void map(const Function& function) {
    std::transform(in().begin(), in().end(), out().begin(), function);
  }
  const Real& at(std::int64_t place) const { return in()[static_cast<std::size_t>(place)]; }

  void evaluate(const models::Input&) {
    for (std::size_t i = 0; i < image_.size(); ++i) out()[i] = {image_[i] / 255.0, kUnit};
  }
  void evaluate(const models::Conv& conv) {
    const models::Window& w = conv.window;
    const std::int64_t channels = in_shape().channels / conv.groups;
    const std::int64_t per_group = node_->shape.channels / conv.groups;
    places([&](std::int64_t y, std::int64_t x, std::int64_t n, Real& result) {
      Sum sum;
      sum.add({1, 0}, conv.bias[static_cast<std::size_t>(n)]);
      taps(w, y, x, [&](std::int64_t r, std::int64_t c, std::int64_t place) {
        for (std::int64_t i = 0; i < channels; ++i) {
          const std::int64_t k = ((n * w.kernel_height + r) * w.kernel_width + c) * channels + i;
          sum.add(at(place + n / per_group * channels + i),
                  conv.weight[static_cast<std::size_t>(k)]);
        }
      });
      result = sum.result();
    });
  }
  void evaluate(const models::Dense& dense) {
    for (std::size_t n = 0; n < out().size(); ++n) {
      Sum sum;
      sum.add({1, 0}, dense.bias[n]);
      for (std::size_t k = 0; k < in().size(); ++k) {
        sum.add(in()[k], dense.weight[n * in().size() + k]);
      }
      out()[n] = sum.result();
    }
  }
  void evaluate(const models::Add&) {
    for (std::size_t i = 0; i < out().size(); ++i) {
      Sum sum;
      sum.add(in(0)[i], 1);
      sum.add(in(1)[i], 1);
      out()[i] = sum.result();
    }
  }
  void evaluate(const models::Relu&) {
    map([](Real x) { return Real{std::max(x.value, 0.0), x.bound}; });
  }
  void evaluate(const models::Clip& clip) {
    map([&](Real x) {
      return Real{std::clamp(x.value, double{clip.low}, double{clip.high}), x.bound};
    });
  }
  void evaluate(const models::Sigmoid&) {
    map([](Real x) { return Real{1 / (1 + std::exp(-x.value)), x.bound / 4 + kUnit}; });
  }
  void evaluate(const models::Tanh&) {
    map([](Real x) { return Real{std::tanh(x.value), x.bound + kUnit}; });
  }
  void evaluate(const models::MaxPool& pool) {
    places([&](std::int64_t y, std::int64_t x, std::int64_t channel, Real& result) {
      result = {-std::numeric_limits<double>::infinity(), 0};
      taps(pool.window, y, x, [&](std::int64_t, std::int64_t, std::int64_t place) {
        const Real& tap = at(place + channel);
        result = {std::max(result.value, tap.value), std::max(result.bound, tap.bound)};
      });
    });
  }
  void evaluate(const models::AveragePool& pool) {
    places([&](std::int64_t y, std::int64_t x, std::int64_t channel, Real& result) {
      Sum sum;
      taps(pool.window, y, x, [&](std::int64_t, std::int64_t, std::int64_t place) {
        sum.add(at(place + channel), 1);
      });
      const double count =
          pool.count_include_pad
              ? static_cast<double>(pool.window.kernel_height * pool.window.kernel_width)
              : sum.terms;
      result = {sum.result().value / count, sum.result().bound / count};
    });
  }
  void evaluate(const models::Flatten&) { out() = in(); }
  void evaluate(const models::Softmax&) {}

  const models::Graph& graph_;
  std::span<const std::uint8_t> image_;
  const models::Node* node_ = nullptr;
  std::vector<std::vector<Real>> tensors_;
};

}  // namespace tilewave::tests
