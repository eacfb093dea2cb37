#include "sim/timeline/range_tracker.h"

#include <algorithm>

namespace tilewave::sim {

void RangeTracker::query(Span span, Ready& ready) const {
  if (span.size() <= 0) return;
  for (std::size_t i = lower_bound(span.begin + 1) - 1;
       i < segments_.size() && segments_[i].begin < span.end; ++i) {
    const Segment& segment = segments_[i];
    ready.read = std::max(ready.read, segment.read_end);
    switch (segment.writer) {
      case Writer::none:
        ready.written = false;
        break;
      case Writer::host:
        ready.host = std::max(ready.host, segment.done);
        break;
      case Writer::activation:
        ready.activation = std::max(ready.activation, segment.done);
        break;
      case Writer::matrix:
        ready.matrix = std::max(ready.matrix, segment.done);
        break;
    }
  }
}

void RangeTracker::read(Span span, Cycles end) {
  if (span.size() <= 0) return;
  const std::size_t first = split(span.begin);
  const std::size_t last = split(span.end);
  for (std::size_t i = first; i < last; ++i) {
    segments_[i].read_end = std::max(segments_[i].read_end, end);
  }
}

void RangeTracker::write(Span span, Cycles done, Writer writer) {
  if (span.size() <= 0) return;
  const std::size_t first = split(span.begin);
  const std::size_t last = split(span.end);
  segments_[first] = {span.begin, done, 0, writer};
  const auto begin = segments_.begin();
  segments_.erase(begin + static_cast<std::ptrdiff_t>(first) + 1,
                  begin + static_cast<std::ptrdiff_t>(last));
}

std::size_t RangeTracker::lower_bound(std::int64_t address) const {
  const auto found = std::lower_bound(
      segments_.begin(), segments_.end(), address,
      [](const Segment& segment, std::int64_t value) { return segment.begin < value; });
  return static_cast<std::size_t>(found - segments_.begin());
}

std::size_t RangeTracker::split(std::int64_t address) {
  const std::size_t at = lower_bound(address);
  if (at < segments_.size() && segments_[at].begin == address) return at;
  Segment segment = segments_[at - 1];
  segment.begin = address;
  segments_.insert(segments_.begin() + static_cast<std::ptrdiff_t>(at), segment);
  return at;
}

}  // namespace tilewave::sim
