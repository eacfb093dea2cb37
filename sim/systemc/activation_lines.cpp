#include "sim/systemc/activation_lines.h"

namespace tilewave::sim::systemc {
namespace {

/// Clocks between two times that the rows are really moved.
constexpr std::int64_t kSpare = 64;

}  // namespace

ActivationLines::ActivationLines(std::int64_t rows, std::int64_t cols)
    : rows_(rows),
      cols_(cols),
      stride_(cols + kSpare),
      origin_(kSpare),
      values_(static_cast<std::size_t>(rows * stride_)),
      streaks_(static_cast<std::size_t>(rows), Streak{-cols, -cols}) {}

void ActivationLines::clock(const std::int16_t* left) {
  ++clock_;
  if (origin_ == 0) {
    for (std::int16_t* line = values_.data(); line != values_.data() + rows_ * stride_;
         line += stride_) {
      std::copy_backward(line, line + cols_ - 1, line + stride_);
    }
    origin_ = kSpare + 1;
  }
  --origin_;
  for (std::int64_t row = 0; row < rows_; ++row) {
    values_[static_cast<std::size_t>(row * stride_ + origin_)] = left[row];
    if (left[row] == 0) continue;
    Streak& streak = streaks_[static_cast<std::size_t>(row)];
    if (clock_ - streak.last >= cols_) streak.first = clock_;
    streak.last = clock_;
  }
}

std::int16_t& ActivationLines::to_change(std::int64_t row, std::int64_t column) {
  Streak& streak = streaks_[static_cast<std::size_t>(row)];
  const std::int64_t came = clock_ - column;
  const bool is_idle = clock_ - streak.last >= cols_;
  streak.first = is_idle ? came : std::min(streak.first, came);
  streak.last = is_idle ? came : std::max(streak.last, came);
  return values_[static_cast<std::size_t>(row * stride_ + origin_ + column)];
}

}  // namespace tilewave::sim::systemc
