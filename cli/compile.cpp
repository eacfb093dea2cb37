#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/programs.h"
#include "cli/terminal.h"
#include "sim/compiler/compiler.h"
#include "sim/report/style.h"

namespace tilewave::cli {
namespace {

struct Options {
  ChipOptions chip;
  WorkloadOptions workload;
  HostOptions host;
  std::int64_t batch = 256;
  std::string output;
};

void compile(const Options& options) {
  check_destination(options.output);
  const flow::Workload workload = options.workload.load(options.host.threads);
  const sim::Chip chip = sim::with_scheme(options.chip.load(), workload.quantized.scheme);
  const sim::Program program = sim::compile(workload.quantized, chip, options.batch);
  write_program(options.output, program);
  if (options.host.quiet || options.output == "-") return;
  print(fmt::format(
      "{}: {} instructions, {} layers, {} weight tiles, batch {}, "
      "{} bytes of the unified buffer\n",
      options.output, sim::grouped(static_cast<std::int64_t>(program.instructions.size())),
      program.layers.size(), program.tiles.size(), program.batch,
      sim::grouped(program.unified_buffer_peak)));
}

}  // namespace

Command add_compile(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("compile", "translate a network for a chip into a program");
  const auto options = std::make_shared<Options>();
  options->chip.add_to(*command);
  options->workload.add_to(*command);
  add_count(*command, "--batch", options->batch, "images per launch");
  command->add_option("-o,--output", options->output, "the program (- is standard output)")
      ->required()
      ->type_name("FILE");
  options->host.add_to(*command);
  return {command, [options] { compile(*options); }};
}

}  // namespace tilewave::cli
