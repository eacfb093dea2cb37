#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "models/graph.h"
#include "quant/quantized_graph.h"

namespace tilewave::flow {

/// Over the values of a tensor, x in fp32 and y what its integers stand for.
struct ErrorSums {
  double signal = 0;   ///< x * x
  double error = 0;    ///< (x - y) * (x - y)
  double product = 0;  ///< x * y
  double power = 0;    ///< y * y
};

/// Parts of a format's range that values are counted in, at most.
inline constexpr std::int64_t kHistogramBins = 64;

/// What is known of a node of the integer network, over all images.
struct LayerErrors {
  ErrorSums network;   ///< every layer integer
  ErrorSums own;       ///< this layer's inputs are those of fp32, rounded to its formats
  double clipped = 0;  ///< the part of own.error of saturated values
  std::int64_t values = 0;
  /// Clamped to an end of the format by requantization. At an end that a fused activation sets, or
  /// in nodes that pass their input's integers on, none are; of the input, those that are clamped
  /// by a step or more.
  std::int64_t saturated = 0;
  std::int32_t least_sum = 0, most_sum = 0;  ///< complete sums in the accumulators
  std::vector<std::int64_t> histogram;       ///< of the integers; equal parts of the range
};

/// One per node of `quantized`, which was made from `graph` (equalized, if the scheme says so).
/// Sums in the accumulators are of 32 bits. Images are taken in groups, whose tensors are all the
/// memory that is needed; no figure depends on the number of threads. Throws Stopped.
std::vector<LayerErrors> measure_layers(const models::Graph& graph,
                                        const quant::QuantizedGraph& quantized,
                                        std::span<const std::uint8_t> pixels, int threads,
                                        const std::stop_token& stop);

}  // namespace tilewave::flow
