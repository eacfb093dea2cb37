#include "cli/terminal.h"

#include <fmt/format.h>
#include <langinfo.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "base/file.h"

namespace tilewave::cli {
namespace {

constexpr std::size_t kBarWidth = 40;
constexpr std::chrono::milliseconds kRedraw{50};
std::atomic<bool> bar_is_on_screen = false;

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

sim::Style style_of(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  const bool capable = term != nullptr && std::string_view(term) != "dumb";
  const bool rich = isatty(fileno(stream)) != 0 && capable && !is_set("NO_COLOR");
  const bool utf8 = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
  return {.colour = rich, .blocks = rich && utf8};
}

void print(const std::string& text) {
  write_file("-", text);
}

ProgressBar::ProgressBar(bool quiet)
    : visible_(!quiet && isatty(fileno(stderr)) != 0), style_(style_of(stderr)) {}

ProgressBar::~ProgressBar() {
  clear();
}

bool ProgressBar::is_on_screen() noexcept {
  return bar_is_on_screen;
}

void ProgressBar::clear() {
  if (drawn_) std::fputs(kClearLine, stderr);
  drawn_ = false;
  bar_is_on_screen = false;
}

void ProgressBar::show(const std::string& what, std::int64_t done, std::int64_t of) {
  const bool new_stage = what != what_;
  if (new_stage) {
    clear();
    spdlog::info("{}", what);
    what_ = what;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!visible_ || (!new_stage && now - last_ < kRedraw)) return;
  last_ = now;
  const double share = of == 0 ? 0 : static_cast<double>(done) / static_cast<double>(of);
  const std::string line = fmt::format(
      "{}{:<20} {} {:>4.0f} %", kClearLine, what,
      style_.paint(sim::Colour::cyan, "[" + style_.bar(share, kBarWidth) + "]"), share * 100);
  bar_is_on_screen = true;
  std::fputs(line.c_str(), stderr);
  drawn_ = true;
}

flow::Progress ProgressBar::callback() {
  return
      [this](const std::string& what, std::int64_t done, std::int64_t of) { show(what, done, of); };
}

}  // namespace tilewave::cli
