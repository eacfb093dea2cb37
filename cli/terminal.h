#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "flow/run.h"
#include "sim/report/style.h"

namespace tilewave::cli {

/// What the stream can show: colours on a terminal unless NO_COLOR is set or TERM is "dumb", block
/// characters there too if the locale is UTF-8.
sim::Style style_of(std::FILE* stream);

/// Writes to standard output; WorkError if it does not arrive.
void print(const std::string& text);

/// Logs what is being done, and draws a bar on standard error while it goes on, if that is a
/// terminal. The bar is gone when this is destroyed.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  static constexpr const char* kClearLine = "\r\x1b[K";
  /// Some bar is. A signal's handler may ask.
  static bool is_on_screen() noexcept;

  void show(const std::string& what, std::int64_t done, std::int64_t of);
  /// Takes the bar off the screen, before other output.
  void finish() { clear(); }
  /// For the flow's options. This must outlive it.
  flow::Progress callback();

 private:
  void clear();

  bool visible_;
  bool drawn_ = false;
  std::string what_;
  sim::Style style_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace tilewave::cli
