#include "flow/compare.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "base/error.h"
#include "flow/host.h"
#include "flow/scores.h"
#include "kernels/reference.h"

namespace tilewave::flow {
namespace {

constexpr int kWarmUpRuns = 2;
/// A 99th percentile of fewer is only their largest; more than this tells nothing new.
constexpr std::int64_t kMinRepeats = 10;
constexpr std::int64_t kMaxRepeats = 500;

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

  std::span<const std::uint8_t> labels() const {
    const auto& all = workload.data.test.labels;
    return all.empty() ? std::span<const std::uint8_t>{}
                       : std::span(all).first(static_cast<std::size_t>(images));
  }
};

sim::PathFigures scored(const Study& study, const std::string& path, const Computed& computed) {
  sim::PathFigures figures;
  figures.path = path;
  figures.batch = study.batch;
  figures.accuracy = accuracy(computed.classes, study.labels());
  figures.agreement_fp32 = agreement(computed.classes, study.fp32.classes);
  figures.largest_difference = largest_difference(computed.outputs, study.fp32.outputs);
  return figures;
}

Computed computed_by(kernels::Reference& reference, const Study& study) {
  kernels::Outputs outputs = reference.run(study.workload.data.test.slice(0, study.images));
  std::vector<std::int64_t> classes = classes_of(outputs.real, outputs.classes);
  return {std::move(outputs.real), std::move(classes)};
}

void measure(kernels::Reference& reference, const Study& study, sim::PathFigures& figures) {
  const auto pixels = study.workload.data.test.slice(0, study.batch);
  for (int i = 0; i < kWarmUpRuns; ++i) reference.run(pixels);
  std::vector<double> seconds;
  const Stopwatch all;
  const auto count = [&] { return static_cast<std::int64_t>(seconds.size()); };
  while (count() < kMinRepeats ||
         (count() < kMaxRepeats && all.seconds() < study.options.seconds_per_measurement)) {
    const Stopwatch one;
    reference.run(pixels);
    seconds.push_back(one.seconds());
  }
  figures.repeats = count();
  figures.latency_median_seconds = quantile(seconds, 0.5);
  figures.latency_p99_seconds = quantile(seconds, 0.99);
  figures.images_per_second = static_cast<double>(study.batch) / figures.latency_median_seconds;
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
  const Computed computed{dequantized(report.result.outputs, output.quantization),
                          classes_of(report.result.outputs, output.shape.elements())};
  sim::PathFigures figures = scored(study, "simulated " + study.chip.name, computed);
  figures.simulated = true;
  figures.latency_median_seconds = figures.latency_p99_seconds = report.latency_seconds();
  figures.images_per_second = report.images_per_second();
  return figures;
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  TILEWAVE_CHECK(values.empty(), ==, false, "a quantile of something");
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return values[std::min(index, values.size() - 1)];
}

sim::Comparison compare(const Workload& workload, const sim::Chip& chip,
                        const CompareOptions& options) {
  Study study{workload, chip,
              options,  image_count(workload.data.test.count, options.images, workload.data.name),
              0,        {}};
  sim::Comparison comparison;
  comparison.model = workload.graph.name();
  comparison.data = workload.data.name;
  comparison.chip = chip;
  comparison.scheme = workload.quantized.scheme;
  comparison.images = study.images;
  comparison.threads = options.threads;
  comparison.cpu = cpu_name();

  std::set<std::int64_t> batches;
  for (const std::int64_t batch : options.batches) batches.insert(std::min(batch, study.images));
  // The values do not depend on the batch: each CPU path computes them once.
  const kernels::ReferenceOptions for_values{.threads = options.threads};
  study.fp32 = computed_by(*kernels::make_cpu_fp32(workload.graph, for_values), study);
  const Computed int8 = computed_by(*kernels::make_cpu_int8(workload.quantized, for_values), study);
  for (const std::int64_t batch : batches) {
    study.batch = batch;
    if (options.progress) options.progress("CPU, batch " + std::to_string(batch), 0, 1);
    const kernels::ReferenceOptions on_cpu{.threads = options.threads, .batch = batch};
    const auto fp32 = kernels::make_cpu_fp32(workload.graph, on_cpu);
    const auto integer = kernels::make_cpu_int8(workload.quantized, on_cpu);
    comparison.paths.push_back(scored(study, fp32->name(), study.fp32));
    measure(*fp32, study, comparison.paths.back());
    comparison.paths.push_back(scored(study, integer->name(), int8));
    measure(*integer, study, comparison.paths.back());
    comparison.paths.push_back(simulated(study));
  }
  return comparison;
}

}  // namespace tilewave::flow
