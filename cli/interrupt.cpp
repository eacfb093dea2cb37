#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "base/file.h"
#include "cli/terminal.h"

namespace tilewave::cli {
namespace {

constexpr int kInterrupted = 130;  // 128 and the signal's number, as shells report it

void say(std::string_view text) {
  // Nobody is left to be told of a failure.
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

// Only what a handler may do: the thread that it interrupts can be in the middle of anything.
extern "C" void end_interrupted(int /*signal*/) {
  remove_unfinished_files();
  if (ProgressBar::is_on_screen()) say(ProgressBar::kClearLine);
  say("tilewave: interrupted\n");
  ::_exit(kInterrupted);
}

}  // namespace

void handle_interrupts() {
  // A file that reaches the size limit is then a failed write, which is reported.
  std::signal(SIGXFSZ, SIG_IGN);
  struct sigaction previous = {};
  // A shell starts what it puts into the background with Ctrl-C ignored.
  if (::sigaction(SIGINT, nullptr, &previous) == 0 && previous.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = &end_interrupted;
  ::sigaction(SIGINT, &action, nullptr);
}

}  // namespace tilewave::cli
