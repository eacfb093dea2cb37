#include "flow/run.h"

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/probes.h"
#include "cli/terminal.h"
#include "cli/trace.h"
#include "sim/compiler/compiler.h"

namespace tilewave::cli {
namespace {

struct Options {
  ChipOptions chip;
  WorkloadOptions workload;
  HostOptions host;
  OutputOptions output;
  ProbeOptions probes;
  TraceOption trace;
  flow::RunOptions run;
  bool no_reference = false;
  bool paper_table = false;
};

void run(Options& options) {
  options.output.check();
  const std::vector<std::string> inputs = {options.chip.chip, options.workload.model,
                                           options.workload.scheme};
  options.probes.check(options.run.engine, options.output, inputs);
  options.trace.begin(options.output, options.probes, inputs);
  ProgressBar bar(options.host.quiet);
  const sim::Chip chip = options.chip.load();
  bar.show("load and quantize", 0, 1);
  const flow::Workload workload = options.workload.load(options.host.threads);
  options.run.threads = options.host.threads;
  options.run.reference = !options.no_reference;
  options.run.progress = bar.callback();
  options.run.probes = options.probes.begin();
  const sim::Report report = flow::run(workload, chip, options.run);
  bar.finish();
  options.probes.commit();
  if (options.trace.is_wanted()) {
    options.trace.write(sim::compile(workload.quantized, report.chip, report.batch), report.chip,
                        report.launches);
  }
  options.output.write(sim::to_json(report), sim::to_csv(report));
  if (options.host.quiet || options.output.takes_stdout() || options.probes.takes_stdout() ||
      options.trace.takes_stdout()) {
    return;
  }
  print(options.paper_table ? sim::to_paper_table(report) : sim::to_text(report, style_of(stdout)));
}

}  // namespace

Command add_run(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("run", "simulate a quantized network on a chip: numbers and cycles");
  const auto options = std::make_shared<Options>();
  options->chip.add_to(*command);
  options->workload.add_to(*command);
  add_count(*command, "--images", options->run.images, "the first N test images (default: all)");
  add_count(*command, "--batch", options->run.batch, "images per launch");
  add_engine(*command, options->run.engine);
  options->output.add_to(*command);
  options->probes.add_to(*command);
  options->trace.add_to(*command);
  command->add_flag("--paper-table", options->paper_table,
                    "print the run in the form of the TPU v1 paper's table 3");
  command->add_flag("--no-reference", options->no_reference,
                    "do not run the network in fp32 to compare with");
  options->host.add_to(*command);
  return {command, [options] { run(*options); }};
}

}  // namespace tilewave::cli
