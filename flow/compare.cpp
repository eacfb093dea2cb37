#include "flow/compare.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>

#include "base/error.h"
#include "flow/host.h"
#include "flow/measure.h"
#include "flow/roofline.h"
#include "flow/scores.h"
#include "kernels/gpu.h"
#include "kernels/reference.h"
#include "sim/compiler/compiler.h"

namespace tilewave::flow {
namespace {

/// What a path computed for all images.
struct Computed {
  std::vector<float> outputs;
  std::vector<std::int64_t> classes;
};

/// Everything that the measurements share.
struct Study {
  const Workload& workload;
  const sim::Chip& chip;
  const CompareOptions& options;
  std::int64_t images;
  std::int64_t batch = 0;
  Computed fp32;
  Computed int8;

  std::span<const std::uint8_t> labels() const {
    const auto& all = workload.data.test.labels;
    return all.empty() ? std::span<const std::uint8_t>{}
                       : std::span(all).first(static_cast<std::size_t>(images));
  }
  std::string integer_precision() const {
    return std::max(workload.quantized.weight_format().bits,
                    workload.quantized.activation_format().bits) > 8
               ? "int16"
               : "int8";
  }
  void tell(const std::string& device) const {
    if (options.progress) options.progress(device + ", batch " + std::to_string(batch), 0, 1);
  }
};

Computed computed_by(kernels::Reference& reference, const Study& study) {
  kernels::Outputs outputs = reference.run(study.workload.data.test.slice(0, study.images));
  std::vector<std::int64_t> classes = classes_of(outputs.real, outputs.classes);
  return {std::move(outputs.real), std::move(classes)};
}

sim::PathFigures scored(const Study& study, const Computed& computed) {
  sim::PathFigures figures;
  figures.batch = study.batch;
  figures.accuracy = accuracy(computed.classes, study.labels());
  figures.agreement_fp32 = agreement(computed.classes, study.fp32.classes);
  figures.largest_difference = largest_difference(computed.outputs, study.fp32.outputs);
  return figures;
}

sim::PathFigures measured(const Study& study, kernels::Reference& reference,
                          const Computed& computed) {
  sim::PathFigures figures = scored(study, computed);
  figures.path = reference.name();
  measure(reference, study.workload.data.test.slice(0, study.batch),
          study.options.seconds_per_measurement, figures);
  return figures;
}

void add_cpu(const Study& study, sim::Comparison& comparison) {
  study.tell("CPU");
  const kernels::ReferenceOptions options{.threads = study.options.threads, .batch = study.batch};
  const auto add = [&](const std::unique_ptr<kernels::Reference>& path, const Computed& computed,
                       const std::string& precision) {
    comparison.paths.push_back(measured(study, *path, computed));
    comparison.paths.back().device = "cpu";
    comparison.paths.back().precision = precision;
  };
  // The values do not depend on the batch: they were computed once for all.
  add(kernels::make_cpu_fp32(study.workload.graph, options), study.fp32, "fp32");
  add(kernels::make_cpu_int8(study.workload.quantized, options), study.int8,
      study.integer_precision());
}

/// A path that may fail here: then it is missing, once, with the reason.
void add_gpu_path(const Study& study, const std::string& precision,
                  const std::function<std::unique_ptr<kernels::Reference>()>& make,
                  sim::Comparison& comparison) {
  try {
    const auto path = make();
    comparison.paths.push_back(measured(study, *path, computed_by(*path, study)));
    comparison.paths.back().device = "gpu";
    comparison.paths.back().precision = precision;
  } catch (const std::runtime_error& error) {
    const sim::MissingPath missing{"gpu " + precision, error.what()};
    auto& all = comparison.missing;
    if (std::find(all.begin(), all.end(), missing) == all.end()) all.push_back(missing);
  }
}

void add_gpu(const Study& study, sim::Comparison& comparison) {
  study.tell("GPU");
  using kernels::GpuPrecision;
  const kernels::ReferenceOptions options{.batch = study.batch};
  const auto add_real = [&](GpuPrecision precision, const std::string& name) {
    const auto make = [&] {
      return kernels::make_gpu_real(study.workload.graph, precision, options);
    };
    add_gpu_path(study, name, make, comparison);
  };
  add_real(GpuPrecision::fp32, "fp32");
  add_real(GpuPrecision::tf32, "tf32");
  add_real(GpuPrecision::fp16, "fp16");
  add_gpu_path(
      study, study.integer_precision(),
      [&] { return kernels::make_gpu_int8(study.workload.quantized, options); }, comparison);
}

double simulated_compute_seconds(const Study& study) {
  const sim::Program program = sim::compile(study.workload.quantized, study.chip, study.batch);
  sim::RunOptions options;
  options.trace = true;
  return study.chip.seconds(
      compute_cycles(sim::make_timeline()->time(study.chip, program, 1, options)));
}

sim::PathFigures simulated(const Study& study) {
  RunOptions options;
  options.images = study.images;
  options.batch = study.batch;
  options.threads = study.options.threads;
  options.reference = false;
  options.progress = study.options.progress;
  const sim::Report report = run(study.workload, study.chip, options);
  const auto& output = study.workload.quantized.output();
  sim::PathFigures figures =
      scored(study, {dequantized(report.result.outputs, output.quantization),
                     classes_of(report.result.outputs, output.shape.elements())});
  figures.path = "simulated " + study.chip.name;
  figures.device = "chip";
  figures.precision = study.integer_precision();
  figures.simulated = true;
  figures.latency.median_seconds = figures.latency.p99_seconds = report.latency_seconds();
  figures.compute.median_seconds = figures.compute.p99_seconds = simulated_compute_seconds(study);
  figures.images_per_second = report.images_per_second();
  return figures;
}

}  // namespace

sim::Comparison compare(const Workload& workload, const sim::Chip& chip,
                        const CompareOptions& options) {
  Study study{workload, chip,
              options,  image_count(workload.data.test.count, options.images, workload.data.name),
              0,        {},
              {}};
  sim::Comparison comparison;
  comparison.model = workload.graph.name();
  comparison.data = workload.data.name;
  comparison.chip = chip;
  comparison.scheme = workload.quantized.scheme;
  comparison.images = study.images;
  comparison.threads = options.threads;
  comparison.cpu = cpu_name();
  const std::string no_gpu = kernels::gpu_refusal();
  if (no_gpu.empty()) {
    comparison.gpu = kernels::gpu_properties().name;
  } else {
    comparison.missing.push_back({"gpu", no_gpu});
  }

  std::set<std::int64_t> batches;
  for (const std::int64_t batch : options.batches) batches.insert(std::min(batch, study.images));
  const kernels::ReferenceOptions for_values{.threads = options.threads};
  study.fp32 = computed_by(*kernels::make_cpu_fp32(workload.graph, for_values), study);
  study.int8 = computed_by(*kernels::make_cpu_int8(workload.quantized, for_values), study);
  for (const std::int64_t batch : batches) {
    study.batch = batch;
    add_cpu(study, comparison);
    if (no_gpu.empty()) add_gpu(study, comparison);
    comparison.paths.push_back(simulated(study));
  }
  if (options.roofline) {
    if (options.progress) options.progress("roofline", 0, 1);
    comparison.roofs = roofline(workload, chip, {batches.begin(), batches.end()}, options.threads,
                                options.seconds_per_measurement);
  }
  return comparison;
}

}  // namespace tilewave::flow
