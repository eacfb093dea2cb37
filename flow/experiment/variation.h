#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml.h"

namespace tilewave::flow {

/// A key that an experiment sets in a configuration, and its value.
using Setting = std::pair<std::string, yaml::Node>;
using Settings = std::vector<Setting>;

/// The settings of each point that `vary`, `random` and `points` of the document ask for, in order;
/// one point without settings if there are none of these. Throws InputError.
std::vector<Settings> read_variations(yaml::Map& document, const std::string& where);

/// The document of a configuration with the settings put in: mappings are merged key by key, and
/// all else is replaced. A key is one of a configuration, "scheme." and a scheme's, or a chip's.
yaml::Node with_settings(yaml::Node document, const Settings& settings);

/// Every single key that the settings touch, each once: of {array: {rows: 8}} it is array.rows.
std::vector<std::string> columns_of(const std::vector<Settings>& points);

}  // namespace tilewave::flow
