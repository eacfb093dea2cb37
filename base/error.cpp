#include "base/error.h"

namespace tilewave {

InputError::InputError(const std::string& where, const std::string& what,
                       const std::string& allowed)
    : std::runtime_error(where + ": " + what + (allowed.empty() ? "" : " (" + allowed + ")")) {}

Stopped::Stopped() : std::runtime_error("stopped before it was done") {}

void check_stop(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Stopped();
}

namespace detail {
void check_failed(const char* file, int line, const char* expression, const std::string& left,
                  const std::string& right, const std::string& message) {
  std::ostringstream out;
  out << "internal error: " << message << ": " << expression << " is false, with " << left
      << " and " << right << " (" << file << ":" << line << ")";
  throw InternalError(out.str());
}
}  // namespace detail
}  // namespace tilewave
