#include "sim/chip/chip.h"
#include "sim/chip/fields.h"

namespace tilewave::sim {
namespace {

using chip_file::Field;
using chip_file::fields_of;
using chip_file::Group;
using chip_file::Json;

/// The mapping that a group's fields go to: the document itself for the group without a key.
Json& place_of(const Group& group, Json& document) {
  return group.key.empty() ? document : document[group.key];
}

Json resolved(Chip chip) {
  Json document = Json::object();
  for (const Group& group : fields_of(chip))
    for (const Field& field : group.fields) place_of(group, document)[field.key] = field.value();
  return document;
}

/// {rows: 8, cols: 8}: numbers, and words that YAML takes as they are.
std::string flow_mapping(const Json& mapping) {
  std::string text;
  for (const auto& [key, value] : mapping.items()) {
    text += text.empty() ? "{" : ", ";
    text += key + ": " + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text + "}";
}

}  // namespace

std::string to_yaml(const Chip& chip) {
  const Json document = resolved(chip);
  std::string text;
  for (const auto& [key, value] : document.items())
    // The name stays in quotes: it may be a word such as null.
    text += key + ": " + (value.is_object() ? flow_mapping(value) : value.dump()) + "\n";
  return text;
}

std::string to_json(const Chip& chip) {
  return resolved(chip).dump();
}

std::string json_schema() {
  Chip defaults;
  Json properties = Json::object();
  properties["extends"] = {{"type", "string"},
                           {"description", "A preset or a file whose keys this one overrides."}};
  for (const Group& group : fields_of(defaults)) {
    Json own = Json::object();
    for (const Field& field : group.fields) {
      Json entry = field.schema;
      entry["description"] = field.description;
      entry["default"] = field.value();
      own[field.key] = entry;
    }
    if (group.key.empty()) {
      properties.update(own);
    } else {
      properties[group.key] = {{"type", "object"},
                               {"description", group.description},
                               {"additionalProperties", false},
                               {"properties", own}};
    }
  }
  const Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                       {"title", "tilewave chip"},
                       {"type", "object"},
                       {"additionalProperties", false},
                       {"properties", properties}};
  return schema.dump(2) + "\n";
}

}  // namespace tilewave::sim
