#pragma once

namespace tilewave::cli {

/// From now on Ctrl-C ends the process at once: with one line, code 130, and nothing half-written.
void handle_interrupts();

}  // namespace tilewave::cli
