#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "sim/isa/text_values.h"

// One line of assembly text: its words, and the keys of a directive.

namespace tilewave::sim {

/// The words of a line, without its comment. Blanks inside quotes and brackets do not separate.
/// Throws InputError (at `at`) where a quote or a bracket is left open.
std::vector<std::string_view> split_words(std::string_view line, const std::string& at);

/// Reads the key=value words of one directive: a visitor for fields(). Call finish() after it.
class KeyReader {
 public:
  /// `words`: those after the directive and its number. Throws InputError on a word that is not
  /// key=value and on a key given twice.
  KeyReader(const std::vector<std::string_view>& words, std::string directive, std::string at);

  template <typename T>
  void operator()(std::string_view key, T&& value) {
    known_.emplace_back(key);
    for (Given& given : given_) {
      if (given.key != key) continue;
      given.is_known = true;
      Rest rest = given.value;
      if (!parse(rest, value) || !rest.empty()) {
        throw InputError(at_,
                         directive_ + ": " + std::string(key) + " is '" +
                             excerpt(std::string(given.value)) + "'",
                         allowed(value));
      }
    }
  }

  /// Throws InputError if a key was given that is none of those that were asked for.
  void finish() const;

 private:
  struct Given {
    std::string_view key;
    std::string_view value;
    bool is_known = false;
  };
  std::vector<Given> given_;
  std::vector<std::string> known_;
  std::string directive_;
  std::string at_;
};

}  // namespace tilewave::sim
