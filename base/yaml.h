#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tilewave::yaml {

inline constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxDepth = 32;

/// A value of a YAML document, and where it stands.
struct Node {
  enum class Kind { null, scalar, sequence, mapping };
  Kind kind = Kind::null;
  int line = 0;                   ///< from 1; 0 if it stands nowhere
  bool quoted = false;            ///< a scalar in quotes is text, never a number
  std::string text;               ///< of a scalar
  std::vector<std::string> keys;  ///< of a mapping: keys[i] belongs to items[i]
  std::vector<Node> items;        ///< of a mapping or a sequence

  /// The value of a mapping's key; nullptr if there is none.
  const Node* find(const std::string& key) const;
};

/// One document. InputError, with `where` and the line, on malformed text, duplicate keys, anchors,
/// aliases, tags, a second document, and on more than kMaxDepth levels or kMaxBytes bytes.
Node parse(const std::string& text, const std::string& where);
Node load(const std::string& path);

template <typename Enum>
using Names = std::vector<std::pair<Enum, std::string>>;

/// Reads a mapping into typed variables. A variable whose key is absent keeps its value. Every
/// error is an InputError: "file.yaml:3: array.rows: what is wrong (what is allowed)".
class Map {
 public:
  /// `where`: the file, "" if there is none. `path`: of this mapping in the document, "" for the
  /// document itself. A null node counts as an empty mapping. The node must outlive the Map.
  Map(const Node& node, std::string where, std::string path = "");

  void get(const std::string& key, std::int64_t& value);
  void get(const std::string& key, int& value);
  void get(const std::string& key, double& value);  ///< finite
  void get(const std::string& key, bool& value);
  void get(const std::string& key, std::string& value);
  /// A number, or `unlimited` for nothing.
  void get(const std::string& key, std::optional<std::int64_t>& value);
  void get(const std::string& key, std::optional<double>& value);
  /// A sub-mapping; its unknown keys are refused when `read` has returned.
  void get(const std::string& key, const std::function<void(Map&)>& read);
  /// One of the names.
  template <typename Enum>
  void get(const std::string& key, Enum& value, const Names<Enum>& names) {
    std::vector<std::string> words;
    for (const auto& name : names) words.push_back(name.second);
    if (const auto index = choose(key, words)) value = names[*index].first;
  }

  /// The value as it stands, nullptr if the key is absent; the key then counts as known.
  const Node* find(const std::string& key);
  /// "file.yaml:3: array.rows", for errors about the value of `key`.
  std::string where(const std::string& key) const;
  /// Refuses every key that nothing has asked for, with the nearest one that was.
  void finish() const;

 private:
  std::string place(int line, const std::string& path) const;
  const Node* scalar(const std::string& key, const char* wanted);
  bool is_unlimited(const std::string& key);
  std::optional<std::size_t> choose(const std::string& key, const std::vector<std::string>& words);

  const Node& node_;
  std::string where_;
  std::string path_;
  std::set<std::string> known_;
};

}  // namespace tilewave::yaml
