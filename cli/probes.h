#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "cli/options.h"
#include "flow/run.h"

namespace tilewave::cli {

/// --vcd and what belongs to it, --fault and what belongs to it: what is seen of the array's
/// registers, and what is broken in them.
class ProbeOptions {
 public:
  void add_to(CLI::App& app);

  /// Before any work: errors as OutputOptions::check; `inputs` are files that --vcd must not
  /// replace. Chooses the matrix unit that has registers, if that is left open and they are needed.
  void check(flow::EngineChoice& engine, const OutputOptions& output,
             const std::vector<std::string>& inputs) const;
  bool takes_stdout() const { return vcd_ == "-"; }
  const std::string& vcd() const { return vcd_; }

  /// For the flow's options. The waveform's file is begun, and complete after commit(). This must
  /// outlive the run.
  flow::Probes begin();
  void commit();

 private:
  std::string vcd_;
  sim::WaveformOptions waveform_;
  sim::FaultOptions faults_;
  std::vector<CLI::Option*> needs_vcd_;
  CLI::Option* rate_ = nullptr;
  CLI::Option* seed_ = nullptr;
  std::optional<OutputFile> file_;
};

}  // namespace tilewave::cli
