#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/cpu/batches.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/tensor_plan.h"
#include "kernels/cpu/vector_kernels.h"
#include "kernels/fusion.h"
#include "models/graph.h"

namespace tilewave::kernels {

/// An fp32 network, prepared to run. Threads may share it, each with its own workspace. An image's
/// values depend on the image and the vector kernels only, not on the images beside it.
class Fp32Network {
 public:
  /// none: every node's own values can be seen. activations: a Relu or Clip that alone reads a
  /// Conv, Dense or Add is done with it. full: so is a MaxPool that then alone reads a Conv.
  enum class Fusion { none, activations, full };

  /// The graph must outlive it.
  Fp32Network(const models::Graph& graph, const VectorKernels& vector, Fusion fusion);

  using Tensors = std::vector<std::vector<float>>;  ///< [slots]
  Tensors make_tensors() const;
  /// What a thread needs beside the tensors.
  struct Scratch {
    Band<float> band;
    std::vector<float> factors, packed;  ///< im2col; the same as Eigen lays it out
    std::vector<float> sums;
  };
  Scratch make_scratch() const;

  /// The most images that `forward` takes.
  std::int64_t group() const { return group_; }
  /// The node whose values `forward` returns: the last one, or what a final Softmax reads.
  const models::Node& output() const;

  /// A node's tensor, [images][elements], as soon as it is made; valid during the call. Nothing
  /// for a final Softmax. Where nodes are done together it is the last one's, each time.
  using Visit = std::function<void(models::NodeId, std::span<const float>)>;
  /// pixels: [images][elements of the input], real value p / 255. The result, [images][elements of
  /// output()], is valid until the tensors are used again.
  std::span<const float> forward(std::span<const std::uint8_t> pixels, Tensors& tensors,
                                 Scratch& scratch, const Visit& visit = nullptr) const;
  /// The same; workers that call it together, each with its own scratch, share the tensors and the
  /// stages ([nodes]), of so many parts each.
  std::span<const float> forward(std::span<const std::uint8_t> pixels, Tensors& tensors,
                                 Scratch& scratch, std::span<Stage> stages,
                                 std::int64_t parts) const;

 private:
  friend struct Fp32Step;
  const models::Node& node(std::size_t index) const { return graph_.nodes()[index]; }

  /// A Conv or Dense, ready to be run.
  struct PreparedProduct {
    Convolution convolution;
    Runs runs;
    std::vector<Line> weights;  ///< [groups][group_lines], as Eigen lays them out
    std::int64_t group_lines = 0;
  };
  void fuse(Fusion fusion);
  void prepare(std::size_t index, const models::Conv& conv);
  void prepare(std::size_t index, const std::vector<float>& weight, const Convolution& convolution);
  std::int64_t images_in(std::span<const std::uint8_t> pixels) const;
  std::span<const float> values(std::size_t index, const Tensors& tensors,
                                std::int64_t images) const;

  const models::Graph& graph_;
  const VectorKernels& vector_;
  std::size_t count_;                          ///< nodes that run
  std::vector<FusedClamp> clamp_;              ///< [nodes]
  std::vector<char> in_place_;                 ///< [nodes]: done with its input, or a Flatten
  std::vector<models::NodeId> pool_;           ///< [nodes]: the MaxPool that is done with it, or 0
  std::vector<PreparedProduct> products_;      ///< [nodes]
  std::vector<std::vector<float>> depthwise_;  ///< [nodes]: weights as [tap][channel]
  TensorPlan plan_;
  std::int64_t group_ = 0;
};

}  // namespace tilewave::kernels
