#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tilewave::sim::systemc {

/// The triangle of registers before an edge of an array: lane i hands on what entered it i clocks
/// ago, so that what enters together reaches the PEs along the wavefront.
class SkewLines {
 public:
  explicit SkewLines(std::int64_t lanes)
      : lanes_(lanes),
        lines_(static_cast<std::size_t>(lanes * lanes)),
        out_(static_cast<std::size_t>(lanes)) {}

  /// A new clock: what enters the lanes in it, zeros to begin with.
  std::int16_t* enter() {
    newest_ = newest_ + 1 < lanes_ ? newest_ + 1 : 0;
    std::int16_t* const lines = lines_.data() + newest_ * lanes_;
    std::fill(lines, lines + lanes_, std::int16_t{0});
    return lines;
  }
  /// What leaves the lanes in this clock; to be asked once in it.
  std::int16_t* leave() {
    for (std::int64_t lane = 0; lane < lanes_; ++lane) {
      const std::int64_t line = newest_ - lane;
      out_[static_cast<std::size_t>(lane)] =
          lines_[static_cast<std::size_t>((line < 0 ? line + lanes_ : line) * lanes_ + lane)];
    }
    return out_.data();
  }

 private:
  std::int64_t lanes_;
  std::vector<std::int16_t> lines_;  ///< ring of [clock][lane]
  std::int64_t newest_ = 0;          ///< place of this clock in it
  std::vector<std::int16_t> out_;
};

}  // namespace tilewave::sim::systemc
