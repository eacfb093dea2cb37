#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "sim/chip/chip.h"

namespace tilewave::sim::chip_file {

using Json = nlohmann::ordered_json;

/// One key of a chip file, bound to its variable in a Chip.
struct Field {
  std::string key;
  std::string description;  ///< one sentence, with the unit
  std::function<void(yaml::Map&)> read;
  std::function<Json()> value;
  /// What is allowed, if the value is not; else empty.
  std::function<std::string()> refused;
  Json schema;  ///< of the value
};

/// A mapping of the chip file; the key is empty for the document itself.
struct Group {
  std::string key;
  std::string description;
  std::vector<Field> fields;

  std::string path(const Field& field) const {
    return key.empty() ? field.key : key + "." + field.key;
  }
};

/// Every key of a chip file, in the order of the resolved form. This is the one place where a key,
/// its range and its meaning stand: reader, checks, writers and schema all go through it. The chip
/// must outlive the result.
std::vector<Group> fields_of(Chip& chip);

}  // namespace tilewave::sim::chip_file
