#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/engine.h"

namespace tilewave::sim {

/// How much of a run a trace shows: its first launches, and of each of them the instructions before
/// `instructions`.
struct TraceExtent {
  std::int64_t launches = 0;
  std::int64_t all_launches = 0;
  std::int64_t instructions = 0;
  std::int64_t all_instructions = 0;  ///< of a launch

  bool is_whole() const { return launches == all_launches && instructions == all_instructions; }
};

/// As much of a run as gives a file of less than 100 MB.
TraceExtent trace_extent(const Program& program, std::int64_t launches);

/// "shows 3 of 40 launches": of an extent that is not the whole run.
std::string extent_text(const TraceExtent& extent);

/// Names of the units' tracks, by Unit, and of StallReason's values, as in results.
std::string_view unit_name(Unit unit);
std::string_view stall_name(StallReason reason);

/// The run as a Chrome trace (docs/trace.md), part after part. `run`: with trace and stalls, of
/// extent.launches launches.
void write_trace(const Chip& chip, const Program& program, const RunResult& run,
                 const TraceExtent& extent, const std::function<void(std::string_view)>& write);

}  // namespace tilewave::sim
