#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/probes.h"
#include "cli/programs.h"
#include "cli/terminal.h"
#include "cli/trace.h"
#include "flow/run.h"
#include "flow/scores.h"

namespace tilewave::cli {
namespace {

/// Of how many images the classes are printed.
constexpr std::size_t kShownImages = 20;

struct Options {
  ChipOptions chip;
  HostOptions host;
  OutputOptions output;
  ProbeOptions probes;
  TraceOption trace;
  flow::ExecuteOptions execute;
  std::optional<std::int64_t> images;
  std::string program;
  std::string data;
  std::string input;
  bool timing_only = false;
};

/// The classes of the first images, on a line.
std::string classes_line(const sim::Report& report) {
  const auto& outputs = report.result.outputs;
  if (outputs.empty()) return "";
  const auto width = static_cast<std::int64_t>(outputs.size()) / report.images;
  std::string text = " classes  ";
  const auto shown = std::min<std::size_t>(kShownImages, static_cast<std::size_t>(report.images));
  const auto first = std::span(outputs).first(shown * static_cast<std::size_t>(width));
  for (const std::int64_t value : flow::classes_of(first, width)) text += fmt::format(" {}", value);
  return text + (shown < static_cast<std::size_t>(report.images) ? " ...\n" : "\n");
}

void exec(Options& options) {
  options.output.check();
  const std::vector<std::string> inputs = {options.chip.chip, options.program, options.input};
  options.probes.check(options.execute.engine, options.output, inputs);
  options.trace.begin(options.output, options.probes, inputs);
  ProgressBar bar(options.host.quiet);
  const sim::Chip chip = options.chip.load();
  const sim::Program program = read_program(options.program);
  std::optional<models::Images> images;
  if (!options.data.empty()) images = flow::test_images(options.data, options.images);
  if (!options.input.empty()) images = flow::idx_images(options.input, options.images);
  if (!images && options.images) throw InputError("--images", "needs --data or --input");
  options.execute.values = !options.timing_only;
  options.execute.threads = options.host.threads;
  options.execute.progress = bar.callback();
  options.execute.probes = options.probes.begin();
  const auto view = images ? std::optional<models::ImagesView>(*images) : std::nullopt;
  const sim::Report report =
      flow::execute(program, chip, view ? &*view : nullptr,
                    options.data.empty() ? options.input : options.data, options.execute);
  bar.finish();
  options.probes.commit();
  options.trace.write(program, chip, report.launches);
  options.output.write(sim::to_json(report), sim::to_csv(report));
  if (options.host.quiet || options.output.takes_stdout() || options.probes.takes_stdout() ||
      options.trace.takes_stdout()) {
    return;
  }
  print(sim::to_text(report, style_of(stdout)) + classes_line(report));
}

}  // namespace

Command add_exec(CLI::App& app) {
  CLI::App* command = app.add_subcommand("exec", "simulate a program from a file");
  const auto options = std::make_shared<Options>();
  command->add_option("program", options->program, "the program (.twp)")
      ->required()
      ->type_name("FILE");
  options->chip.add_to(*command);
  auto* data = command->add_option("--data", options->data, "run on these test images")
                   ->type_name("NAME|DIR");
  auto* input = command->add_option("--input", options->input, "run on the images of an IDX file")
                    ->type_name("FILE")
                    ->excludes(data);
  add_count(*command, "--images", options->images, "the first N of the images (default: all)");
  add_count(*command, "--launches", options->execute.launches,
            "without images: so many launches on blank ones")
      ->excludes(data)
      ->excludes(input);
  command->add_flag("--timing-only", options->timing_only, "count cycles, compute no values");
  add_engine(*command, options->execute.engine);
  options->output.add_to(*command);
  options->probes.add_to(*command);
  options->trace.add_to(*command);
  options->host.add_to(*command);
  return {command, [options] { exec(*options); }};
}

}  // namespace tilewave::cli
