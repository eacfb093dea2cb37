#include "sim/chip/field_types.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace tilewave::sim::chip_file {
namespace {

constexpr const char* kUnlimited = "unlimited";
constexpr double kBytesPerGigabyte = 1e9;
/// From a megabyte to a petabyte per second.
constexpr Reals kBandwidths{1e-3, 1e6};

/// Whole numbers without a decimal point, as one writes them.
Json number(double value) {
  constexpr double kExactlyWhole = 1e15;
  if (std::trunc(value) == value && std::abs(value) < kExactlyWhole)
    return static_cast<std::int64_t>(value);
  return value;
}

bool allows(Integers range, std::int64_t value) {
  return (value >= range.low && value <= range.high) || (value == range.also && value > range.high);
}

bool allows(Reals range, double value) {
  return (range.exclusive ? value > range.low : value >= range.low) && value <= range.high;
}

std::string text_of(Integers range) {
  const std::string text = std::to_string(range.low) + " to " + std::to_string(range.high);
  return range.also > range.high ? text + ", or " + std::to_string(range.also) : text;
}

std::string text_of(Reals range) {
  const std::string low = number(range.low).dump();
  const std::string high = number(range.high).dump();
  return range.exclusive ? "above " + low + ", at most " + high : low + " to " + high;
}

Json schema_of(Integers range) {
  const Json values = {{"type", "integer"}, {"minimum", range.low}, {"maximum", range.high}};
  if (range.also <= range.high) return values;
  return {{"anyOf", Json::array({values, {{"const", range.also}}})}};
}

Json schema_of(Reals range) {
  return {{"type", "number"},
          {range.exclusive ? "exclusiveMinimum" : "minimum", number(range.low)},
          {"maximum", number(range.high)}};
}

Json or_unlimited(const Json& schema) {
  return {{"anyOf", Json::array({schema, {{"const", kUnlimited}}})}};
}

template <typename Integer>
Field integer_field(const std::string& key, Integer& value, Integers range,
                    const std::string& description) {
  return {key,
          description,
          [=, &value](yaml::Map& map) { map.get(key, value); },
          [&value] { return Json(value); },
          [=, &value] { return allows(range, value) ? "" : text_of(range); },
          schema_of(range)};
}

bool is_identifier(const std::string& text) {
  constexpr std::size_t kLongest = 64;
  const auto alphanumeric = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !text.empty() && text.size() <= kLongest && alphanumeric(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return alphanumeric(c) || c == '_' || c == '-' || c == '.'; });
}

}  // namespace

Field integer(const std::string& key, std::int64_t& value, Integers range,
              const std::string& description) {
  return integer_field(key, value, range, description);
}

Field integer(const std::string& key, int& value, Integers range, const std::string& description) {
  return integer_field(key, value, range, description);
}

Field limit(const std::string& key, std::optional<std::int64_t>& value, Integers range,
            const std::string& description) {
  return {key,
          description,
          [=, &value](yaml::Map& map) { map.get(key, value); },
          [&value] { return value ? Json(*value) : Json(kUnlimited); },
          [=, &value] {
            return !value || allows(range, *value) ? "" : text_of(range) + ", or " + kUnlimited;
          },
          or_unlimited(schema_of(range))};
}

Field real(const std::string& key, double& value, Reals range, const std::string& description) {
  return {key,
          description,
          [=, &value](yaml::Map& map) { map.get(key, value); },
          [&value] { return number(value); },
          [=, &value] { return allows(range, value) ? "" : text_of(range); },
          schema_of(range)};
}

Field bandwidth(const std::string& key, Bandwidth& value, const std::string& description) {
  const auto gigabytes = [&value] { return static_cast<double>(*value) / kBytesPerGigabyte; };
  return {key,
          description,
          [=, &value](yaml::Map& map) {
            std::optional<double> given;
            map.get(key, given);
            if (!map.find(key)) return;
            value.reset();
            // Beyond the range it stays beyond it, and can be rounded to a whole number.
            if (given)
              value =
                  std::llround(std::clamp(*given, -1.0, 2 * kBandwidths.high) * kBytesPerGigabyte);
          },
          [=, &value] { return value ? number(gigabytes()) : Json(kUnlimited); },
          [=, &value] {
            return !value || allows(kBandwidths, gigabytes())
                       ? ""
                       : text_of(kBandwidths) + ", or " + kUnlimited;
          },
          or_unlimited(schema_of(kBandwidths))};
}

Field flag(const std::string& key, bool& value, const std::string& description) {
  return {key,
          description,
          [=, &value](yaml::Map& map) { map.get(key, value); },
          [&value] { return Json(value); },
          [] { return std::string(); },
          {{"type", "boolean"}}};
}

Field identifier(const std::string& key, std::string& value, const std::string& description) {
  return {key,
          description,
          [=, &value](yaml::Map& map) { map.get(key, value); },
          [&value] { return Json(value); },
          [&value] {
            return is_identifier(value) ? "" : "1 to 64 letters, digits, \"_\", \"-\" and \".\"";
          },
          {{"type", "string"}, {"pattern", "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"}}};
}

}  // namespace tilewave::sim::chip_file
