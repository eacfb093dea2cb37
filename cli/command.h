#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

namespace tilewave::cli {

/// A subcommand: CLI11 fills in the options that `run` then works with.
struct Command {
  CLI::App* app;
  std::function<void()> run;
};

// One per file of this folder, except asm and disasm, which share programs.cpp, and sweep
// and study, which share explore.cpp. Each adds its
// subcommand to `app`.
Command add_run(CLI::App& app);
Command add_compare(CLI::App& app);
Command add_diagnose(CLI::App& app);
Command add_chips(CLI::App& app);
Command add_models(CLI::App& app);
Command add_validate(CLI::App& app);
Command add_compile(CLI::App& app);
Command add_asm(CLI::App& app);
Command add_disasm(CLI::App& app);
Command add_quantize(CLI::App& app);
Command add_engines(CLI::App& app);
Command add_exec(CLI::App& app);
Command add_sweep(CLI::App& app);
Command add_study(CLI::App& app);

}  // namespace tilewave::cli
