#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cpu/integer_product.h"
#include "kernels/cpu/tensor_plan.h"
#include "quant/quantized_graph.h"

namespace tilewave::kernels {

/// A quantized network, prepared to run. Threads may share it, each with its own workspace.
class IntegerNetwork {
 public:
  /// The graph must outlive it. With oneDNN only if that is exact here and takes the formats.
  IntegerNetwork(const quant::QuantizedGraph& graph, bool use_onednn);

  struct Workspace {
    std::vector<std::vector<std::int16_t>> slots;
    std::vector<std::int16_t> rows;  ///< im2col
    std::vector<std::int32_t> acc;
    ProductScratch scratch;
  };
  Workspace make_workspace() const;

  /// The most images that `forward` takes.
  std::int64_t group() const { return group_; }

  /// Who wants to see what is in between. Either may be empty; spans are valid during the call.
  struct Watch {
    /// Complete sums of a Conv or Dense, part of them at a time.
    std::function<void(std::size_t node, std::span<const std::int32_t> sums)> sums;
    /// A node's tensor, [images][elements], as soon as it is made. What the call leaves in it is
    /// what the nodes that read it get.
    std::function<void(std::size_t node, std::span<std::int16_t> values)> tensor;
  };
  /// pixels: [images][elements of the input], real value p / 255. The output node's values, valid
  /// until the workspace is used again.
  std::span<const std::int16_t> forward(std::span<const std::uint8_t> pixels, Workspace& workspace,
                                        const Watch* watch = nullptr) const;

 private:
  friend struct IntegerStep;

  /// A Conv's or Dense's weights, ready to be used.
  struct PreparedWeights {
    std::vector<std::unique_ptr<IntegerProduct>> products;  ///< [groups]
    std::vector<std::int32_t> bias;       ///< with what the input's zero_point adds taken away
    std::vector<std::int16_t> depthwise;  ///< instead of products: [tap][channel]
  };
  const quant::QNode& node(std::size_t index) const { return graph_.nodes[index]; }
  const quant::QNode& input_of(const quant::QNode& node, std::size_t i = 0) const {
    return graph_.nodes[static_cast<std::size_t>(node.inputs[i])];
  }
  template <typename Layer>  // QConv, QDense
  void prepare(std::size_t index, const Layer& layer, std::int64_t groups);

  const quant::QuantizedGraph& graph_;
  bool use_onednn_;
  std::vector<PreparedWeights> weights_;       ///< [nodes]
  std::array<std::int16_t, 256> pixel_table_;  ///< quantized pixels
  TensorPlan plan_;
  std::int64_t group_ = 0;
  std::int64_t row_elements_ = 0;  ///< of the largest im2col chunk
  std::int64_t acc_elements_ = 0;  ///< of the largest chunk of accumulators
};

}  // namespace tilewave::kernels
