#include "flow/run.h"

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"
#include "flow/host.h"
#include "flow/scores.h"
#include "kernels/reference.h"
#include "sim/compiler/compiler.h"
#include "sim/report/assertions.h"

namespace tilewave::flow {
namespace {

/// Input values that are made up for a program from a file, at most (2 GiB).
constexpr std::int64_t kMaxBlankValues = std::int64_t{1} << 30;

void tell(const Progress& progress, const std::string& what, std::int64_t done, std::int64_t of) {
  if (progress) progress(what, done, of);
}

sim::RunOptions engine_options(int threads, const Progress& progress, std::int64_t launches,
                               const std::stop_token& stop) {
  sim::RunOptions options;
  options.threads = threads;
  options.stop = stop;
  if (progress) {
    options.progress = [progress, launches](std::int64_t done) {
      progress("simulating", done, launches);
    };
  }
  return options;
}

sim::RunOptions with_probes(sim::RunOptions options, const Probes& probes) {
  options.faults = probes.faults;
  options.waveform = probes.waveform;
  return options;
}

/// Compares with what the timeline gives, which no fault reaches. Nothing if nothing is broken.
std::optional<sim::FaultEffect> fault_effect(const sim::FaultOptions& faults, const sim::Chip& chip,
                                             const sim::Program& program,
                                             const std::vector<std::int16_t>& inputs,
                                             const std::vector<std::int16_t>& outputs,
                                             const sim::RunOptions& options) {
  if (!faults.any()) return std::nullopt;
  sim::RunOptions sound_options;
  sound_options.threads = options.threads;
  sound_options.stop = options.stop;
  const std::vector<std::int16_t> sound =
      sim::make_timeline()->run(chip, program, inputs, sound_options).outputs;
  sim::FaultEffect effect;
  effect.faults = faults;
  effect.outputs = static_cast<std::int64_t>(outputs.size());
  const auto changed = [](const auto& a, const auto& b) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
    return count;
  };
  effect.outputs_changed = changed(outputs, sound);
  const std::int64_t classes = program.output.layout.shape.elements();
  effect.classes_changed = changed(classes_of(outputs, classes), classes_of(sound, classes));
  return effect;
}

/// What is known before the program has run.
sim::Report described(const sim::Chip& chip, const sim::Program& program, std::int64_t images,
                      const EngineChoice& engine, int threads) {
  sim::Report report;
  report.model = program.name;
  report.engine = engine_label(engine);
  report.chip = chip;
  report.batch = program.batch;
  report.launches = ceil_div(images, program.batch);
  report.images = images;
  report.padded_images = report.launches * program.batch - images;
  report.layers = program.layers;
  report.unified_buffer_peak = program.unified_buffer_peak;
  report.host.threads = threads;
  report.host.cpu = cpu_name();
  return report;
}

std::span<const std::uint8_t> labels_of(const models::ImagesView& images, std::int64_t count) {
  if (images.labels.empty()) return {};
  return images.labels.first(static_cast<std::size_t>(count));
}

std::int64_t image_count(const sim::Program& program, std::int64_t launches) {
  const auto count = checked_product({launches, program.batch});
  if (count) return *count;
  throw InputError("launches", std::to_string(launches) + " of batch " +
                                   std::to_string(program.batch) + " are too many");
}

/// Images that hold nothing but the input's zero_point.
std::vector<std::int16_t> blank_images(const sim::Program& program, std::int64_t count) {
  const auto values =
      checked_product({count, program.input.layout.shape.elements()}, kMaxBlankValues);
  if (!values) {
    throw InputError(program.name, "input for " + std::to_string(count) + " images is too large",
                     "up to " + std::to_string(kMaxBlankValues) + " values; or cycles only");
  }
  return std::vector<std::int16_t>(
      static_cast<std::size_t>(*values),
      static_cast<std::int16_t>(program.input.quantization.zero_point));
}

void score(sim::Report& report, const Workload& workload, const RunOptions& options,
           std::int64_t classes) {
  const std::vector<std::int64_t> simulated = classes_of(report.result.outputs, classes);
  const std::span<const std::uint8_t> labels = labels_of(workload.data.test, report.images);
  report.accuracy = accuracy(simulated, labels);
  if (!options.reference) return;

  tell(options.progress, "fp32 reference", 0, 1);
  const Stopwatch watch;
  const auto reference = kernels::make_cpu_fp32(
      workload.graph, {.threads = options.threads, .batch = report.batch, .stop = options.stop});
  const kernels::Outputs outputs = reference->run(workload.data.test.slice(0, report.images));
  report.host.reference_seconds = watch.seconds();
  const std::vector<std::int64_t> real = classes_of(outputs.real, outputs.classes);
  report.accuracy_fp32 = accuracy(real, labels);
  report.agreement_fp32 = agreement(simulated, real);
}

}  // namespace

