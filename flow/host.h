#pragma once

#include <chrono>
#include <string>

namespace tilewave::flow {

/// Wall time since it was made.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The processor's name as the operating system gives it; "unknown" if it gives none.
std::string cpu_name();

/// Threads that this process may run at once, at least 1.
int available_threads();

}  // namespace tilewave::flow
