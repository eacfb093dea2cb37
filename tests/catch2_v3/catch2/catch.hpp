#pragma once

// Catch2 3 (Ubuntu 24.04, Debian 13) under the header and names of Catch2 2, which the tests use.
#include <catch2/catch_all.hpp>
#include <string>

using Catch::Approx;

namespace Catch {
inline auto Contains(const std::string& text) {
  return Matchers::ContainsSubstring(text);
}
using Matchers::EndsWith;
using Matchers::StartsWith;
}  // namespace Catch
