#pragma once

#include <cstdint>
#include <string>

#include "sim/chip/fields.h"

namespace tilewave::sim::chip_file {

/// The whole numbers from low to high and, if it is above high, one more.
struct Integers {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t also = 0;
};

/// The numbers from low to high; without low itself if it is exclusive.
struct Reals {
  double low = 0;
  double high = 0;
  bool exclusive = false;
};

// What each type of value does as a key of a chip file. See Field.

Field integer(const std::string& key, std::int64_t& value, Integers range,
              const std::string& description);
Field integer(const std::string& key, int& value, Integers range, const std::string& description);
/// A whole number, or `unlimited` for nothing.
Field limit(const std::string& key, std::optional<std::int64_t>& value, Integers range,
            const std::string& description);
Field real(const std::string& key, double& value, Reals range, const std::string& description);
/// 10^9 bytes per second in the file, bytes per second in the chip; or `unlimited`.
Field bandwidth(const std::string& key, Bandwidth& value, const std::string& description);
Field flag(const std::string& key, bool& value, const std::string& description);
/// Letters, digits, "_", "-" and ".", beginning with a letter or a digit.
Field identifier(const std::string& key, std::string& value, const std::string& description);

/// One of the names.
template <typename Enum>
Field choice(const std::string& key, Enum& value, const yaml::Names<Enum>& names,
             const std::string& description) {
  Json words = Json::array();
  for (const auto& name : names) words.push_back(name.second);
  const auto show = [&value, names] {
    for (const auto& [member, word] : names)
      if (member == value) return Json(word);
    return Json();
  };
  const auto refused = [show, words] {
    return show().is_null() ? "one of " + words.dump() : std::string();
  };
  return {key,  description, [=, &value](yaml::Map& map) { map.get(key, value, names); },
          show, refused,     {{"enum", words}}};
}

}  // namespace tilewave::sim::chip_file
