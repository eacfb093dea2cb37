#pragma once

namespace tilewave::cli {

/// From now on Ctrl-C ends the process at once: with one line, code 130, and nothing half-written.
/// A file over the size limit does not end it: the write fails.
void handle_interrupts();

}  // namespace tilewave::cli
