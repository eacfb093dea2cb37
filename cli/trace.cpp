#include "cli/trace.h"

#include <cstdio>

#include "flow/trace.h"

namespace tilewave::cli {

void TraceOption::add_to(CLI::App& app) {
  app.add_option("--trace", path_,
                 "write which unit worked on what and when here, for Perfetto or Chrome's viewer "
                 "(- is standard output)")
      ->type_name("FILE");
}

void TraceOption::begin(const OutputOptions& output, const ProbeOptions& probes,
                        const std::vector<std::string>& inputs) {
  if (path_.empty()) return;
  output.check_other("--trace", path_, inputs, {{"--vcd", probes.vcd()}});
  file_.emplace(path_);
}

void TraceOption::write(const sim::Program& program, const sim::Chip& chip, std::int64_t launches) {
  if (!file_) return;
  const std::string part = flow::write_trace(program, chip, launches, {},
                                             [this](std::string_view text) { file_->write(text); });
  file_->commit();
  if (!part.empty()) std::fprintf(stderr, "tilewave: the trace %s\n", part.c_str());
}

}  // namespace tilewave::cli
