#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/isa/table_fields.h"

// How single values are written and read in assembly text. print, parse and allowed (what parse
// accepts, for messages) come as a set for each kind of value.

namespace tilewave::sim {

/// What is left of a value's text.
using Rest = std::string_view;

inline bool take(Rest& rest, char c) {
  if (rest.empty() || rest.front() != c) return false;
  rest.remove_prefix(1);
  return true;
}
inline void skip_blanks(Rest& rest) {
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
}

/// A whole number, decimal or 0x..., within [low, high].
bool parse_integer(Rest& rest, std::int64_t low, std::uint64_t high, std::uint64_t& bits);

/// 0x...
std::string print_hex(std::uint64_t value);

template <std::integral T>
std::string print(T value) {
  return std::to_string(value);
}
template <std::integral T>
bool parse(Rest& rest, T& value) {
  std::uint64_t bits = 0;
  if (!parse_integer(rest, static_cast<std::int64_t>(std::numeric_limits<T>::min()),
                     static_cast<std::uint64_t>(std::numeric_limits<T>::max()), bits)) {
    return false;
  }
  value = static_cast<T>(bits);
  return true;
}
template <std::integral T>
std::string allowed(const T&) {
  if (sizeof(T) == sizeof(std::int64_t)) return "a whole number";
  return "a whole number, " + std::to_string(std::numeric_limits<T>::min()) + " to " +
         std::to_string(std::numeric_limits<T>::max());
}

std::string print(bool value);
bool parse(Rest& rest, bool& value);
std::string allowed(const bool&);

/// The shortest text that reads back as the same float.
std::string print(float value);
bool parse(Rest& rest, float& value);
std::string allowed(const float&);

/// In quotes, with \" \\ and \xNN; read without quotes too, to the end.
std::string print(const std::string& text);
bool parse(Rest& rest, std::string& text);
std::string allowed(const std::string&);

std::string print(const quant::FixedPointMultiplier& value);
bool parse(Rest& rest, quant::FixedPointMultiplier& value);
std::string allowed(const quant::FixedPointMultiplier&);

template <typename E>
requires std::is_enum_v<E> std::string print(E value) {
  return std::string(EnumNames<E>::names.at(static_cast<std::size_t>(value)));
}
template <typename E>
requires std::is_enum_v<E>
bool parse(Rest& rest, E& value) {
  for (std::size_t i = 0; i < EnumNames<E>::names.size(); ++i) {
    if (rest == EnumNames<E>::names[i]) {
      rest = {};
      value = static_cast<E>(i);
      return true;
    }
  }
  return false;
}
template <typename E>
requires std::is_enum_v<E> std::string allowed(const E&) {
  std::string text;
  for (const std::string_view name : EnumNames<E>::names) {
    text += (text.empty() ? "" : " or ") + std::string(name);
  }
  return text;
}

template <char separator, typename... T>
std::string print(const Joined<separator, T...>& value) {
  std::string text;
  std::apply([&](const auto&... part) { ((text += print(part) + separator), ...); }, value.parts);
  text.pop_back();
  return text;
}
template <char separator, typename... T>
bool parse(Rest& rest, Joined<separator, T...>& value) {
  bool is_first = true;
  const auto parse_part = [&](auto& part) {
    return (std::exchange(is_first, false) || take(rest, separator)) && parse(rest, part);
  };
  return std::apply([&](auto&... part) { return (parse_part(part) && ...); }, value.parts);
}
template <char separator, typename... T>
std::string allowed(const Joined<separator, T...>& value) {
  return std::to_string(sizeof...(T)) + " numbers with " + separator + " between, each " +
         allowed(std::get<0>(value.parts));
}

template <typename T>
std::string print(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) {
    if (&value != &values.front()) text += ',';
    text += print(value);
  }
  return text + "]";
}
template <typename T>
bool parse(Rest& rest, std::vector<T>& values) {
  values.clear();
  if (!take(rest, '[')) return false;
  skip_blanks(rest);
  if (take(rest, ']')) return true;
  do {
    skip_blanks(rest);
    if (!parse(rest, values.emplace_back())) return false;
    skip_blanks(rest);
  } while (take(rest, ','));
  return take(rest, ']');
}
template <typename T>
std::string allowed(const std::vector<T>&) {
  return "a list [..., ...], each " + allowed(T{});
}

}  // namespace tilewave::sim
