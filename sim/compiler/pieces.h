#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/units.h"

// What the parts of the emitter share.

namespace tilewave::sim {

inline std::uint32_t u32(std::int64_t value) {
  TILEWAVE_CHECK(value, >=, 0, "an instruction field is unsigned");
  TILEWAVE_CHECK(value, <=, std::numeric_limits<std::uint32_t>::max(),
                 "an instruction field has 32 bits");
  return static_cast<std::uint32_t>(value);
}

/// Number of `value` in `table`, appended if it is not there yet.
template <typename T>
std::uint32_t index_in(std::vector<T>& table, T value) {
  const auto found = std::find(table.begin(), table.end(), value);
  if (found != table.end()) return u32(found - table.begin());
  table.push_back(std::move(value));
  return u32(static_cast<std::int64_t>(table.size()) - 1);
}

/// Calls fn(first, count) for pieces of at most `most` of [0, total), as equal as they can be while
/// each but the last is a multiple of `unit`.
template <typename Fn>
void for_each_piece(std::int64_t total, std::int64_t most, std::int64_t unit, Fn fn) {
  const std::int64_t units = ceil_div(total, unit);
  const std::int64_t pieces = ceil_div(units, std::max<std::int64_t>(most / unit, 1));
  const std::int64_t size = ceil_div(units, pieces) * unit;
  for (std::int64_t first = 0; first < total; first += size) {
    fn(first, std::min(size, total - first));
  }
}

}  // namespace tilewave::sim