sim::Report run(const Workload& workload, const sim::Chip& described_chip,
                const RunOptions& options) {
  const auto engine = make_engine(options.engine);
  const sim::Chip chip = sim::with_scheme(described_chip, workload.quantized.scheme);
  const std::int64_t images =
      image_count(workload.data.test.count, options.images, workload.data.name);

  tell(options.progress, "compiling", 0, 1);
  Stopwatch watch;
  const sim::Program program =
      sim::compile(workload.quantized, chip, std::min(options.batch, images), options.stop);
  const double compile_seconds = watch.seconds();

  sim::Report report = described(chip, program, images, options.engine, options.threads);
  report.model = workload.graph.name();
  report.data = workload.data.name;
  report.scheme = workload.quantized.scheme;
  report.host.load_seconds = workload.load_seconds;
  report.host.compile_seconds = compile_seconds;

  tell(options.progress, "simulating", 0, report.launches);
  watch = {};
  const std::vector<std::int16_t> inputs =
      quant::quantize_pixels(program.input.quantization, workload.data.test.slice(0, images));
  const sim::RunOptions run_options =
      with_probes(engine_options(options.threads, options.progress, report.launches, options.stop),
                  options.probes);
  report.result = engine->run(chip, program, inputs, run_options);
  report.host.simulate_seconds = watch.seconds();
  report.fault_effect = fault_effect(options.probes.faults, chip, program, inputs,
                                     report.result.outputs, run_options);
  sim::check_network_run(chip, program, report.result, report.launches);

  score(report, workload, options, program.output.layout.shape.elements());
  return report;
}

sim::Report run_timing(const sim::Program& program, const sim::Chip& chip, std::int64_t images,
                       const std::stop_token& stop) {
  sim::Report report = described(chip, program, images, {}, 1);
  sim::RunOptions options;
  options.stop = stop;
  report.result = sim::make_timeline()->time(chip, program, report.launches, options);
  sim::check_network_run(chip, program, report.result, report.launches);
  return report;
}

sim::Report execute(const sim::Program& program, const sim::Chip& chip,
                    const models::ImagesView* images, const std::string& data,
                    const ExecuteOptions& options) {
  const auto engine = make_engine(options.engine);
  const models::Shape& shape = program.input.layout.shape;
  if (images != nullptr) check_shape(*images, data, shape, program.name);
  const std::int64_t count =
      images != nullptr ? images->count : image_count(program, options.launches);
  sim::Report report = described(chip, program, count, options.engine, options.threads);
  report.data = images != nullptr ? data : "zero_point";

  tell(options.progress, "simulating", 0, report.launches);
  const Stopwatch watch;
  sim::RunOptions run_options =
      with_probes(engine_options(options.threads, options.progress, report.launches, options.stop),
                  options.probes);
  run_options.trace = options.trace;
  std::vector<std::int16_t> inputs;
  if (!options.values) {
    report.result = engine->time(chip, program, report.launches, run_options);
  } else {
    inputs = images != nullptr ? quant::quantize_pixels(program.input.quantization, images->pixels)
                               : blank_images(program, count);
    report.result = engine->run(chip, program, inputs, run_options);
  }
  report.host.simulate_seconds = watch.seconds();
  report.fault_effect = fault_effect(options.probes.faults, chip, program, inputs,
                                     report.result.outputs, run_options);
  sim::check_run(chip, program, report.result, report.launches);

  if (images != nullptr && options.values) {
    report.accuracy =
        accuracy(classes_of(report.result.outputs, program.output.layout.shape.elements()),
                 labels_of(*images, count));
  }
  return report;
}

}  // namespace tilewave::flow
