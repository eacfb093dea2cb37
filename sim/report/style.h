#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewave::sim {

enum class Colour { plain, bold, dim, red, green, yellow, blue, magenta, cyan };

/// What the place that text goes to can show.
struct Style {
  static constexpr std::size_t kWidth = 100;  ///< columns that a screen has

  bool colour = false;  ///< ANSI escape sequences
  bool blocks = false;  ///< UTF-8 block characters

  std::string paint(Colour colour, const std::string& text) const;
  /// `share` (0 to 1) of `width` columns, filled up with spaces.
  std::string bar(double share, std::size_t width) const;
};

/// 1234567 -> "1,234,567"
std::string grouped(std::int64_t value);
/// Three or four significant digits and a prefix: 0.00123, "s" -> "1.23 ms".
std::string with_prefix(double value, const std::string& unit);
/// 0.1234 -> "12.3 %"
std::string percent(double share, int decimals = 1);
/// At most `width` characters: the middle of a long name gives way to "~".
std::string shortened(const std::string& name, std::size_t width);
/// Quoted as RFC 4180 says where a text has a comma, a quote or a line break.
std::string csv_field(const std::string& text);

}  // namespace tilewave::sim
