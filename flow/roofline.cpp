#include "flow/roofline.h"

#include "flow/model_facts.h"
#include "kernels/cpu/machine.h"
#include "kernels/gpu.h"
#include "sim/report/figures.h"

namespace tilewave::flow {
namespace {

constexpr double kTera = 1e12;

/// Layers whose weights, inputs and outputs pass the memory once, in so many bytes per value.
std::vector<sim::RooflineLayer> native_layers(const std::vector<LayerFacts>& facts,
                                              const std::vector<std::int64_t>& batches,
                                              std::int64_t value_bytes) {
  std::vector<sim::RooflineLayer> layers;
  for (const std::int64_t batch : batches) {
    for (const LayerFacts& layer : facts) {
      const std::int64_t values = layer.weights + batch * (layer.inputs + layer.outputs);
      layers.push_back({layer.name, batch, 2.0 * static_cast<double>(batch * layer.macs),
                        static_cast<double>(value_bytes * values)});
    }
  }
  return layers;
}

sim::Roof chip_roof(const sim::Chip& chip, const std::vector<LayerFacts>& facts,
                    const std::vector<std::int64_t>& batches) {
  sim::Roof roof;
  roof.device = chip.name;
  roof.precision = chip.passes() == 1 ? "int8" : "int16";
  roof.simulated = true;
  roof.peak = sim::peak_tops(chip) * kTera;
  if (chip.weight_memory.bandwidth) {
    roof.bytes_per_second = static_cast<double>(*chip.weight_memory.bandwidth);
  }
  roof.source = "from its description: two operations per multiplier and cycle; weight memory";
  for (const std::int64_t batch : batches) {
    for (const LayerFacts& layer : facts) {
      roof.layers.push_back({layer.name, batch, 2.0 * static_cast<double>(batch * layer.macs),
                             static_cast<double>(chip.weight_memory_bytes(layer.weights))});
    }
  }
  return roof;
}

struct NativePrecision {
  kernels::GpuPrecision gpu;
  const char* name;
  std::int64_t value_bytes;
};
constexpr NativePrecision kFp32 = {kernels::GpuPrecision::fp32, "fp32", 4};
constexpr NativePrecision kInt8 = {kernels::GpuPrecision::int8, "int8", 1};

}  // namespace

std::vector<sim::Roof> roofline(const Workload& workload, const sim::Chip& chip,
                                const std::vector<std::int64_t>& batches, int threads,
                                double seconds) {
  const std::vector<LayerFacts> facts = layer_facts(workload.graph);
  const double bandwidth = kernels::measured_bandwidth(threads, seconds);
  const std::string measured = "measured here: products that stay in the cache, and a triad, on " +
                               std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  std::vector<sim::Roof> roofs = {
      {"cpu", kFp32.name, false, kernels::measured_fp32_peak(threads, seconds), bandwidth, measured,
       native_layers(facts, batches, kFp32.value_bytes)},
      {"cpu", kInt8.name, false, kernels::measured_int8_peak(threads, seconds), bandwidth, measured,
       native_layers(facts, batches, kInt8.value_bytes)}};
  if (kernels::gpu_refusal().empty()) {
    const kernels::GpuProperties gpu = kernels::gpu_properties();
    for (const NativePrecision& precision :
         {kFp32, NativePrecision{kernels::GpuPrecision::tf32, "tf32", 4},
          NativePrecision{kernels::GpuPrecision::fp16, "fp16", 2}, kInt8}) {
      roofs.push_back(
          {"gpu", precision.name, false, gpu.peak(precision.gpu), gpu.bytes_per_second,
           "from the driver's properties: multiprocessors, highest clocks, memory width",
           native_layers(facts, batches, precision.value_bytes)});
    }
  }
  roofs.push_back(chip_roof(chip, facts, batches));
  return roofs;
}

}  // namespace tilewave::flow
