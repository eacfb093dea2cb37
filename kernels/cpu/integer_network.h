#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/workers.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/integer_product.h"
#include "kernels/cpu/tensor_plan.h"
#include "kernels/cpu/vector_kernels.h"
#include "kernels/reference.h"

namespace tilewave::kernels {

/// A quantized network, prepared to run. Threads may share it, each with its own scratch.
class IntegerNetwork {
 public:
  using Tensors = std::vector<std::vector<std::int16_t>>;  ///< [slots]
  /// What a thread needs beside the tensors.
  struct Scratch {
    Band<std::int16_t> band;
    std::vector<std::int32_t> sums;
    ProductScratch product;
  };

  /// none: every node's own values can be seen. full: a MaxPool that alone reads a Conv is done
  /// with it.
  enum class Fusion { none, full };

  /// Not with `automatic`. The graph must outlive it.
  IntegerNetwork(const quant::QuantizedGraph& graph, IntegerGemm gemm,
                 Fusion fusion = Fusion::full);

  Tensors make_tensors() const;
  Scratch make_scratch() const;
  std::int64_t group() const { return group_; }
  /// The output node's values for whole images, valid until the tensors are used again. Workers
  /// that call it together share the tensors and the stages ([nodes]), of so many parts each.
  std::span<const std::int16_t> forward(std::span<const std::uint8_t> pixels, Tensors& tensors,
                                        Scratch& scratch, std::span<Stage> stages,
                                        std::int64_t parts) const;

  /// Who wants to see what is in between. Either may be empty; spans are valid during the call.
  struct Watch {
    /// Complete sums of a Conv or Dense, part of them at a time.
    std::function<void(std::size_t node, std::span<const std::int32_t> sums)> sums;
    /// A node's tensor, [images][elements], as soon as it is made. What the call leaves in it is
    /// what the nodes that read it get.
    std::function<void(std::size_t node, std::span<std::int16_t> values)> tensor;
  };
  /// The same on one thread, watched; for a network without fusion.
  std::span<const std::int16_t> forward(std::span<const std::uint8_t> pixels, Tensors& tensors,
                                        Scratch& scratch, const Watch& watch) const;

 private:
  friend struct IntegerStep;
  /// A Conv or Dense, ready to be run.
  struct PreparedProduct {
    Convolution convolution;
    struct Group {
      std::unique_ptr<IntegerProduct> product;
      std::vector<std::int64_t> runs;
    };
    std::vector<Group> groups;
  };

  const quant::QNode& node(std::size_t index) const { return graph_.nodes[index]; }
  const quant::QNode& input_of(const quant::QNode& node, std::size_t i = 0) const {
    return graph_.nodes[static_cast<std::size_t>(node.inputs[i])];
  }
  std::int64_t count_group(std::span<const std::uint8_t> pixels) const;
  template <typename Operation>
  void prepare(std::size_t index, const Operation& operation, const Convolution& convolution);
  void prepare(std::size_t index, const quant::QConv& conv, std::optional<std::size_t> pool);

  const quant::QuantizedGraph& graph_;
  IntegerGemm gemm_;
  const VectorKernels& vector_;
  std::vector<char> in_place_;             ///< [nodes]: done with its input, or a Flatten
  std::vector<PreparedProduct> products_;  ///< [nodes]
  std::vector<std::vector<std::int16_t>> depthwise_;  ///< [nodes]: weights as [tap][channel]
  std::array<std::int16_t, 256> pixel_table_;         ///< quantized pixels
  TensorPlan plan_;
  std::int64_t group_ = 0;
  std::int64_t channels_ = 0;  ///< of the widest tensor
};

}  // namespace tilewave::kernels
