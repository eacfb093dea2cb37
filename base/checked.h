#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace tilewave {

/// The product of sizes, or nothing where one is negative or the product passes `limit`.
inline std::optional<std::int64_t> checked_product(std::initializer_list<std::int64_t> sizes,
                                                   std::int64_t limit = INT64_MAX) {
  std::int64_t product = 1;
  bool fits = true;
  bool zero = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) return std::nullopt;
    if (size == 0) {
      zero = true;
    } else if (fits) {
      fits = product <= limit / size;
      if (fits) product *= size;
    }
  }
  if (zero) return 0;
  if (!fits) return std::nullopt;
  return product;
}

}  // namespace tilewave
