#include "flow/diagnose.h"

#include <algorithm>
#include <cmath>

#include "flow/layer_errors.h"
#include "quant/equalize.h"
#include "sim/accumulate.h"
#include "sim/report/figures.h"

namespace tilewave::flow {
namespace {

std::optional<double> sqnr_db(const ErrorSums& sums) {
  if (sums.error == 0 || sums.signal == 0) return std::nullopt;
  return 10 * std::log10(sums.signal / sums.error);
}

/// 1 where there is nothing to compare.
double cosine(const ErrorSums& sums) {
  const double length = std::sqrt(sums.signal) * std::sqrt(sums.power);
  return length == 0 ? 1 : sums.product / length;
}

/// Bits of the narrowest two's complement that holds every sum; 0 if there were none.
int bits_of_sums(const LayerErrors& errors) {
  if (errors.least_sum == 0 && errors.most_sum == 0) return 0;
  int bits = 1;
  const auto holds = [&](std::int32_t sum) { return sum == sim::wrap(sum, bits); };
  while (!holds(errors.least_sum) || !holds(errors.most_sum)) ++bits;
  return bits;
}

/// What the larger half of the layer's own error comes from. Rounding to steps of s leaves s * s /
/// 12 in the mean.
sim::ErrorCause cause_of(const LayerErrors& errors, const quant::Quantization& quantization,
                         std::optional<std::int64_t> overflows) {
  if (overflows.value_or(0) > 0) return sim::ErrorCause::overflow;
  if (errors.own.error == 0) return sim::ErrorCause::none;
  if (2 * errors.clipped > errors.own.error) return sim::ErrorCause::clipping;
  const double step = quantization.scale;
  const double rounding = step * step / 12 * static_cast<double>(errors.values);
  return 2 * rounding > errors.own.error ? sim::ErrorCause::step : sim::ErrorCause::arithmetic;
}

int weight_bits(const quant::QNode& node) {
  const auto* conv = std::get_if<quant::QConv>(&node.operation);
  const auto* dense = std::get_if<quant::QDense>(&node.operation);
  if (conv != nullptr) return conv->weight_format.bits;
  return dense != nullptr ? dense->weight_format.bits : 0;
}

std::optional<std::int64_t> overflows_in(const sim::Report& report, const std::string& layer) {
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    if (report.layers[i].name == layer) return sim::overflows_of(report.result, i);
  }
  return std::nullopt;
}

sim::LayerDiagnosis described(const quant::QNode& node, const LayerErrors& errors,
                              const sim::Report& report) {
  sim::LayerDiagnosis layer;
  layer.name = node.name;
  layer.operation = quant::operation_name(node.operation);
  layer.activation_bits = node.quantization.format.bits;
  layer.weight_bits = weight_bits(node);
  layer.sqnr_db = sqnr_db(errors.network);
  layer.own_sqnr_db = sqnr_db(errors.own);
  layer.cosine = cosine(errors.network);
  layer.saturated = static_cast<double>(errors.saturated) / static_cast<double>(errors.values);
  layer.accumulator_bits = bits_of_sums(errors);
  layer.overflows = overflows_in(report, node.name);
  layer.cause = cause_of(errors, node.quantization, layer.overflows);
  layer.histogram = errors.histogram;
  return layer;
}

}  // namespace

sim::Diagnosis diagnose(const Workload& workload, const sim::Chip& chip,
                        const DiagnoseOptions& options) {
  RunOptions run_options;
  run_options.images = options.images;
  run_options.batch = options.batch;
  run_options.threads = options.threads;
  run_options.progress = options.progress;
  run_options.stop = options.stop;
  const sim::Report report = run(workload, chip, run_options);

  sim::Diagnosis diagnosis;
  diagnosis.model = report.model;
  diagnosis.data = report.data;
  diagnosis.chip = report.chip;
  diagnosis.scheme = workload.quantized.scheme;
  diagnosis.images = report.images;
  diagnosis.accuracy = report.accuracy;
  diagnosis.accuracy_fp32 = report.accuracy_fp32;
  diagnosis.agreement_fp32 = report.agreement_fp32;
  if (options.progress) options.progress("measuring layers", 0, 1);
  const models::Graph graph = workload.quantized.scheme.cross_layer_equalization
                                  ? quant::equalized(workload.graph)
                                  : workload.graph;
  const std::vector<LayerErrors> errors =
      measure_layers(graph, workload.quantized, workload.data.test.slice(0, report.images),
                     options.threads, options.stop);
  for (std::size_t node = 0; node < errors.size(); ++node) {
    diagnosis.layers.push_back(described(workload.quantized.nodes[node], errors[node], report));
  }
  return diagnosis;
}

}  // namespace tilewave::flow
