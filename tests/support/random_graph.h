#pragma once

#include <cstdint>
#include <vector>

#include "models/graph.h"
#include "quant/quantized_graph.h"
#include "quant/scheme.h"

// Small random networks for property tests; the same seed gives the same network.

namespace tilewave::test {

struct RandomGraphOptions {
  int max_blocks = 5;              ///< each one to five nodes
  std::int64_t max_side = 9;       ///< of the input image, pixels
  std::int64_t max_channels = 6;   ///< of any tensor that is not flat
  std::int64_t max_features = 12;  ///< outputs of a Dense
};

/// Convolutions (groups, depthwise, dilation, stride, padding of each side), residual additions,
/// fused and stand-alone Relu and Clip, Sigmoid, Tanh, pools, Flatten, Dense, a final Softmax.
models::Graph random_graph(std::uint64_t seed, const RandomGraphOptions& options = {});

/// Any valid scheme; 8 bits more often than the other widths.
quant::Scheme random_scheme(std::uint64_t seed);

/// Ranges observed on a few random images in [0, 1] by the naive fp32 network.
quant::QuantizedGraph quantize_randomly(const models::Graph& graph, const quant::Scheme& scheme,
                                        std::uint64_t seed);
/// The three together.
quant::QuantizedGraph random_quantized_graph(std::uint64_t seed,
                                             const RandomGraphOptions& options = {});

/// Images of any values of the input's format, one after the other.
std::vector<std::int16_t> random_images(const quant::QuantizedGraph& graph, std::int64_t count,
                                        std::uint64_t seed);

}  // namespace tilewave::test
