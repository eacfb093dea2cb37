#pragma once

#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>

namespace tilewave {

/// Something the user gave is wrong. One line: where it is, what is wrong, what is allowed.
/// The command exits with code 2 on it; Python sees a ValueError.
class InputError : public std::runtime_error {
 public:
  /// `where`: file:line, key, node or option. `what`: the offending value and what is wrong with
  /// it. `allowed`: what would be accepted (may be empty).
  InputError(const std::string& where, const std::string& what, const std::string& allowed = "");
};

/// The work could not be done although the input was right (disk full, no such file to write).
/// The command exits with code 1 on it.
class WorkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The work was asked to stop, by a std::stop_token that came with it, before it was done.
class Stopped : public std::runtime_error {
 public:
  Stopped();
};
/// Throws Stopped if that has been asked for.
void check_stop(const std::stop_token& stop);

/// An invariant of tilewave itself is broken: always a bug here, never the user's fault.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace detail {
[[noreturn]] void check_failed(const char* file, int line, const char* expression,
                               const std::string& left, const std::string& right,
                               const std::string& message);

template <typename T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}
}  // namespace detail
}  // namespace tilewave

/// Throws InternalError, with both operands, unless `left op right`. On in Release too.
#define TILEWAVE_CHECK(left, op, right, message)                                              \
  do {                                                                                        \
    const auto& tilewave_left = (left);                                                       \
    const auto& tilewave_right = (right);                                                     \
    if (!(tilewave_left op tilewave_right)) {                                                 \
      ::tilewave::detail::check_failed(__FILE__, __LINE__, #left " " #op " " #right,          \
                                       ::tilewave::detail::printed(tilewave_left),            \
                                       ::tilewave::detail::printed(tilewave_right), message); \
    }                                                                                         \
  } while (false)
