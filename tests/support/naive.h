#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/graph.h"
#include "quant/quantized_graph.h"

// Obviously right, one image at a time: the witness of every faster path. Shares no code with
// them but the normative arithmetic of quant/requantize.h.

namespace tilewave::test {

/// One output of a Conv or Dense: bias + sum over k of (x[k] - zero_point) * weight[k]. Padded
/// places of x hold zero_point.
struct Product {
  std::size_t node;
  std::int32_t bias, zero_point;
  std::span<const std::int16_t> x;
  const std::int16_t* weight;
};
/// How such a product ends up in an accumulator.
using Accumulate = std::function<std::int32_t(const Product&)>;
/// In s32, wrapping.
std::int32_t wrapping_sum(const Product& product);

/// The output node's values for one image [height][width][channels] of quantized pixels, as
/// docs/numerics.md says (s32 accumulators that wrap).
std::vector<std::int16_t> naive_forward(const quant::QuantizedGraph& graph,
                                        const std::vector<std::int16_t>& image);
/// The same for images one after the other.
std::vector<std::int16_t> naive_outputs(const quant::QuantizedGraph& graph,
                                        const std::vector<std::int16_t>& images);
/// The values of every node, by node.
std::vector<std::vector<std::int16_t>> naive_forward_all(
    const quant::QuantizedGraph& graph, const std::vector<std::int16_t>& image,
    const Accumulate& accumulate = wrapping_sum);

/// The values of every node of the real network, sums in double.
std::vector<std::vector<float>> naive_fp32_all(const models::Graph& graph,
                                               const std::vector<float>& image);

/// Calls visit(inside, y, x) for the places of the window of output pixel (out_y, out_x), row by
/// row. Outside of the input y and x have no meaning.
template <typename Visit>
void for_each_place(const models::Window& window, const models::Shape& input, std::int64_t out_y,
                    std::int64_t out_x, Visit visit) {
  for (std::int64_t ky = 0; ky < window.kernel_height; ++ky) {
    const std::int64_t y =
        out_y * window.stride_height + ky * window.dilation_height - window.pad_top;
    for (std::int64_t kx = 0; kx < window.kernel_width; ++kx) {
      const std::int64_t x =
          out_x * window.stride_width + kx * window.dilation_width - window.pad_left;
      visit(y >= 0 && y < input.height && x >= 0 && x < input.width, y, x);
    }
  }
}

}  // namespace tilewave::test
