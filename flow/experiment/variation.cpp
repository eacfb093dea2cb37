#include "flow/experiment/variation.h"

#include <algorithm>
#include <random>
#include <set>
#include <unordered_set>

#include "base/checked.h"
#include "base/error.h"
#include "flow/experiment/experiment.h"

namespace tilewave::flow {
namespace {

using yaml::Node;

bool is_of_configuration(const std::string& key) {
  static const std::set<std::string> kKeys = {"chip", "scheme", "model",
                                              "data", "batch",  "accuracy"};
  return kKeys.contains(key);
}

std::string place(const std::string& where, const Node& node, const std::string& key) {
  return where + ":" + std::to_string(node.line) + ": " + key;
}

/// A key and the values that it takes in turn.
struct Axis {
  std::string key;
  const std::vector<Node>* values;
};

std::vector<Axis> read_axes(const Node* vary, const std::string& where) {
  if (vary == nullptr) return {};
  std::vector<Axis> axes;
  const yaml::Map checked(*vary, where, "vary");
  for (std::size_t i = 0; i < vary->keys.size(); ++i) {
    const Node& values = vary->items[i];
    if (values.kind != Node::Kind::sequence || values.items.empty()) {
      throw InputError(checked.where(vary->keys[i]), "is no list of values", "as [1, 2]");
    }
    axes.push_back({vary->keys[i], &values.items});
  }
  return axes;
}

/// Number `index` of the grid: the first key changes slowest.
Settings grid_point(const std::vector<Axis>& axes, std::int64_t index) {
  Settings settings(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto count = static_cast<std::int64_t>(axes[i].values->size());
    settings[i] = {axes[i].key, (*axes[i].values)[static_cast<std::size_t>(index % count)]};
    index /= count;
  }
  return settings;
}

std::int64_t grid_size(const std::vector<Axis>& axes, const std::string& where) {
  std::int64_t size = 1;
  for (const Axis& axis : axes) {
    const auto product =
        checked_product({size, static_cast<std::int64_t>(axis.values->size())}, INT64_MAX / 2);
    if (!product) throw InputError(where, "the grid has too many points", "below 2^62");
    size = *product;
  }
  return size;
}

/// So many different numbers below `size`, in the order in which they are drawn: fewer of the same
/// seed are the beginning of more. The same on every machine, as distributions are not.
std::vector<std::int64_t> draw(std::int64_t samples, std::int64_t size, std::int64_t seed) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  const auto range = static_cast<std::uint64_t>(size);
  const std::uint64_t even = UINT64_MAX - UINT64_MAX % range;  // beyond, some would come more often
  std::vector<std::int64_t> drawn;
  std::unordered_set<std::int64_t> seen;
  while (static_cast<std::int64_t>(drawn.size()) < samples) {
    const std::uint64_t value = random();
    if (value >= even) continue;
    const auto index = static_cast<std::int64_t>(value % range);
    if (seen.insert(index).second) drawn.push_back(index);
  }
  return drawn;
}

void check_count(std::int64_t count, std::int64_t most, const std::string& where) {
  if (count >= 1 && count <= most) return;
  throw InputError(where, std::to_string(count) + " points", "1 to " + std::to_string(most));
}

/// The numbers in the grid of the points that are asked for.
std::vector<std::int64_t> grid_indices(const std::vector<Axis>& axes, yaml::Map& document) {
  const std::int64_t size = grid_size(axes, document.where("vary"));
  if (document.find("random") == nullptr) {
    check_count(size, kMaxPoints, document.where("vary"));
    std::vector<std::int64_t> all(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    return all;
  }
  if (axes.empty()) {
    throw InputError(document.where("random"), "draws from nothing", "together with vary");
  }
  std::vector<std::int64_t> indices;
  document.get("random", [&](yaml::Map& random) {
    std::int64_t samples = 0;
    std::int64_t seed = 0;
    random.get("samples", samples);
    random.get("seed", seed);
    check_count(samples, std::min(size, kMaxPoints), random.where("samples"));
    indices = draw(samples, size, seed);
  });
  return indices;
}

std::vector<Settings> read_points(const Node* points, const std::string& where) {
  if (points == nullptr) return {};
  if (points->kind != Node::Kind::sequence || points->items.empty()) {
    throw InputError(place(where, *points, "points"), "is no list of settings",
                     "as [{batch: 1}, {batch: 2}]");
  }
  std::vector<Settings> read;
  for (const Node& item : points->items) {
    const yaml::Map checked(item, where, "points");
    Settings settings;
    for (std::size_t i = 0; i < item.keys.size(); ++i) {
      settings.emplace_back(item.keys[i], item.items[i]);
    }
    read.push_back(std::move(settings));
  }
  return read;
}

Node mapping(const std::string& key, Node value) {
  Node node;
  node.kind = Node::Kind::mapping;
  node.line = value.line;
  node.keys = {key};
  node.items = {std::move(value)};
  return node;
}

Node* find(Node& mapping, const std::string& key) {
  const auto found = std::find(mapping.keys.begin(), mapping.keys.end(), key);
  if (found == mapping.keys.end()) return nullptr;
  return &mapping.items[static_cast<std::size_t>(found - mapping.keys.begin())];
}

void merge(Node& into, const Node& from) {
  if (into.kind == Node::Kind::null && from.kind == Node::Kind::mapping) into.kind = from.kind;
  if (into.kind != Node::Kind::mapping || from.kind != Node::Kind::mapping) {
    into = from;
    return;
  }
  for (std::size_t i = 0; i < from.keys.size(); ++i) {
    if (Node* const old = find(into, from.keys[i])) {
      merge(*old, from.items[i]);
    } else {
      into.keys.push_back(from.keys[i]);
      into.items.push_back(from.items[i]);
    }
  }
}

/// A chip by its name becomes one that extends it, so that keys can be merged in.
Node as_chip(const Node& node) {
  return node.kind == Node::Kind::scalar ? mapping("extends", node) : node;
}

/// {chip: {array: {rows: value}}} of array.rows.
Node nested(const std::string& key, Node value) {
  std::string path = is_of_configuration(key) || key.starts_with("scheme.") ? key : "chip." + key;
  for (std::size_t dot = path.rfind('.'); dot != std::string::npos; dot = path.rfind('.')) {
    value = mapping(path.substr(dot + 1), std::move(value));
    path.resize(dot);
  }
  return mapping(path, std::move(value));
}

void add_leaves(const std::string& key, const Node& value, std::vector<std::string>& leaves) {
  if (value.kind != Node::Kind::mapping || key == "chip") {
    if (std::find(leaves.begin(), leaves.end(), key) == leaves.end()) leaves.push_back(key);
    return;
  }
  for (std::size_t i = 0; i < value.keys.size(); ++i) {
    add_leaves(key + "." + value.keys[i], value.items[i], leaves);
  }
}

}  // namespace

std::vector<Settings> read_variations(yaml::Map& document, const std::string& where) {
  const Node* vary = document.find("vary");
  const Node* points = document.find("points");
  std::vector<Settings> settings;
  // Without a grid, listed points are all there is.
  if (vary != nullptr || document.find("random") != nullptr || points == nullptr) {
    const std::vector<Axis> axes = read_axes(vary, where);
    for (const std::int64_t index : grid_indices(axes, document)) {
      settings.push_back(grid_point(axes, index));
    }
  }
  for (Settings& listed : read_points(points, where)) settings.push_back(std::move(listed));
  check_count(static_cast<std::int64_t>(settings.size()), kMaxPoints, where);
  return settings;
}

Node with_settings(Node document, const Settings& settings) {
  // A chip first: the others change keys of it.
  for (const auto& [key, value] : settings) {
    if (key != "chip") continue;
    if (Node* const old = find(document, key)) *old = {};
    merge(document, mapping(key, value));
  }
  if (Node* const chip = find(document, "chip")) *chip = as_chip(*chip);
  for (const auto& [key, value] : settings) {
    if (key != "chip") merge(document, nested(key, value));
  }
  return document;
}

std::vector<std::string> columns_of(const std::vector<Settings>& points) {
  std::vector<std::string> columns;
  for (const Settings& settings : points) {
    for (const auto& [key, value] : settings) add_leaves(key, value, columns);
  }
  return columns;
}

}  // namespace tilewave::flow
