#include "flow/diagnose.h"

#include <fmt/format.h>

#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "flow/suggest.h"

namespace tilewave::cli {
namespace {

struct Options {
  ChipOptions chip;
  WorkloadOptions workload;
  HostOptions host;
  OutputOptions output;
  flow::DiagnoseOptions diagnose;
  flow::SuggestOptions suggest;
  std::string scheme_file;
};

/// Searches for a scheme with narrower weights and writes it.
void suggest(Options& options, const flow::Workload& workload, ProgressBar& bar) {
  options.suggest.images = options.diagnose.images;
  options.suggest.threads = options.host.threads;
  options.suggest.progress = bar.callback();
  const flow::Suggestion suggestion = flow::suggest_mixed(workload, options.suggest);
  bar.finish();
  write_file(options.scheme_file, flow::to_yaml(suggestion, workload.graph.name()));
  if (options.host.quiet || options.output.takes_stdout() || options.scheme_file == "-") return;
  print(fmt::format(
      " {}: weights of {} bytes instead of {}, accuracy {} (fp32 {})\n", options.scheme_file,
      sim::grouped(suggestion.weight_bytes), sim::grouped(suggestion.weight_bytes_before),
      sim::percent(suggestion.accuracy, 2), sim::percent(suggestion.accuracy_fp32, 2)));
}

void diagnose(Options& options) {
  options.output.check();
  if (!options.scheme_file.empty()) {
    options.output.check_other(
        "--suggest-mixed", options.scheme_file,
        {options.chip.chip, options.workload.model, options.workload.scheme});
  }
  ProgressBar bar(options.host.quiet);
  const sim::Chip chip = options.chip.load();
  bar.show("load and quantize", 0, 1);
  const flow::Workload workload = options.workload.load(options.host.threads);
  options.diagnose.threads = options.host.threads;
  options.diagnose.progress = bar.callback();
  const sim::Diagnosis diagnosis = flow::diagnose(workload, chip, options.diagnose);
  bar.finish();
  options.output.write(sim::to_json(diagnosis), sim::to_csv(diagnosis));
  if (!options.host.quiet && !options.output.takes_stdout() && options.scheme_file != "-") {
    print(sim::to_text(diagnosis, style_of(stdout)));
  }
  if (!options.scheme_file.empty()) suggest(options, workload, bar);
}

}  // namespace

Command add_diagnose(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "diagnose", "which layer of a quantized network costs how much accuracy, and why");
  const auto options = std::make_shared<Options>();
  options->chip.add_to(*command);
  options->workload.add_to(*command);
  add_count(*command, "--images", options->diagnose.images,
            "the first N test images (default: all)");
  add_count(*command, "--batch", options->diagnose.batch, "images per launch on the chip");
  command
      ->add_option("--suggest-mixed", options->scheme_file,
                   "write a scheme with narrower weights where that costs little (- is standard "
                   "output)")
      ->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "--accuracy-drop",
          [options](const std::string& text) {
            options->suggest.accuracy_drop = parse_real("--accuracy-drop", text, 0, 100);
          },
          "points of accuracy below fp32 that the suggested scheme may lose")
      ->type_name("POINTS")
      ->default_str(number_text(options->suggest.accuracy_drop));
  options->output.add_to(*command);
  options->host.add_to(*command);
  return {command, [options] { diagnose(*options); }};
}

}  // namespace tilewave::cli
