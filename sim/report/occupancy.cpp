#include "sim/report/occupancy.h"

#include <algorithm>
#include <map>

namespace tilewave::sim {
namespace {

/// Changes of a quantity, in any order.
class Changes {
 public:
  void add(Cycles from, Cycles to, std::int64_t amount) {
    changes_.push_back({from, amount});
    changes_.push_back({to, -amount});
  }
  void add(Cycles cycle, std::int64_t amount) { changes_.push_back({cycle, amount}); }

  std::vector<OccupancyStep> steps() && {
    std::sort(changes_.begin(), changes_.end(),
              [](const auto& a, const auto& b) { return a.cycle < b.cycle; });
    std::vector<OccupancyStep> steps;
    std::int64_t value = 0;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      value += changes_[i].value;
      if (i + 1 < changes_.size() && changes_[i + 1].cycle == changes_[i].cycle) continue;
      const std::int64_t before = steps.empty() ? 0 : steps.back().value;
      if (value != before) steps.push_back({changes_[i].cycle, value});
    }
    return steps;
  }

 private:
  std::vector<OccupancyStep> changes_;
};

/// Which addresses hold something, since when, and until when it is needed.
class LiveBytes {
 public:
  explicit LiveBytes(Changes& changes) : changes_(changes) {}

  void write(const Span& span, Cycles start, Cycles done) {
    split(span.begin);
    split(span.end);
    const auto end = live_.lower_bound(span.end);
    for (auto it = live_.lower_bound(span.begin); it != end; it = live_.erase(it)) retire(*it);
    live_[span.begin] = {span.end, start, done};
  }

  void read(const Span& span, Cycles end) {
    split(span.begin);
    split(span.end);
    const auto last = live_.lower_bound(span.end);
    for (auto it = live_.lower_bound(span.begin); it != last; ++it) {
      it->second.until = std::max(it->second.until, end);
    }
  }

  void finish() {
    for (const auto& part : live_) retire(part);
  }

 private:
  struct Part {
    std::int64_t end = 0;
    Cycles since = 0, until = 0;
  };

  /// No part reaches over `address`.
  void split(std::int64_t address) {
    auto it = live_.upper_bound(address);
    if (it == live_.begin()) return;
    --it;
    if (it->first == address || it->second.end <= address) return;
    live_[address] = it->second;
    it->second.end = address;
  }

  void retire(const std::pair<const std::int64_t, Part>& entry) {
    const auto& [begin, part] = entry;
    changes_.add(part.since, part.until, part.end - begin);
  }

  Changes& changes_;
  std::map<std::int64_t, Part> live_;  ///< by first address
};

const Operation& operation_of(const DecodedLaunches& launches, const Slice& slice) {
  return launches[static_cast<std::size_t>(slice.launch % 2)]
                 [static_cast<std::size_t>(slice.instruction)];
}

}  // namespace

std::vector<OccupancyStep> unified_buffer_occupancy(const DecodedLaunches& launches,
                                                    const std::vector<Slice>& trace) {
  Changes changes;
  LiveBytes bytes(changes);
  for (const Slice& slice : trace) {
    // Loads of an input-stationary array read what their multiply reads, and end before it.
    if (slice.unit == Unit::weight_memory || slice.unit == Unit::weight_shift) continue;
    const Operation& op = operation_of(launches, slice);
    for (const Span& span : op.reads) bytes.read(span, slice.end);
    for (const Span& span : op.writes) bytes.write(span, slice.start, slice.done);
  }
  bytes.finish();
  return std::move(changes).steps();
}

std::vector<OccupancyStep> weight_fifo_occupancy(Dataflow dataflow, const DecodedLaunches& launches,
                                                 const std::vector<Slice>& trace) {
  const bool shifts_in = dataflow == Dataflow::weight_stationary;
  Changes changes;
  for (const Slice& slice : trace) {
    if (slice.unit == Unit::weight_memory) changes.add(slice.start, 1);
    const bool gives_back = shifts_in ? slice.unit == Unit::weight_shift
                                      : slice.unit == Unit::matrix &&
                                            operation_of(launches, slice).instruction.next_tile;
    if (gives_back) changes.add(slice.end, -1);
  }
  return std::move(changes).steps();
}

}  // namespace tilewave::sim
