#pragma once

#include <vector>

#include "sim/engine.h"
#include "sim/isa/decoder.h"

namespace tilewave::sim {

/// A quantity is `value` from `cycle` on, until the next step.
struct OccupancyStep {
  Cycles cycle = 0;
  std::int64_t value = 0;
  bool operator==(const OccupancyStep&) const = default;
};

// What a run's buffers held, worked out from the times of its instructions: `trace` is that of
// RunResult, in the timeline engine's order, `launches` the same program decoded. One step per
// change, in the order of time; the value before the first step is 0.

/// Bytes of the unified buffer that are in use: from the start of the instruction that writes them
/// to the end of the last one that reads them before they are written anew; where none does, until
/// they are written.
std::vector<OccupancyStep> unified_buffer_occupancy(const DecodedLaunches& launches,
                                                    const std::vector<Slice>& trace);

/// Places of the weight FIFO that are taken, from the start of a tile's fetch on; until when, see
/// docs/timing.md.
std::vector<OccupancyStep> weight_fifo_occupancy(Dataflow dataflow, const DecodedLaunches& launches,
                                                 const std::vector<Slice>& trace);

}  // namespace tilewave::sim
