#include "kernels/moments_collector.h"

#include <algorithm>

#include "kernels/cpu/window.h"

namespace tilewave::kernels {
namespace {

/// Rows that one matrix product adds: enough to be worth one.
constexpr std::int64_t kChunk = 256;

}  // namespace

MomentsCollector::MomentsCollector(const models::Graph& graph, const models::Node& node,
                                   bool squares)
    : in_(graph.node(node.inputs[0]).shape), out_(node.shape), squares_(squares) {
  if (const auto* conv = std::get_if<models::Conv>(&node.operation)) {
    window_ = conv->window;
    groups_ = conv->groups;
    k_ = window_.kernel_height * window_.kernel_width * in_.channels / groups_;
  } else {
    // One pixel of all elements, which lie in memory as the weights do.
    k_ = in_.elements();
    in_ = {1, 1, k_};
    out_ = {1, 1, 1};
  }
  gathered_.resize(static_cast<std::size_t>(groups_ * kChunk * k_));
  sum_.assign(static_cast<std::size_t>(groups_), Eigen::VectorXd::Zero(k_));
  if (squares_) square_.assign(static_cast<std::size_t>(groups_), Matrix::Zero(k_, k_));
}

void MomentsCollector::observe(std::span<const float> image) {
  const WindowGeometry geometry{window_, in_, out_};
  const std::int64_t channels = in_.channels / groups_;
  for (std::int64_t first = 0; first < out_.pixels();) {
    const std::int64_t rows = std::min(kChunk - waiting_, out_.pixels() - first);
    for (std::int64_t group = 0; group < groups_; ++group) {
      gather_rows(geometry, image.data(), first, rows, {group * channels, channels}, 0.0F,
                  gathered_.data() + (group * kChunk + waiting_) * k_);
    }
    waiting_ += rows;
    first += rows;
    if (waiting_ == kChunk) flush();
  }
}

void MomentsCollector::flush() {
  for (std::int64_t group = 0; group < groups_; ++group) {
    const Eigen::Map<const Eigen::MatrixXf> gathered(gathered_.data() + group * kChunk * k_, k_,
                                                     waiting_);
    const Matrix columns = gathered.cast<double>();
    const auto at = static_cast<std::size_t>(group);
    sum_[at] += columns.rowwise().sum();
    if (squares_) square_[at].selfadjointView<Eigen::Lower>().rankUpdate(columns);
  }
  rows_ += waiting_;
  waiting_ = 0;
}

quant::InputMoments MomentsCollector::result() {
  flush();
  quant::InputMoments moments{groups_, k_, {}, {}};
  const double share = rows_ > 0 ? 1 / static_cast<double>(rows_) : 0;
  for (const Eigen::VectorXd& sum : sum_) {
    for (const double value : sum) moments.mean.push_back(value * share);
  }
  for (const Matrix& lower : square_) {
    const Matrix all = share * Matrix(lower.selfadjointView<Eigen::Lower>());
    moments.square.insert(moments.square.end(), all.data(), all.data() + all.size());
  }
  return moments;
}

}  // namespace tilewave::kernels
