#include <algorithm>

#include "base/error.h"
#include "sim/isa/place.h"
#include "sim/timeline/timing.h"

// The matrix unit's part of the recurrence: tiles on their way to the array, and multiplies in each
// of the dataflows.

namespace tilewave::sim {

// ---------------------------------------------------------------------------------------------
// Weight path: memory -> FIFO -> shadow plane

void Timing::read_weights(const Operation& op) {
  waiting_fetches_.push_back({issue(Unit::weight_memory, op), op.index, launch_});
  RunCounters& counters = counters_of(op);
  counters.bytes.weights += chip_.tile_bytes(op.tile->rows, op.tile->cols);
  ++counters.tiles;
  advance_weights();
}

void Timing::advance_weights() {
  const bool shifts_by_itself =
      dataflow_ == Dataflow::weight_stationary && chip_.array.double_buffered_weights;
  bool progress = true;
  while (progress) {
    progress = false;
    while (!waiting_fetches_.empty() && !fifo_places_.empty()) {
      start_fetch();
      progress = true;
    }
    if (shifts_by_itself && !shadow_full_ && !fifo_.empty()) {
      shift_in(shadow_free_);
      progress = true;
    }
  }
}

void Timing::start_fetch() {
  const Fetch fetch = waiting_fetches_.front();
  waiting_fetches_.pop_front();
  UnitState& memory = units_[static_cast<std::size_t>(Unit::weight_memory)];
  const Cycles start = std::max({fetch.available, memory.free, fifo_places_.front()});
  fifo_places_.pop_front();
  const Operation& op = operations_[static_cast<std::size_t>(fetch.launch % 2)]
                                   [static_cast<std::size_t>(fetch.instruction)];
  memory.free = start + chip_.transfer_cycles(chip_.tile_bytes(op.tile->rows, op.tile->cols),
                                              chip_.weight_memory.bandwidth);
  const Cycles arrival = memory.free + fetch_latency_;
  fifo_.push_back({arrival, fetch.instruction, fetch.launch});
  note_start(Unit::weight_memory, start);
  result_.cycles = std::max(result_.cycles, arrival);
  if (keep_trace_) {
    result_.trace.push_back(
        {Unit::weight_memory, fetch.launch, fetch.instruction, start, memory.free, arrival});
  }
}

void Timing::shift_in(Cycles earliest) {
  const Arrived tile = fifo_.front();
  fifo_.pop_front();
  const Cycles start = std::max({earliest, tile.arrival, shift_free_});
  shift_free_ = start + shift_cycles_;
  fifo_places_.push_back(shift_free_);
  shadow_full_ = true;
  shadow_arrival_ = tile.arrival;
  result_.cycles = std::max(result_.cycles, shift_free_);
  if (keep_trace_) {
    result_.trace.push_back(
        {Unit::weight_shift, tile.launch, tile.instruction, start, shift_free_, shift_free_});
  }
}

// ---------------------------------------------------------------------------------------------
// Matrix unit

Cycles Timing::load_interval(std::int64_t elements) const {
  return std::max({Cycles{1},
                   ceil_div(elements * chip_.activation_bytes(), chip_.unified_buffer.row_bytes),
                   chip_.gather_interval()});
}

Cycles Timing::row_interval(const Operation& op) const {
  // What streams through an input-stationary array are weights.
  const Cycles passes = chip_.passes();
  return dataflow_ == Dataflow::input_stationary ? passes
                                                 : std::max(passes, load_interval(op.row_elements));
}

void Timing::matmul(const Operation& op) {
  UnitState& matrix = units_[static_cast<std::size_t>(Unit::matrix)];
  const Cycles available = issue(Unit::matrix, op);
  const Cycles before = matrix.free;
  const Conditions conditions = matmul_conditions(op, available);
  const Cycles start = std::max({available, before, conditions.weight, conditions.shift,
                                 conditions.input, conditions.raw, conditions.accumulator});
  const Cycles interval = row_interval(op);
  const Cycles end = start + op.rows_in * interval;
  last_step_ = end - interval;
  results_done_ = last_step_ + chip_.passes() - 1 + result_delay_;
  matrix.free = end;

  for (const Span& span : op.reads) buffer_.read(span, end);
  accumulators_.write(op.accumulators, results_done_, Writer::matrix);
  last_accumulators_ = op.accumulators;
  drain_layer_ = op.layer;

  charge(op, before, start, conditions);
  RunCounters& counters = counters_of(op);
  counters.classes.active += end - start;
  const std::int64_t pixels = op.instruction.rows;
  counters.useful_macs += pixels * op.tile->useful;
  counters.bytes.unified_buffer_read += op.bytes_in;
  const Bytes sums = pixels * op.tile->cols * chip_.accumulator_bytes();
  counters.bytes.accumulator_write += sums;
  if (op.instruction.accumulate) counters.bytes.accumulator_read += sums;
  record(Unit::matrix, op, start, end, results_done_);
  swap_planes(op, start, end);
}

void Timing::swap_planes(const Operation& op, Cycles start, Cycles end) {
  if (op.loads_rows) shadow_free_ = start;
  if (!op.instruction.next_tile) return;
  if (dataflow_ == Dataflow::weight_stationary) {
    shadow_full_ = false;
    shadow_free_ = start;
  } else {
    fifo_places_.push_back(end);  // its rows were read out of the place as they entered
  }
  advance_weights();
}

Timing::Conditions Timing::matmul_conditions(const Operation& op, Cycles available) {
  Conditions conditions;
  const RangeTracker::Ready buffer = buffer_ready(op, op.reads);
  conditions.input = buffer.host;
  conditions.raw = std::max(buffer.activation, sync_release_);
  if (op.instruction.next_tile) take_tile(available, conditions);
  if (op.loads_rows) {
    conditions.shift = load_rows(op, std::max({available, buffer.host, buffer.activation}));
  }

  RangeTracker::Ready entries;
  accumulators_.query(op.accumulators, entries);
  if (op.instruction.accumulate && !entries.written) {
    throw InputError(place_of(program_, op),
                     "adds to accumulator entries that nothing has written");
  }
  conditions.accumulator = std::max(entries.read, sums_have_left(op));
  const bool follows_row_by_row = op.instruction.accumulate &&
                                  op.accumulators.begin == last_accumulators_.begin &&
                                  op.accumulators.end <= last_accumulators_.end;
  if (!follows_row_by_row) {
    conditions.accumulator = std::max(conditions.accumulator, entries.matrix);
  }
  return conditions;
}

void Timing::take_tile(Cycles available, Conditions& conditions) {
  if (dataflow_ != Dataflow::weight_stationary) {
    conditions.weight = fifo_.front().arrival;
    fifo_.pop_front();
    return;
  }
  if (!chip_.array.double_buffered_weights) shift_in(plane_free(available));
  conditions.weight = shadow_arrival_;
  conditions.shift = shift_free_;
}

Cycles Timing::plane_free(Cycles available) const {
  const Cycles head = std::max(available, units_[static_cast<std::size_t>(Unit::matrix)].free);
  return std::max(head, results_done_);
}

Cycles Timing::load_rows(const Operation& op, Cycles ready) {
  const Cycles plane =
      chip_.array.double_buffered_weights ? std::max(ready, shadow_free_) : plane_free(ready);
  const Cycles start = std::max(plane, shift_free_);
  shift_free_ = start + chip_.array.rows * load_interval(op.instruction.rows);
  if (keep_trace_) {
    result_.trace.push_back(
        {Unit::weight_shift, launch_, op.index, start, shift_free_, shift_free_});
  }
  return shift_free_;
}

Cycles Timing::sums_have_left(const Operation& op) const {
  if (dataflow_ != Dataflow::output_stationary) return 0;
  if (!chip_.array.double_buffered_weights) return results_done_;
  return last_step_ + chip_.array.rows - (op.rows_in - 1) * row_interval(op);
}

void Timing::charge(const Operation& op, Cycles from, Cycles start, const Conditions& conditions) {
  RunCounters& counters = counters_of(op);
  Cycles cursor = from;
  const auto take_exclusive = [&](Cycles until, StallReason reason, Cycles& exclusive) {
    if (until <= cursor) return;
    exclusive += until - cursor;
    if (keep_trace_) result_.stalls.push_back({reason, launch_, op.index, cursor, until});
    cursor = until;
  };
  const auto take = [&](Cycles until, StallReason reason, Cycles& exclusive, Cycles& waiting) {
    waiting += std::max<Cycles>(0, until - from);
    take_exclusive(until, reason, exclusive);
  };
  CycleClasses& classes = counters.classes;
  Waiting& waiting = counters.waiting;
  const auto take_shift = [&] {
    take(conditions.shift, StallReason::weight_shift, classes.weight_shift, waiting.weight_shift);
  };
  take(conditions.weight, StallReason::weight_stall, classes.weight_stall, waiting.weight_stall);
  // Activations that are loaded must have been written first.
  if (!op.loads_rows) take_shift();
  take(conditions.input, StallReason::input_stall, classes.input_stall, waiting.input_stall);
  take(conditions.raw, StallReason::raw_stall, classes.raw_stall, waiting.raw_stall);
  if (op.loads_rows) take_shift();
  take(conditions.accumulator, StallReason::accumulator_stall, classes.accumulator_stall,
       waiting.accumulator_stall);
  take_exclusive(start, StallReason::idle, classes.idle);
}

}  // namespace tilewave::sim
