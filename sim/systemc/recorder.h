#pragma once

#include <algorithm>

#include "sim/engine.h"
#include "sim/systemc/stream.h"

namespace tilewave::sim::systemc {

/// Where the blocks write down what they did.
class Recorder {
 public:
  Recorder(const Program& program, bool with_values, bool trace) : trace_(trace) {
    result_.layers.resize(program.layers.size());
    if (with_values) result_.overflows.resize(program.layers.size());
  }

  /// Of the layer that the operation works for; of the run, if it has none.
  RunCounters& counters(const Operation& op) { return counters(op.layer); }
  RunCounters& counters(std::int32_t layer) {
    return layer < 0 ? result_.total : result_.layers[static_cast<std::size_t>(layer)];
  }
  /// Additions for the multiply whose result left the accumulators' width.
  void overflowed(const Operation& multiply, std::int64_t additions) {
    result_.overflows[static_cast<std::size_t>(multiply.layer)] += additions;
  }
  /// An instruction has left its unit, and its effect is complete.
  void finished(Unit unit, const Work& work, Cycles start, Cycles end, Cycles done) {
    const Cycles last = std::max(end, done);
    result_.cycles = std::max(result_.cycles, last);
    if (work.launch == 0) result_.first_launch_end = std::max(result_.first_launch_end, last);
    if (trace_) {
      result_.trace.push_back({unit, work.launch, work.operation->index, start, end, done});
    }
  }
  /// A multiply has waited. Cycles that follow others with the same reason are added to those.
  void waited(StallReason reason, const Work& work, Cycles start, Cycles end) {
    if (!trace_ || start == end) return;
    const std::int32_t index = work.operation->index;
    if (!result_.stalls.empty()) {
      Stall& last = result_.stalls.back();
      if (last.reason == reason && last.launch == work.launch && last.instruction == index &&
          last.end == start) {
        last.end = end;
        return;
      }
    }
    result_.stalls.push_back({reason, work.launch, index, start, end});
  }
  Cycles cycles() const { return result_.cycles; }

  /// The figures, layers added up.
  RunResult take() {
    for (const RunCounters& layer : result_.layers) result_.total += layer;
    return std::move(result_);
  }

 private:
  bool trace_;
  RunResult result_;
};

}  // namespace tilewave::sim::systemc
