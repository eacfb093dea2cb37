#include "sim/report/figures.h"

#include <numeric>

namespace tilewave::sim {
namespace {
constexpr double kPico = 1e-12;
constexpr double kTera = 1e12;
constexpr double kOperationsPerMac = 2;

double multipliers(const Chip& chip) {
  return static_cast<double>(chip.array.rows) * static_cast<double>(chip.array.cols);
}
}  // namespace

double active_useful(const Chip& chip, const RunCounters& counters) {
  return static_cast<double>(counters.useful_macs) * chip.passes() / multipliers(chip);
}

double utilization(const Chip& chip, const RunCounters& counters) {
  const Cycles cycles = counters.classes.total();
  return cycles == 0 ? 0 : active_useful(chip, counters) / static_cast<double>(cycles);
}

double tops(const Chip& chip, const RunCounters& counters) {
  const Cycles cycles = counters.classes.total();
  if (cycles == 0) return 0;
  return kOperationsPerMac * static_cast<double>(counters.useful_macs) / chip.seconds(cycles) /
         kTera;
}

double peak_tops(const Chip& chip) {
  return kOperationsPerMac * multipliers(chip) / chip.passes() *
         static_cast<double>(chip.clock_hz()) / kTera;
}

std::optional<std::int64_t> overflows_of(const RunResult& result, std::size_t layer) {
  if (result.overflows.empty()) return std::nullopt;
  return result.overflows.at(layer);
}

std::optional<std::int64_t> total_overflows(const RunResult& result) {
  if (result.overflows.empty()) return std::nullopt;
  return std::accumulate(result.overflows.begin(), result.overflows.end(), std::int64_t{0});
}

EnergyParts energy(const Chip& chip, const RunCounters& counters) {
  const BytesMoved& bytes = counters.bytes;
  const auto joules = [](double pj_per_event, std::int64_t events) {
    return pj_per_event * static_cast<double>(events) * kPico;
  };
  EnergyParts parts;
  parts.array = joules(chip.energy.mac_pj, counters.useful_macs * chip.passes());
  parts.accumulators =
      joules(chip.energy.accumulator_pj_per_byte, bytes.accumulator_read + bytes.accumulator_write);
  parts.unified_buffer = joules(chip.energy.unified_buffer_pj_per_byte,
                                bytes.unified_buffer_read + bytes.unified_buffer_write);
  parts.weight_memory = joules(chip.energy.weight_memory_pj_per_byte, bytes.weights);
  parts.host_link = joules(chip.energy.host_link_pj_per_byte, bytes.host_in + bytes.host_out);
  parts.standby = chip.energy.static_watts * chip.seconds(counters.classes.total());
  return parts;
}

}  // namespace tilewave::sim
