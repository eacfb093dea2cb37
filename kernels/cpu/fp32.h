#pragma once

#include <functional>
#include <span>
#include <vector>

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
  /// Conv, Dense or Add is done with it.
  enum class Fusion { none, activations };

  /// The graph must outlive it.
  Fp32Network(const models::Graph& graph, const VectorKernels& vector, Fusion fusion);

  struct Workspace {
    std::vector<std::vector<float>> slots;
    std::vector<float> rows;  ///< im2col
  };
  Workspace make_workspace() const;

  /// The most images that `forward` takes.
  std::int64_t group() const { return group_; }
  /// The node whose values `forward` returns: the last one, or what a final Softmax reads.
  const models::Node& output() const;

  /// A node's tensor, [images][elements], as soon as it is made; valid during the call. Nothing
  /// for a final Softmax.
  using Visit = std::function<void(models::NodeId, std::span<const float>)>;
  /// pixels: [images][elements of the input], real value p / 255. The result, [images][elements of
  /// output()], is valid until the workspace is used again.
  std::span<const float> forward(std::span<const std::uint8_t> pixels, Workspace& workspace,
                                 const Visit& visit = nullptr) const;

 private:
  friend struct Fp32Step;
  const models::Node& node(std::size_t index) const { return graph_.nodes()[index]; }

  const models::Graph& graph_;
  const VectorKernels& vector_;
  std::size_t count_;                          ///< nodes that run
  std::vector<FusedClamp> clamp_;              ///< [nodes]
  std::vector<char> in_place_;                 ///< [nodes]: fused into its input, or a Flatten
  std::vector<std::vector<float>> depthwise_;  ///< [nodes]: weights as [tap][channel]
  TensorPlan plan_;
  std::int64_t group_ = 0;
  std::int64_t row_elements_ = 0;  ///< of the largest im2col chunk
};

}  // namespace tilewave::kernels
