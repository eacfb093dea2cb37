#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "models/graph.h"
#include "quant/input_moments.h"

namespace tilewave::kernels {

/// Adds up the moments of what a Conv or Dense multiplies its weights by. Memory does not grow with
/// the number of images; the result depends on their order in its last bits only.
class MomentsCollector {
 public:
  /// `node` must be a Conv or a Dense. squares: those too, not the means only.
  MomentsCollector(const models::Graph& graph, const models::Node& node, bool squares);

  /// The tensor that the node reads, of one image.
  void observe(std::span<const float> image);
  quant::InputMoments result();

 private:
  /// Adds the rows gathered so far.
  void flush();

  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic>;

  models::Window window_;
  models::Shape in_, out_;
  std::int64_t groups_ = 1;
  std::int64_t k_ = 0;
  bool squares_;
  std::int64_t rows_ = 0;             ///< seen so far, of each group
  std::int64_t waiting_ = 0;          ///< of them in gathered_, of each group
  std::vector<float> gathered_;       ///< [groups][kChunk][k]
  std::vector<Eigen::VectorXd> sum_;  ///< [groups]
  std::vector<Matrix> square_;        ///< [groups], lower triangle
};

}  // namespace tilewave::kernels
