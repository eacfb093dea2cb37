#include "flow/experiment/explore.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "flow/experiment/table.h"

namespace tilewave::cli {
namespace {

struct Options {
  std::string experiment;
  std::string folder;
  HostOptions host;
};

std::string summary(const flow::Explored& explored, const Options& options) {
  const auto all = static_cast<std::int64_t>(explored.outcomes.size());
  return fmt::format(" {} points, {} run now, {} failed; all figures are in {}/{} and {}\n", all,
                     explored.computed, explored.failed, options.folder, flow::kCsvName,
                     flow::kJsonName);
}

void explore(const Options& options, bool accuracy) {
  ProgressBar bar(options.host.quiet);
  bar.show("read the experiment", 0, 1);
  flow::PointRunner runner;
  const flow::Experiment experiment = flow::read_experiment(options.experiment, accuracy, runner);
  flow::ExploreOptions explore_options;
  explore_options.jobs = options.host.threads;
  explore_options.progress = bar.callback();
  const flow::Explored explored =
      flow::explore(experiment, options.folder, runner, explore_options);
  bar.finish();
  if (!options.host.quiet) {
    print(flow::to_text(experiment, explored.outcomes, style_of(stdout)) + "\n" +
          summary(explored, options));
  }
  if (explored.failed == static_cast<std::int64_t>(explored.outcomes.size())) {
    throw WorkError("every point failed, the first one with: " + explored.outcomes[0].failure);
  }
}

Command add_exploring(CLI::App& app, const std::string& name, const std::string& help,
                      bool accuracy) {
  CLI::App* command = app.add_subcommand(name, help);
  const auto options = std::make_shared<Options>();
  command->add_option("experiment", options->experiment, "the YAML file that says what is varied")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("-o,--output", options->folder,
                   "the folder of the results; if it has some, only what is missing runs")
      ->required()
      ->type_name("DIR");
  options->host.add_to(*command, "--jobs", "points at the same time; no result depends on it");
  return {command, [options, accuracy] { explore(*options, accuracy); }};
}

}  // namespace

Command add_sweep(CLI::App& app) {
  return add_exploring(app, "sweep", "cycles, bytes and energy of many chips", false);
}

Command add_study(CLI::App& app) {
  return add_exploring(app, "study", "accuracy and cost of many ways to quantize", true);
}

}  // namespace tilewave::cli
