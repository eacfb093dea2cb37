#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/yaml.h"
#include "sim/chip/check.h"
#include "sim/chip/chip.h"
#include "sim/chip/fields.h"

namespace tilewave::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".yaml";

bool is_path(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(kSuffix) || name.ends_with(".yml");
}

/// A chip while it is put together from files that extend each other.
class Reader {
 public:
  explicit Reader(Chip chip) : chip_(std::move(chip)) {}

  /// A preset, or a file relative to `directory`. `where` asked for it.
  void load(const std::string& name, const fs::path& directory, const std::string& where) {
    if (!is_path(name)) {
      const std::vector<std::string> names = chip_names();
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw InputError(where, "there is no chip " + excerpt(name), suggestion(name, names));
    }
    const fs::path file =
        is_path(name) ? directory / name : fs::path(configs_directory()) / (name + kSuffix);
    std::error_code ignored;
    const fs::path identity = fs::weakly_canonical(file, ignored);
    if (std::find(open_.begin(), open_.end(), identity) != open_.end())
      throw InputError(where, excerpt(name) + " extends itself");
    open_.push_back(identity);
    read(yaml::load(file.string()), file.string());
    open_.pop_back();
  }

  /// Takes over what the document says.
  void read(const yaml::Node& document, const std::string& where) {
    yaml::Map map(document, where);
    std::string base;
    map.get("extends", base);
    if (map.find("extends")) load(base, fs::path(where).parent_path(), map.where("extends"));
    read_fields(map);
    map.finish();
  }

  void read_fields(yaml::Map& map) {
    for (const chip_file::Group& group : chip_file::fields_of(chip_)) {
      const auto read_group = [&](yaml::Map& from) {
        for (const chip_file::Field& field : group.fields) {
          field.read(from);
          if (from.find(field.key)) places_[group.path(field)] = from.where(field.key);
        }
      };
      if (group.key.empty()) {
        read_group(map);
      } else {
        map.get(group.key, read_group);
      }
    }
  }

  Chip finish(const std::string& where) {
    chip_file::check(chip_, [&](const std::string& path) {
      const auto found = places_.find(path);
      if (found != places_.end()) return found->second;
      return where.empty() ? path : where + ": " + path;
    });
    return std::move(chip_);
  }

 private:
  Chip chip_;
  std::map<std::string, std::string> places_;  ///< where each key that was given stands
  std::vector<fs::path> open_;                 ///< files that are being read, outermost first
};

}  // namespace

std::string configs_directory() {
  return shipped_directory("TILEWAVE_CONFIGS", TILEWAVE_SOURCE_CONFIGS, "configs");
}

std::vector<std::string> chip_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(configs_directory(), ignored))
    if (entry.path().extension() == kSuffix) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Chip load_chip(const std::string& name_or_path) {
  Reader reader{Chip{}};
  reader.load(name_or_path, "", excerpt(name_or_path));
  return reader.finish(name_or_path);
}

Chip parse_chip(const std::string& yaml, const std::string& where) {
  return parse_chip(yaml::parse(yaml, where), where);
}

Chip parse_chip(const yaml::Node& document, const std::string& where) {
  Reader reader{Chip{}};
  reader.read(document, where);
  return reader.finish(where);
}

namespace {

/// {a: {b: value}} of a.b: value.
yaml::Node nested(const std::string& key, const std::string& value) {
  yaml::Node node = yaml::parse(value, key);
  // From the innermost part of the key outwards.
  std::string rest = key;
  for (std::size_t dot = rest.rfind('.');; dot = rest.rfind('.')) {
    const std::string part = dot == std::string::npos ? rest : rest.substr(dot + 1);
    yaml::Node outer;
    outer.kind = yaml::Node::Kind::mapping;
    outer.keys.push_back(part);
    outer.items.push_back(std::move(node));
    node = std::move(outer);
    if (dot == std::string::npos) break;
    rest.resize(dot);
  }
  return node;
}

}  // namespace

Chip with_key(const Chip& chip, const std::string& key, const std::string& value) {
  return with_keys(chip, {{key, value}});
}

Chip with_keys(const Chip& chip, const std::vector<std::pair<std::string, std::string>>& keys) {
  Reader reader(chip);
  for (const auto& [key, value] : keys) {
    const yaml::Node node = nested(key, value);
    yaml::Map map(node, "");
    reader.read_fields(map);
    map.finish();
  }
  return reader.finish("");
}

}  // namespace tilewave::sim
