#include "sim/timeline/range_tracker.h"

#include <algorithm>
#include <iterator>

namespace tilewave::sim {

void RangeTracker::query(Span span, Ready& ready) const {
  if (span.size() <= 0) return;
  for (auto it = std::prev(states_.upper_bound(span.begin));
       it != states_.end() && it->first < span.end; ++it) {
    const State& state = it->second;
    ready.read = std::max(ready.read, state.read_end);
    switch (state.writer) {
      case Writer::none:
        ready.written = false;
        break;
      case Writer::host:
        ready.host = std::max(ready.host, state.done);
        break;
      case Writer::activation:
        ready.activation = std::max(ready.activation, state.done);
        break;
      case Writer::matrix:
        ready.matrix = std::max(ready.matrix, state.done);
        break;
    }
  }
}

void RangeTracker::read(Span span, Cycles end) {
  if (span.size() <= 0) return;
  const auto first = split(span.begin);
  const auto last = split(span.end);
  for (auto it = first; it != last; ++it) it->second.read_end = std::max(it->second.read_end, end);
}

void RangeTracker::write(Span span, Cycles done, Writer writer) {
  if (span.size() <= 0) return;
  const auto first = split(span.begin);
  const auto last = split(span.end);
  first->second = State{done, 0, writer};
  states_.erase(std::next(first), last);
}

RangeTracker::Map::iterator RangeTracker::split(std::int64_t address) {
  const auto next = states_.lower_bound(address);
  if (next != states_.end() && next->first == address) return next;
  return states_.emplace_hint(next, address, std::prev(next)->second);
}

}  // namespace tilewave::sim
