#include "sim/report/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tilewave::sim {

std::string Style::paint(Colour which, const std::string& text) const {
  if (!colour || which == Colour::plain) return text;
  static constexpr std::array<const char*, 9> kCodes = {"0",  "1",  "2",  "31", "32",
                                                        "33", "34", "35", "36"};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(which)], text);
}

std::string Style::bar(double share, std::size_t width) const {
  const double columns = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  if (!blocks) {
    auto full = static_cast<std::size_t>(std::lround(columns));
    if (share > 0) full = std::max<std::size_t>(full, 1);
    return std::string(full, '#') + std::string(width - full, ' ');
  }
  // Block characters count in eighths of a column.
  static constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  auto eighths = static_cast<std::size_t>(std::lround(columns * 8));
  if (share > 0) eighths = std::max<std::size_t>(eighths, 1);
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  text += kEighths[eighths % 8];
  const std::size_t used = (eighths + 7) / 8;
  return text + std::string(width - used, ' ');
}

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::ptrdiff_t first = value < 0 ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string with_prefix(double value, const std::string& unit) {
  static constexpr std::array<const char*, 9> kPrefixes = {"p", "n", "u", "m", "",
                                                           "k", "M", "G", "T"};
  constexpr std::size_t kOne = 4;
  std::size_t prefix = kOne;
  double scaled = value;
  while (std::abs(scaled) >= 999.95 && prefix + 1 < kPrefixes.size()) scaled /= 1000, ++prefix;
  while (scaled != 0 && std::abs(scaled) < 0.99995 && prefix > 0) scaled *= 1000, --prefix;
  const int decimals = std::abs(scaled) < 9.995 ? 2 : 1;
  return fmt::format("{:.{}f} {}{}", scaled, decimals, kPrefixes[prefix], unit);
}

std::string percent(double share, int decimals) {
  return fmt::format("{:.{}f} %", share * 100, decimals);
}

std::string shortened(const std::string& name, std::size_t width) {
  if (name.size() <= width) return name;
  const std::size_t tail = (width - 1) / 2;
  return name.substr(0, width - 1 - tail) + "~" + name.substr(name.size() - tail);
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + "\"";
}

}  // namespace tilewave::sim
