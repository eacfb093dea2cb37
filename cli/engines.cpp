#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "flow/agreement.h"

namespace tilewave::cli {
namespace {

struct Options {
  ChipOptions chip;
  WorkloadOptions workload;
  HostOptions host;
  std::int64_t images = 256;
  std::int64_t batch = 256;
};

void check_engines(Options& options) {
  ProgressBar bar(options.host.quiet);
  const flow::Workload workload = options.workload.load(options.host.threads);
  const flow::Agreement agreement = flow::check_agreement(
      workload, options.chip.load(), options.images, options.batch, bar.callback());
  bar.finish();
  if (options.host.quiet) return;
  print(join(agreement.engines, ", ") + " agree, to the bit and to the cycle: " +
        std::to_string(agreement.images) + " images, " + std::to_string(agreement.cycles) +
        " cycles, every output and every counter of every layer\n");
}

}  // namespace

Command add_engines(CLI::App& app) {
  CLI::App* command = app.add_subcommand("engines", "run every engine and check that they agree");
  const auto options = std::make_shared<Options>();
  options->chip.add_to(*command);
  options->workload.add_to(*command);
  add_count(*command, "--images", options->images, "the first N test images (default: 256)");
  add_count(*command, "--batch", options->batch, "images per launch (default: 256)");
  options->host.add_to(*command);
  return {command, [options] { check_engines(*options); }};
}

}  // namespace tilewave::cli
