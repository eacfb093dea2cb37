#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <systemc>

#include "sim/systemc/stream.h"

namespace tilewave::sim::systemc {

/// The in-order queue between the sequencer and one unit. A place is taken when an instruction
/// begins to issue and given back when the unit starts it.
class UnitQueue {
 public:
  explicit UnitQueue(std::optional<std::int64_t> depth) : depth_(depth) {}

  bool has_place() const { return !depth_ || taken_ < *depth_; }
  void take_place() { ++taken_; }
  void push(const Work& work) {
    waiting_.push_back(work);
    arrived.notify(sc_core::SC_ZERO_TIME);
  }

  bool empty() const { return waiting_.empty(); }
  const Work& front() const { return waiting_.front(); }
  /// The first that matches; null if none does.
  template <typename Predicate>
  const Work* find(Predicate matches) const {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), matches);
    return found == waiting_.end() ? nullptr : &*found;
  }
  Work start_front() {
    const Work work = waiting_.front();
    waiting_.pop_front();
    --taken_;
    started.notify(sc_core::SC_ZERO_TIME);
    return work;
  }

  sc_core::sc_event arrived, started;

 private:
  std::optional<std::int64_t> depth_;
  std::int64_t taken_ = 0;
  std::deque<Work> waiting_;
};

}  // namespace tilewave::sim::systemc
