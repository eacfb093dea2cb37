#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "cli/options.h"
#include "cli/probes.h"
#include "sim/chip/chip.h"
#include "sim/isa/program.h"

namespace tilewave::cli {

/// --trace: what each unit did and when, for a trace viewer.
class TraceOption {
 public:
  void add_to(CLI::App& app);

  /// Before any work: errors as OutputOptions::check_other. Begins the file.
  void begin(const OutputOptions& output, const ProbeOptions& probes,
             const std::vector<std::string>& inputs);
  bool is_wanted() const { return !path_.empty(); }
  bool takes_stdout() const { return path_ == "-"; }

  /// Writes the file; a line on standard error says if it does not show the whole run.
  void write(const sim::Program& program, const sim::Chip& chip, std::int64_t launches);

 private:
  std::string path_;
  std::optional<OutputFile> file_;
};

}  // namespace tilewave::cli
