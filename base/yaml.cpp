#include "base/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace tilewave::yaml {
namespace {

std::string at(const std::string& where, int line) {
  return line > 0 ? where + ":" + std::to_string(line) : where;
}

/// Builds the tree from yaml-cpp's events. What is refused is refused while it is read: the parser
/// recurses with the nesting, and an alias can stand for a tree of any size.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(std::string where) : where_(std::move(where)) {}
  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_plain(mark, anchor, "");
    add({Node::Kind::null, mark.line + 1, false, "", {}, {}});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(mark, "anchors and aliases are not allowed");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_plain(mark, anchor, tag);
    add({Node::Kind::scalar, mark.line + 1, tag == "!", value, {}, {}});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::sequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::mapping, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Node node;
    std::set<std::string> seen;
    bool awaits_value = false;  ///< the last key of the mapping has no value yet
  };

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& what,
                         const std::string& allowed = "") const {
    throw InputError(at(where_, mark.line + 1), what, allowed);
  }

  /// Plain scalars come with the tag "?", quoted ones with "!".
  void check_plain(const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& tag) const {
    if (anchor != 0) fail(mark, "anchors and aliases are not allowed");
    if (!tag.empty() && tag != "?" && tag != "!") fail(mark, "tags are not allowed");
  }

  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    check_plain(mark, anchor, tag);
    if (levels_.size() == kMaxDepth)
      fail(mark, "is nested too deeply", "at most " + std::to_string(kMaxDepth) + " levels");
    if (awaits_key()) fail(mark, "a key must be a name");
    levels_.push_back({{kind, mark.line + 1, false, "", {}, {}}, {}, false});
  }

  void close() {
    Node node = std::move(levels_.back().node);
    levels_.pop_back();
    add(std::move(node));
  }

  bool awaits_key() const {
    return !levels_.empty() && levels_.back().node.kind == Node::Kind::mapping &&
           !levels_.back().awaits_value;
  }

  void add(Node node) {
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = levels_.back();
    if (awaits_key()) {
      if (node.kind != Node::Kind::scalar)
        throw InputError(at(where_, node.line), "a key is empty");
      if (!level.seen.insert(node.text).second)
        throw InputError(at(where_, node.line), "the key " + excerpt(node.text) + " appears twice");
      level.node.keys.push_back(std::move(node.text));
      level.awaits_value = true;
      return;
    }
    level.node.items.push_back(std::move(node));
    level.awaits_value = false;
  }

  std::string where_;
  Node root_;
  std::vector<Level> levels_;
};

/// As much of a wrong value as fits an error of one line.
std::string shown(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "an empty value";
    case Node::Kind::sequence:
      return "a sequence";
    case Node::Kind::mapping:
      return "a mapping";
    case Node::Kind::scalar:
      break;
  }
  const std::string text = excerpt(node.text);
  return node.quoted || text.empty() ? '"' + text + '"' : text;
}

/// The whole text as a number of type T; false if it is anything else.
template <typename T>
bool reads_as(const Node& node, T& value) {
  const char* end = node.text.data() + node.text.size();
  const auto [stop, error] = std::from_chars(node.text.data(), end, value);
  return !node.quoted && error == std::errc{} && stop == end;
}

}  // namespace

const Node* Node::find(const std::string& key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

Node parse(const std::string& text, const std::string& where) {
  if (text.size() > kMaxBytes)
    throw InputError(where, "is too large", "at most " + std::to_string(kMaxBytes) + " bytes");
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Builder first(where);
    parser.HandleNextDocument(first);
    Builder second(where);
    if (parser.HandleNextDocument(second)) throw InputError(where, "has more than one document");
    return first.take();
  } catch (const YAML::Exception& error) {
    throw InputError(at(where, error.mark.line + 1), "malformed YAML: " + error.msg);
  }
}

Node load(const std::string& path) {
  return parse(read_text(path, kMaxBytes), path);
}

Map::Map(const Node& node, std::string where, std::string path)
    : node_(node), where_(std::move(where)), path_(std::move(path)) {
  if (node.kind != Node::Kind::mapping && node.kind != Node::Kind::null)
    throw InputError(place(node.line, path_), shown(node) + " is not a mapping", "key: value");
}

std::string Map::place(int line, const std::string& path) const {
  if (where_.empty()) return path;
  return path.empty() ? at(where_, line) : at(where_, line) + ": " + path;
}

std::string Map::where(const std::string& key) const {
  const Node* node = node_.find(key);
  return place(node ? node->line : 0, (path_.empty() ? "" : path_ + ".") + excerpt(key));
}

const Node* Map::find(const std::string& key) {
  known_.insert(key);
  return node_.find(key);
}

const Node* Map::scalar(const std::string& key, const char* wanted) {
  const Node* node = find(key);
  if (node && node->kind != Node::Kind::scalar)
    throw InputError(where(key), shown(*node) + " is not " + wanted);
  return node;
}

void Map::get(const std::string& key, std::int64_t& value) {
  const char* wanted = "a whole number";
  const Node* node = scalar(key, wanted);
  if (node && !reads_as(*node, value))
    throw InputError(where(key), shown(*node) + " is not " + wanted);
}

void Map::get(const std::string& key, int& value) {
  std::int64_t wide = value;
  get(key, wide);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max())
    throw InputError(where(key), std::to_string(wide) + " is not allowed");
  value = static_cast<int>(wide);
}

void Map::get(const std::string& key, double& value) {
  const char* wanted = "a number";
  const Node* node = scalar(key, wanted);
  if (node && !(reads_as(*node, value) && std::isfinite(value)))
    throw InputError(where(key), shown(*node) + " is not " + wanted);
}

void Map::get(const std::string& key, bool& value) {
  get(key, value, Names<bool>{{true, "true"}, {false, "false"}});
}

void Map::get(const std::string& key, std::string& value) {
  if (const Node* node = scalar(key, "a text")) value = node->text;
}

bool Map::is_unlimited(const std::string& key) {
  const Node* node = find(key);
  return node && node->kind == Node::Kind::scalar && node->text == "unlimited";
}

namespace {
/// The value that a getter for plain numbers starts from: it keeps it if the key is absent.
template <typename T>
void get_optional(Map& map, const std::string& key, bool unlimited, std::optional<T>& value) {
  if (unlimited) {
    value.reset();
  } else if (map.find(key)) {
    map.get(key, value.emplace());
  }
}
}  // namespace

void Map::get(const std::string& key, std::optional<std::int64_t>& value) {
  get_optional(*this, key, is_unlimited(key), value);
}

void Map::get(const std::string& key, std::optional<double>& value) {
  get_optional(*this, key, is_unlimited(key), value);
}

void Map::get(const std::string& key, const std::function<void(Map&)>& read) {
  const Node* node = find(key);
  if (!node) return;
  Map map(*node, where_, path_.empty() ? key : path_ + "." + key);
  read(map);
  map.finish();
}

std::optional<std::size_t> Map::choose(const std::string& key,
                                       const std::vector<std::string>& words) {
  const Node* node = scalar(key, "a name");
  if (!node) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), node->text);
  if (found == words.end())
    throw InputError(where(key), shown(*node) + " is not allowed", suggestion(node->text, words));
  return static_cast<std::size_t>(found - words.begin());
}

void Map::finish() const {
  for (const std::string& key : node_.keys) {
    if (known_.count(key) > 0) continue;
    throw InputError(where(key), "unknown key",
                     suggestion(key, std::vector<std::string>(known_.begin(), known_.end())));
  }
}

}  // namespace tilewave::yaml
