#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tilewave::sim::systemc {

/// The activation registers of an array, row by row. Each clock all of them move one PE to the
/// right, which they do by moving the place where the rows begin.
class ActivationLines {
 public:
  ActivationLines(std::int64_t rows, std::int64_t cols);

  /// One clock; `left` [rows] comes in.
  void clock(const std::int16_t* left);

  /// A register for which somebody has another value than what has come to it.
  std::int16_t& to_change(std::int64_t row, std::int64_t column);

  const std::int16_t* row(std::int64_t row) const {
    return values_.data() + row * stride_ + origin_;
  }
  /// Columns [begin, end) of a row; what is outside of them is zero.
  struct Columns {
    std::int64_t begin, end;
  };
  Columns busy(std::int64_t row) const {
    const Streak& streak = streaks_[static_cast<std::size_t>(row)];
    return {clock_ - streak.last, std::min(cols_, clock_ - streak.first + 1)};
  }

 private:
  /// Clocks of the first and the last value that was not zero since the row was last all zeros.
  struct Streak {
    std::int64_t first, last;
  };

  std::int64_t rows_, cols_;
  std::int64_t stride_;
  std::int64_t origin_;
  std::int64_t clock_ = 0;
  std::vector<std::int16_t> values_;
  std::vector<Streak> streaks_;
};

}  // namespace tilewave::sim::systemc
