#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"

namespace tilewave::cli {

/// Throws InputError for words on the command line that `app` (a subcommand, or the whole command)
/// does not know, with the nearest name that it does know.
void refuse_unknown(const CLI::App& app);

/// Throws InputError if an option was given an empty value.
void refuse_empty(const CLI::App& app);

/// CLI11's complaint in our words: one line, the option first.
InputError reworded(const CLI::ParseError& error);

}  // namespace tilewave::cli
