#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <numeric>

namespace tilewave {
namespace {

/// Levenshtein's distance, by one row of its table.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(const std::string& name, const std::vector<std::string>& candidates) {
  const std::size_t limit = std::max<std::size_t>(2, name.size() / 3);
  std::size_t best = limit + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    // The difference of the lengths is a lower bound; it keeps a hostile, long name cheap.
    const std::size_t longer = std::max(name.size(), candidate.size());
    if (longer - std::min(name.size(), candidate.size()) >= best) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best && distance < longer) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::string suggestion(const std::string& name, const std::vector<std::string>& candidates) {
  const std::string found = nearest(name, candidates);
  if (!found.empty()) return "did you mean " + found + "?";
  return candidates.empty() ? "" : "one of " + join(candidates, ", ");
}

std::string join(const std::vector<std::string>& parts, const std::string& separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) joined += separator;
    joined += part;
  }
  return joined;
}

std::string excerpt(const std::string& text) {
  constexpr std::size_t kMaxShown = 40;
  std::size_t end = std::min(kMaxShown, text.size());
  // Not within a character of UTF-8.
  const auto continues = [&](std::size_t at) { return (text[at] & 0xc0) == 0x80; };
  while (end > 0 && end < text.size() && continues(end)) --end;
  std::string shown = text.substr(0, end);
  const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; };
  std::replace_if(shown.begin(), shown.end(), is_control, ' ');
  return text.size() > kMaxShown ? shown + "..." : shown;
}

std::string number_text(double value) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

}  // namespace tilewave
