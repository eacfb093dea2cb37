#include "flow/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "flow/host.h"

namespace tilewave::flow {
namespace {

constexpr int kWarmUpRuns = 3;  // on a GPU: single kernels, then a graph is made, then used
/// A 99th percentile of fewer is only their largest; more than this tells nothing new.
constexpr std::int64_t kMinRepeats = 10;
constexpr std::int64_t kMaxRepeats = 500;

sim::BatchTime time_of(const std::vector<double>& seconds) {
  return {quantile(seconds, 0.5), quantile(seconds, 0.99)};
}

bool is_work(const sim::Slice& slice) {
  return slice.launch == 0 &&
         (slice.unit == sim::Unit::matrix || slice.unit == sim::Unit::activation);
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  TILEWAVE_CHECK(values.empty(), ==, false, "a quantile of something");
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return values[std::min(index, values.size() - 1)];
}

void measure(kernels::Reference& reference, std::span<const std::uint8_t> batch, double seconds,
             sim::PathFigures& figures) {
  kernels::Outputs outputs;
  for (int i = 0; i < kWarmUpRuns; ++i) reference.run_into(batch, outputs);
  std::vector<double> latency;
  std::vector<double> compute;
  const Stopwatch all;
  const auto count = [&] { return static_cast<std::int64_t>(latency.size()); };
  while (count() < kMinRepeats || (count() < kMaxRepeats && all.seconds() < seconds)) {
    const Stopwatch one;
    reference.run_into(batch, outputs);
    latency.push_back(one.seconds());
    compute.push_back(reference.device_seconds().value_or(latency.back()));
  }
  figures.repeats = count();
  figures.latency = time_of(latency);
  figures.compute = time_of(compute);
  figures.images_per_second = static_cast<double>(figures.batch) / figures.latency.median_seconds;
}

Cycles compute_cycles(const sim::RunResult& result) {
  Cycles first = std::numeric_limits<Cycles>::max();
  Cycles last = 0;
  for (const sim::Slice& slice : result.trace) {
    if (!is_work(slice)) continue;
    first = std::min(first, slice.start);
    last = std::max(last, slice.done);
  }
  Cycles arrival = 0;
  for (const sim::Slice& slice : result.trace) {
    const bool before_work =
        slice.unit == sim::Unit::host_in && slice.launch == 0 && slice.done <= first;
    if (before_work) arrival = std::max(arrival, slice.done);
  }
  return std::max<Cycles>(last - arrival, 0);
}

}  // namespace tilewave::flow
