#pragma once

#include <array>
#include <deque>
#include <vector>

#include "sim/engine.h"
#include "sim/isa/decoder.h"
#include "sim/timeline/range_tracker.h"

namespace tilewave::sim {

/// The recurrence of docs/timing.md: walks the instructions once, in program order, and works out
/// when each unit starts and ends each of them. Every time is the largest of the times that it
/// waits for. No values.
class Timing {
 public:
  /// `program` must be valid and, like `chip`, outlive this. Throws InputError if the program
  /// needs more accumulators, unified buffer or weight memory than the chip has.
  Timing(const Chip& chip, const Program& program, bool trace);

  /// Appends one launch.
  void launch();
  /// Ends the run: cycles, counters, trace.
  RunResult finish();

 private:
  /// A tile on its way from the weight memory into the array.
  struct Fetch {
    Cycles available = 0;  ///< its read_weights reached the weight queue
    std::int32_t instruction = 0;
    std::int32_t launch = 0;
  };
  struct Arrived {
    Cycles arrival = 0;
    std::int32_t instruction = 0;
    std::int32_t launch = 0;
  };
  /// What the next multiply waits for, each the first cycle in which it is met.
  struct Conditions {
    Cycles weight = 0, shift = 0, input = 0, raw = 0, accumulator = 0;
  };
  struct UnitState {
    Cycles free = 0;            ///< first cycle in which the next instruction may start
    std::deque<Cycles> starts;  ///< of the last queue_depth instructions
    std::int64_t issued = 0;
    std::int64_t started = 0;
  };

  void step(const Operation& op);
  Cycles issue(Unit unit, const Operation& op);
  void sync();
  void read_weights(const Operation& op);
  void transfer(const Operation& op);
  void matmul(const Operation& op);
  void activate(const Operation& op);
  void vector_operation(const Operation& op);

  /// Starts every fetch and shift-in whose time is known by now.
  void advance_weights();
  void start_fetch();
  /// Shifts the oldest tile of the FIFO into the shadow plane, not before `earliest`.
  void shift_in(Cycles earliest);

  /// `available`: when the multiply is in the matrix unit's queue.
  Conditions matmul_conditions(const Operation& op, Cycles available);
  /// Takes the next tile of the FIFO for the multiply.
  void take_tile(Cycles available, Conditions& conditions);
  /// An array with one plane: when it is free for a multiply that is available then.
  Cycles plane_free(Cycles available) const;
  /// Input-stationary: loads the multiply's activations, not before `ready`; returns the end.
  Cycles load_rows(const Operation& op, Cycles ready);
  /// Output-stationary: when the sums of the multiply before are no longer in this one's way.
  Cycles sums_have_left(const Operation& op) const;
  void swap_planes(const Operation& op, Cycles start, Cycles end);
  /// Returns when the last row has been read.
  Cycles run_activation_unit(const Operation& op, Cycles sources_ready);

  RangeTracker::Ready buffer_ready(const Operation& op, const std::vector<Span>& spans) const;
  void charge(const Operation& op, Cycles from, Cycles start, const Conditions& conditions);
  void record(Unit unit, const Operation& op, Cycles start, Cycles end, Cycles done);
  void note_start(Unit unit, Cycles start);
  RunCounters& counters_of(const Operation& op);
  Cycles row_interval(const Operation& op) const;
  /// From one row of activations that the data setup gathers to the next.
  Cycles load_interval(std::int64_t elements) const;
  Cycles activation_interval(std::int64_t elements) const;

  const Chip& chip_;
  const Program& program_;
  bool keep_trace_;
  DecodedLaunches operations_;  ///< by launch parity

  // Constants of the chip, times in cycles.
  Dataflow dataflow_;
  Cycles shift_cycles_;
  Cycles result_delay_;  ///< from a row's last pass to the use of its sums
  Cycles fetch_latency_, host_latency_;

  // Sequencer.
  Cycles next_issue_ = 0;
  Cycles sync_release_ = 0;
  Cycles all_done_ = 0;
  std::int32_t launch_ = 0;
  std::array<UnitState, kUnits> units_;

  // Weight path. Tiles are numbered from 0 in the order of their read_weights.
  std::deque<Fetch> waiting_fetches_;
  std::deque<Arrived> fifo_;        ///< fetched, not yet shifted in
  std::deque<Cycles> fifo_places_;  ///< when each place of the FIFO is free again
  Cycles shift_free_ = 0;           ///< end of the last shift-in or load
  Cycles shadow_free_ = 0;          ///< the shadow plane has been swapped in
  bool shadow_full_ = false;
  Cycles shadow_arrival_ = 0;  ///< of the tile in the shadow plane
  Cycles last_step_;           ///< in which the last row of the last multiply entered
  Cycles results_done_ = 0;    ///< of the last multiply

  RangeTracker buffer_, accumulators_, host_scratch_;
  Span last_accumulators_;
  /// Of the last multiply; where there is none, of the program's last instruction.
  std::int32_t drain_layer_;

  RunResult result_;
};

}  // namespace tilewave::sim
