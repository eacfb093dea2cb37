#include "sim/isa/assembly_line.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tilewave::sim {

std::vector<std::string_view> split_words(std::string_view line, const std::string& at) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  std::size_t depth = 0;
  bool is_quoted = false;
  const auto end_word = [&](std::size_t end) {
    if (end > begin) words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  };
  std::size_t i = 0;
  for (; i < line.size(); ++i) {
    const char c = line[i];
    if (is_quoted) {
      if (c == '\\') ++i;
      if (c == '"') is_quoted = false;
    } else if (c == '"') {
      is_quoted = true;
    } else if (c == '#') {
      break;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']') {
      if (depth == 0) throw InputError(at, "a bracket ']' closes nothing");
      --depth;
    } else if ((c == ' ' || c == '\t' || c == '\r') && depth == 0) {
      end_word(i);
    }
  }
  if (is_quoted) throw InputError(at, "a quote is not closed on its line");
  if (depth != 0) throw InputError(at, "a bracket '[' is not closed on its line");
  end_word(std::min(i, line.size()));
  return words;
}

KeyReader::KeyReader(const std::vector<std::string_view>& words, std::string directive,
                     std::string at)
    : directive_(std::move(directive)), at_(std::move(at)) {
  std::set<std::string_view> keys;
  for (const std::string_view word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      throw InputError(at_, directive_ + ": '" + excerpt(std::string(word)) + "' is no operand",
                       "key=value");
    }
    const std::string_view key = word.substr(0, equals);
    if (!keys.insert(key).second) {
      throw InputError(at_, directive_ + ": " + excerpt(std::string(key)) + " is given twice");
    }
    given_.push_back({key, word.substr(equals + 1)});
  }
}

void KeyReader::finish() const {
  for (const Given& given : given_) {
    if (given.is_known) continue;
    const std::string key(given.key);
    throw InputError(at_, directive_ + ": unknown key '" + excerpt(key) + "'",
                     suggestion(key, known_));
  }
}

}  // namespace tilewave::sim
