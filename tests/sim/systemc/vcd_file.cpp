#include "tests/sim/systemc/vcd_file.h"

#include <sstream>
#include <stdexcept>

namespace tilewave::test {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::runtime_error("not a value change dump: " + what);
}

/// The words up to $end.
std::vector<std::string> section(std::istream& in) {
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    if (word == "$end") return words;
    words.push_back(word);
  }
  refuse("a section does not end");
}

std::string joined(const std::vector<std::string>& scopes, const std::string& name) {
  std::string path;
  for (const std::string& scope : scopes) path += scope + ".";
  return path + name;
}

std::uint64_t binary(const std::string& digits) {
  if (digits.empty() || digits.find_first_not_of("01") != std::string::npos) refuse(digits);
  return std::stoull(digits, nullptr, 2);
}

}  // namespace

VcdFile::VcdFile(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> scopes;
  std::map<std::string, Signal*> by_code;
  bool in_values = false;
  for (std::string word; in >> word;) {
    if (word == "$scope") {
      scopes.push_back(section(in).at(1));
    } else if (word == "$upscope") {
      if (scopes.empty() || !section(in).empty()) refuse("$upscope");
      scopes.pop_back();
    } else if (word == "$var") {
      const std::vector<std::string> words = section(in);
      const std::string name = joined(scopes, words.at(3));
      names_.push_back(name);
      if (!signals_.try_emplace(name).second) refuse("two signals " + name);
      signals_[name].bits = std::stoi(words.at(1));
      const std::string range = "[" + std::to_string(signals_[name].bits - 1) + ":0]";
      if (words.size() > 4 && words[4] != range) refuse(words[4]);
      if (!by_code.try_emplace(words.at(2), &signals_[name]).second) refuse("two of one code");
    } else if (word == "$enddefinitions") {
      if (!section(in).empty() || !scopes.empty()) refuse("$enddefinitions");
      in_values = true;
    } else if (word == "$comment" || word == "$version" || word == "$timescale") {
      section(in);
    } else if (word == "$dumpvars" || word == "$end") {
      continue;  // around values
    } else if (!in_values) {
      refuse(word);
    } else if (word[0] == '#') {
      const std::int64_t time = std::stoll(word.substr(1));
      if (!times_.empty() && time <= times_.back()) refuse("time goes back");
      times_.push_back(time);
    } else {
      std::string code = word.substr(1);
      std::string digits = word.substr(0, 1);
      if (digits == "b") {
        digits = code;
        in >> code;
      }
      if (times_.empty() || by_code.count(code) == 0) refuse(word);
      by_code[code]->changes[times_.back()] = binary(digits);
    }
  }
  if (times_.empty()) refuse("no time");
}

const VcdFile::Signal& VcdFile::signal(const std::string& name) const {
  const auto found = signals_.find(name);
  if (found == signals_.end()) refuse("no signal " + name);
  return found->second;
}

std::uint64_t VcdFile::value(const std::string& name, std::int64_t time) const {
  const auto& changes = signal(name).changes;
  auto after = changes.upper_bound(time);
  if (after == changes.begin()) refuse(name + " has no value yet");
  return std::prev(after)->second;
}

std::int64_t VcdFile::signed_value(const std::string& name, std::int64_t time) const {
  const auto unsigned_value = static_cast<std::int64_t>(value(name, time));
  const std::int64_t sign = std::int64_t{1} << (bits(name) - 1);
  return (unsigned_value & sign) != 0 ? unsigned_value - 2 * sign : unsigned_value;
}

}  // namespace tilewave::test
