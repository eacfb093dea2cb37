#include "tests/support/naive.h"

#include <algorithm>
#include <utility>

namespace tilewave::test {
namespace {

using quant::QNode;
using Values = std::vector<std::int16_t>;

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

Values convolve(const quant::QConv& conv, const QNode& node, const QNode& from, const Values& input,
                std::size_t id, const Accumulate& accumulate) {
  const std::int32_t zero_point = from.quantization.zero_point;
  const std::int64_t in_channels = from.shape.channels / conv.groups;
  const std::int64_t out_channels = node.shape.channels / conv.groups;
  const std::int64_t size = conv.window.kernel_height * conv.window.kernel_width * in_channels;
  Values out;
  out.reserve(index(node.shape.elements()));
  Values patch(index(size));
  for (std::int64_t pixel = 0; pixel < node.shape.pixels(); ++pixel) {
    for (std::int64_t group = 0; group < conv.groups; ++group) {
      auto place = patch.begin();
      for_each_place(conv.window, from.shape, pixel / node.shape.width, pixel % node.shape.width,
                     [&](bool inside, std::int64_t py, std::int64_t px) {
                       const auto first =
                           (py * from.shape.width + px) * from.shape.channels + group * in_channels;
                       for (std::int64_t c = 0; c < in_channels; ++c) {
                         *place++ = inside ? input[index(first + c)]
                                           : static_cast<std::int16_t>(zero_point);
                       }
                     });
      for (std::int64_t o = 0; o < out_channels; ++o) {
        const auto n = index(group * out_channels + o);
        const std::int32_t acc =
            accumulate({id, conv.bias[n], zero_point, patch, conv.weight.data() + n * index(size)});
        out.push_back(static_cast<std::int16_t>(conv.requantizer.apply(acc, n)));
      }
    }
  }
  return out;
}

Values multiply(const quant::QDense& dense, const QNode& node, const QNode& from,
                const Values& input, std::size_t id, const Accumulate& accumulate) {
  Values out;
  for (std::size_t n = 0; n < index(node.shape.channels); ++n) {
    const std::int32_t acc = accumulate({id, dense.bias[n], from.quantization.zero_point, input,
                                         dense.weight.data() + n * input.size()});
    out.push_back(static_cast<std::int16_t>(dense.requantizer.apply(acc, n)));
  }
  return out;
}

/// Gathers each channel of each window (nullptr where padded) and hands it to `reduce`.
template <typename Reduce>
Values pool(const models::Window& window, const QNode& node, const QNode& from, const Values& input,
            Reduce reduce) {
  Values out;
  std::vector<const std::int16_t*> places;
  for (std::int64_t i = 0; i < node.shape.elements(); ++i) {
    const std::int64_t channel = i % node.shape.channels;
    const std::int64_t pixel = i / node.shape.channels;
    places.clear();
    for_each_place(window, from.shape, pixel / node.shape.width, pixel % node.shape.width,
                   [&](bool inside, std::int64_t y, std::int64_t x) {
                     const auto at = (y * from.shape.width + x) * from.shape.channels + channel;
                     places.push_back(inside ? &input[index(at)] : nullptr);
                   });
    out.push_back(static_cast<std::int16_t>(reduce(places)));
  }
  return out;
}

class Evaluator {
 public:
  Evaluator(const quant::QuantizedGraph& graph, const Values& image, const Accumulate& accumulate)
      : graph_(graph), accumulate_(accumulate) {
    values_.push_back(image);
    for (std::size_t id = 1; id < graph.nodes.size(); ++id) {
      id_ = id;
      node_ = &graph.nodes[id];
      values_.push_back(
          std::visit([&](const auto& operation) { return apply(operation); }, node_->operation));
    }
  }
  std::vector<Values> take() { return std::move(values_); }

 private:
  const QNode& from() const { return graph_.nodes[index(node_->inputs[0])]; }
  const Values& input(std::size_t which = 0) const { return values_[index(node_->inputs[which])]; }

  Values apply(const quant::QInput&) const { return values_.front(); }

  Values apply(const quant::QConv& conv) const {
    return convolve(conv, *node_, from(), input(), id_, accumulate_);
  }

  Values apply(const quant::QDense& dense) const {
    return multiply(dense, *node_, from(), input(), id_, accumulate_);
  }

  Values apply(const quant::QAdd& add) const {
    Values out;
    for (std::size_t i = 0; i < input().size(); ++i) {
      out.push_back(static_cast<std::int16_t>(add.adder.apply(input(0)[i], input(1)[i])));
    }
    return out;
  }

  Values apply(const quant::QMaxPool& max) const {
    return pool(max.window, *node_, from(), input(), [&](const auto& places) {
      std::int32_t largest = node_->quantization.format.qmin();
      for (const auto* q : places) {
        if (q != nullptr) largest = std::max<std::int32_t>(largest, *q);
      }
      return largest;
    });
  }

  Values apply(const quant::QAveragePool& average) const {
    return pool(average.window, *node_, from(), input(), [&](const auto& places) {
      std::int32_t sum = 0;
      std::int32_t count = 0;
      for (const auto* q : places) {
        if (q == nullptr && !average.count_include_pad) continue;
        sum += q == nullptr ? node_->quantization.zero_point : *q;
        ++count;
      }
      return quant::rounded_average(sum, count, average.mode);
    });
  }

  Values apply(const quant::QLookup& lookup) const {
    Values out;
    for (const std::int16_t q : input()) {
      out.push_back(lookup.table[index(q - from().quantization.format.qmin())]);
    }
    return out;
  }

  Values apply(const quant::QFlatten&) const { return input(); }

  const quant::QuantizedGraph& graph_;
  const Accumulate& accumulate_;
  std::size_t id_ = 0;
  const QNode* node_ = nullptr;
  std::vector<Values> values_;
};

}  // namespace

std::int32_t wrapping_sum(const Product& product) {
  auto sum = static_cast<std::uint32_t>(product.bias);
  for (std::size_t k = 0; k < product.x.size(); ++k) {
    sum += static_cast<std::uint32_t>(product.x[k] - product.zero_point) *
           static_cast<std::uint32_t>(static_cast<std::int32_t>(product.weight[k]));
  }
  return static_cast<std::int32_t>(sum);
}

std::vector<std::vector<std::int16_t>> naive_forward_all(const quant::QuantizedGraph& graph,
                                                         const std::vector<std::int16_t>& image,
                                                         const Accumulate& accumulate) {
  return Evaluator(graph, image, accumulate).take();
}

std::vector<std::int16_t> naive_forward(const quant::QuantizedGraph& graph,
                                        const std::vector<std::int16_t>& image) {
  return std::move(naive_forward_all(graph, image).back());
}

std::vector<std::int16_t> naive_outputs(const quant::QuantizedGraph& graph,
                                        const std::vector<std::int16_t>& images) {
  const auto size = static_cast<std::size_t>(graph.input().shape.elements());
  std::vector<std::int16_t> outputs;
  for (std::size_t at = 0; at < images.size(); at += size) {
    const std::vector<std::int16_t> image(images.begin() + static_cast<std::ptrdiff_t>(at),
                                          images.begin() + static_cast<std::ptrdiff_t>(at + size));
    const auto out = naive_forward(graph, image);
    outputs.insert(outputs.end(), out.begin(), out.end());
  }
  return outputs;
}

}  // namespace tilewave::test
