#pragma once

#include <optional>

#include "sim/engine.h"

namespace tilewave::sim {

/// Joules by part of the chip.
struct EnergyParts {
  double array = 0;
  double accumulators = 0;
  double unified_buffer = 0;
  double weight_memory = 0;
  double host_link = 0;
  double standby = 0;  ///< static power times time; "static" in reports

  double total() const {
    return array + accumulators + unified_buffer + weight_memory + host_link + standby;
  }
};

// Figures of a run or of one of its layers, from its counters. The time they refer to is the sum
// of the cycle classes. A run or layer of no cycles has rate 0.

/// Cycles' worth of a full array that worked for the network: useful MACs * passes / (R * C).
/// At most classes.active; the rest of it is unused multipliers.
double active_useful(const Chip& chip, const RunCounters& counters);
/// active_useful per cycle, 0 to 1.
double utilization(const Chip& chip, const RunCounters& counters);
/// 10^12 useful operations per second, two per MAC.
double tops(const Chip& chip, const RunCounters& counters);
/// The same with every multiplier busy in every cycle.
double peak_tops(const Chip& chip);
/// Additions that left the accumulators' width, of a layer and of the run; nothing for a run
/// without values.
std::optional<std::int64_t> overflows_of(const RunResult& result, std::size_t layer);
std::optional<std::int64_t> total_overflows(const RunResult& result);
/// A MAC of more than 8 x 8 bits costs mac_pj once per pass. Unused multipliers cost nothing
/// (assumption: their operands are held, so that nothing switches).
EnergyParts energy(const Chip& chip, const RunCounters& counters);

}  // namespace tilewave::sim
