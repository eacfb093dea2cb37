#include "sim/isa/text_values.h"

#include <array>
#include <system_error>

namespace tilewave::sim {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The character after a backslash. Takes what it reads from `rest`.
bool parse_escape(Rest& rest, std::string& text) {
  if (take(rest, '"')) {
    text += '"';
  } else if (take(rest, '\\')) {
    text += '\\';
  } else if (take(rest, 'x')) {
    if (rest.size() < 2 || hex_digit(rest[0]) < 0 || hex_digit(rest[1]) < 0) return false;
    text += static_cast<char>(16 * hex_digit(rest[0]) + hex_digit(rest[1]));
    rest.remove_prefix(2);
  } else {
    return false;
  }
  return true;
}

template <typename T>
bool from_chars(Rest& rest, T& value, auto... base) {
  const char* const end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data(), end, value, base...);
  if (error != std::errc{}) return false;
  rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  return true;
}

}  // namespace

bool parse_integer(Rest& rest, std::int64_t low, std::uint64_t high, std::uint64_t& bits) {
  const bool is_negative = take(rest, '-');
  const bool is_hex =
      rest.size() > 2 && rest[0] == '0' && rest[1] == 'x' && hex_digit(rest[2]) >= 0;
  if (is_hex) rest.remove_prefix(2);
  std::uint64_t magnitude = 0;
  if (!from_chars(rest, magnitude, is_hex ? 16 : 10)) return false;
  // Of a negative number the magnitude is at most -low; 0 - low is right for INT64_MIN too.
  const std::uint64_t limit =
      is_negative ? std::uint64_t{0} - static_cast<std::uint64_t>(low) : high;
  if (magnitude > limit) return false;
  bits = is_negative ? std::uint64_t{0} - magnitude : magnitude;
  return true;
}

std::string print_hex(std::uint64_t value) {
  std::array<char, 16> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, 16);
  return "0x" + std::string(buffer.data(), end);
}

std::string print(bool value) {
  return value ? "true" : "false";
}
bool parse(Rest& rest, bool& value) {
  value = rest == "true";
  if (!value && rest != "false") return false;
  rest = {};
  return true;
}
std::string allowed(const bool&) {
  return "true or false";
}

std::string print(float value) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}
bool parse(Rest& rest, float& value) {
  return from_chars(rest, value);
}
std::string allowed(const float&) {
  return "a number that fits a float";
}

std::string print(const std::string& text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (byte < ' ' || byte == 0x7f) {
      quoted += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}
bool parse(Rest& rest, std::string& text) {
  text.clear();
  if (!take(rest, '"')) {
    text = std::exchange(rest, Rest{});
    return true;
  }
  while (!rest.empty() && rest.front() != '"') {
    if (take(rest, '\\')) {
      if (!parse_escape(rest, text)) return false;
    } else {
      text += rest.front();
      rest.remove_prefix(1);
    }
  }
  return take(rest, '"');
}
std::string allowed(const std::string&) {
  return "text in quotes, with \\\", \\\\ and \\xNN";
}

std::string print(const quant::FixedPointMultiplier& value) {
  return print(value.q31) + ':' + print(value.exponent);
}
bool parse(Rest& rest, quant::FixedPointMultiplier& value) {
  return parse(rest, value.q31) && take(rest, ':') && parse(rest, value.exponent);
}
std::string allowed(const quant::FixedPointMultiplier&) {
  return "q31:exponent";
}

}  // namespace tilewave::sim
