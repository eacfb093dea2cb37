#pragma once

#include <cstdint>

namespace tilewave {

/// Cycles of the core clock. A point in time is the number of cycles that have passed before it.
using Cycles = std::int64_t;
/// A size or an amount of data moved, in bytes.
using Bytes = std::int64_t;

/// ceil(a / b) for a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace tilewave
