#include "flow/compare.h"

#include <memory>
#include <sstream>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/terminal.h"

namespace tilewave::cli {
namespace {

struct Options {
  ChipOptions chip;
  WorkloadOptions workload;
  HostOptions host;
  OutputOptions output;
  flow::CompareOptions compare;
};

std::vector<std::int64_t> parse_batches(const std::string& text) {
  std::vector<std::int64_t> batches;
  std::istringstream in(text + ",");
  for (std::string part; std::getline(in, part, ',');) {
    batches.push_back(parse_count("--batch", part, 1, kNoLimit));
  }
  return batches;
}

void compare(Options& options) {
  options.output.check();
  ProgressBar bar(options.host.quiet);
  const sim::Chip chip = options.chip.load();
  bar.show("load and quantize", 0, 1);
  const flow::Workload workload = options.workload.load(options.host.threads);
  options.compare.threads = options.host.threads;
  options.compare.progress = bar.callback();
  const sim::Comparison comparison = flow::compare(workload, chip, options.compare);
  bar.finish();
  options.output.write(sim::to_json(comparison), sim::to_csv(comparison));
  if (options.host.quiet || options.output.takes_stdout()) return;
  print(sim::to_text(comparison, style_of(stdout)));
}

}  // namespace

Command add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "compare", "accuracy and latency of the network on this CPU, a GPU and a simulated chip");
  const auto options = std::make_shared<Options>();
  options->chip.add_to(*command);
  options->workload.add_to(*command);
  add_count(*command, "--images", options->compare.images,
            "the first N test images (default: all)");
  command
      ->add_option_function<std::string>(
          "--batch",
          [options](const std::string& text) { options->compare.batches = parse_batches(text); },
          "batch sizes")
      ->type_name("N,N,...")
      ->default_str("1,256,512,1024");
  command->add_flag("--roofline", options->compare.roofline,
                    "also print what each device can do at most, and where the layers fall");
  options->output.add_to(*command);
  options->host.add_to(*command);
  return {command, [options] { compare(*options); }};
}

}  // namespace tilewave::cli
