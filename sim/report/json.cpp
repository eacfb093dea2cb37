#include "sim/report/json.h"

#include "sim/report/figures.h"

namespace tilewave::sim {
namespace {

Json counters_json(const Chip& chip, const RunCounters& counters) {
  const CycleClasses& c = counters.classes;
  const double useful = active_useful(chip, counters);
  return {{"active", c.active},
          {"active_useful", useful},
          {"active_unused", static_cast<double>(c.active) - useful},
          {"weight_stall", c.weight_stall},
          {"weight_shift", c.weight_shift},
          {"input_stall", c.input_stall},
          {"raw_stall", c.raw_stall},
          {"accumulator_stall", c.accumulator_stall},
          {"drain", c.drain},
          {"idle", c.idle}};
}

Json waiting_json(const Waiting& w) {
  return {{"weight_stall", w.weight_stall},
          {"weight_shift", w.weight_shift},
          {"input_stall", w.input_stall},
          {"raw_stall", w.raw_stall},
          {"accumulator_stall", w.accumulator_stall}};
}

Json bytes_json(const BytesMoved& b) {
  return {{"host_in", b.host_in},
          {"host_out", b.host_out},
          {"weights", b.weights},
          {"unified_buffer_read", b.unified_buffer_read},
          {"unified_buffer_write", b.unified_buffer_write},
          {"accumulator_read", b.accumulator_read},
          {"accumulator_write", b.accumulator_write}};
}

Json energy_json(const EnergyParts& e) {
  return {{"array", e.array},
          {"accumulators", e.accumulators},
          {"unified_buffer", e.unified_buffer},
          {"weight_memory", e.weight_memory},
          {"host_link", e.host_link},
          {"static", e.standby},
          {"total", e.total()}};
}

/// The keys that a run and each of its layers share.
void put_figures(Json& json, const Chip& chip, const RunCounters& counters) {
  json["counters"] = counters_json(chip, counters);
  json["waiting"] = waiting_json(counters.waiting);
  json["macs"] = counters.useful_macs;
  json["vector_operations"] = counters.vector_operations;
  json["tiles_read"] = counters.tiles;
  json["instructions"] = counters.instructions;
  json["utilization"] = utilization(chip, counters);
  json["tops"] = tops(chip, counters);
  json["bytes"] = bytes_json(counters.bytes);
  json["energy_joules"] = energy_json(energy(chip, counters));
}

/// `overflows`: nothing for a run without values.
Json layer_json(const Chip& chip, const Layer& layer, const RunCounters& counters,
                std::optional<std::int64_t> overflows) {
  Json json = {{"name", layer.name},
               {"op", layer.operation},
               {"m", layer.m},
               {"n", layer.n},
               {"k", layer.k},
               {"groups", layer.groups},
               {"tiles", layer.tiles},
               {"bands", layer.bands},
               {"spilled_bytes", layer.spilled_bytes},
               {"cycles", counters.classes.total()}};
  json["overflows"] = overflows ? Json(*overflows) : Json(nullptr);
  put_figures(json, chip, counters);
  return json;
}

Json faults_json(const FaultEffect& effect, const FaultCounts& counts, std::int64_t images) {
  Json stuck = Json::array();
  for (const StuckBit& fault : effect.faults.stuck) stuck.push_back(fault_text(fault));
  return {{"stuck", stuck},
          {"rate", effect.faults.rate},
          {"seed", effect.faults.seed},
          {"bits_forced", counts.forced},
          {"bits_flipped", counts.flips},
          {"outputs", effect.outputs},
          {"outputs_changed", effect.outputs_changed},
          {"images", images},
          {"classes_changed", effect.classes_changed}};
}

Json host_json(const HostFigures& host) {
  return {{"wall_seconds", host.wall_seconds()},
          {"load_seconds", host.load_seconds},
          {"compile_seconds", host.compile_seconds},
          {"simulate_seconds", host.simulate_seconds},
          {"reference_seconds", host.reference_seconds},
          {"threads", host.threads},
          {"cpu", host.cpu}};
}

}  // namespace

std::string version() {
  return TILEWAVE_VERSION;
}

Json result_header() {
  return {{"schema_version", kSchemaVersion}, {"tilewave_version", version()}};
}

Json chip_json(const Chip& chip) {
  return Json::parse(to_json(chip));
}

Json scheme_json(const quant::Scheme& s) {
  Json layers = Json::object();
  for (const auto& [name, own] : s.layers) {
    Json& layer = layers[name] = Json::object();
    if (own.weight_bits) layer["weight_bits"] = *own.weight_bits;
    if (own.activation_bits) layer["activation_bits"] = *own.activation_bits;
    if (own.granularity) layer["granularity"] = name_of(*own.granularity);
  }
  return {{"weight_bits", s.weight_bits},
          {"activation_bits", s.activation_bits},
          {"activation_signed", s.activation_signed},
          {"activation_symmetric", s.activation_symmetric},
          {"granularity", name_of(s.granularity)},
          {"weight_observer", name_of(s.weight_observer)},
          {"weight_rounding", name_of(s.weight_rounding)},
          {"bias_correction", s.bias_correction},
          {"cross_layer_equalization", s.cross_layer_equalization},
          {"observer", name_of(s.observer)},
          {"percentile", s.percentile},
          {"momentum", s.momentum},
          {"calibration_images", s.calibration_images},
          {"seed", s.seed ? Json(*s.seed) : Json(nullptr)},
          {"requantize", name_of(s.requantize)},
          {"accumulator_bits", s.accumulator_bits ? Json(*s.accumulator_bits) : Json(nullptr)},
          {"overflow", s.overflow ? Json(name_of(*s.overflow)) : Json(nullptr)},
          {"layers", layers}};
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json figures_json(const Report& report) {
  Json json;
  json["images"] = report.images;
  json["padded_images"] = report.padded_images;
  json["launches"] = report.launches;
  json["accuracy"] = optional_json(report.accuracy);
  json["accuracy_fp32"] = optional_json(report.accuracy_fp32);
  json["agreement_fp32"] = optional_json(report.agreement_fp32);
  json["cycles"] = report.result.cycles;
  json["seconds"] = report.seconds();
  json["images_per_second"] = report.images_per_second();
  json["latency_seconds"] = report.latency_seconds();
  const auto overflows = total_overflows(report.result);
  json["overflows"] = overflows ? Json(*overflows) : Json(nullptr);
  put_figures(json, report.chip, report.result.total);
  json["unified_buffer_peak_bytes"] = report.unified_buffer_peak;
  return json;
}

std::string to_json(const Report& report) {
  Json json = result_header();
  json["chip"] = chip_json(report.chip);
  json["scheme"] = report.scheme ? scheme_json(*report.scheme) : Json(nullptr);
  json["model"] = report.model;
  json["data"] = report.data;
  json["engine"] = report.engine;
  json["batch"] = report.batch;
  json.update(figures_json(report));
  json["faults"] = report.fault_effect
                       ? faults_json(*report.fault_effect, report.result.faults, report.images)
                       : Json(nullptr);
  json["layers"] = Json::array();
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    json["layers"].push_back(layer_json(report.chip, report.layers[i], report.result.layers[i],
                                        overflows_of(report.result, i)));
  }
  json["host"] = host_json(report.host);
  return dumped(json);
}

}  // namespace tilewave::sim
