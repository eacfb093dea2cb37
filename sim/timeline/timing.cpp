#include "sim/timeline/timing.h"

#include <algorithm>

#include "base/error.h"
#include "sim/isa/fits.h"
#include "sim/isa/place.h"

namespace tilewave::sim {

Timing::Timing(const Chip& chip, const Program& program, bool trace)
    : chip_(chip),
      program_(program),
      keep_trace_(trace),
      operations_{decode_program(program, 0), decode_program(program, 1)},
      shift_cycles_(ceil_div(chip.array.rows, chip.array.weight_rows_per_cycle)),
      fetch_latency_(chip.latency_cycles(chip.weight_memory.latency_ns)),
      host_latency_(chip.latency_cycles(chip.host_link.latency_us * 1000)),
      fifo_places_(static_cast<std::size_t>(chip.weight_memory.fifo_tiles), Cycles{0}),
      drain_layer_(operations_[0].back().layer) {
  check_fits(chip, program, operations_);
  if (chip.array.dataflow != Dataflow::weight_stationary) {
    throw InputError(chip.name, "has an array.dataflow that the timeline engine does not do yet",
                     "weight_stationary");
  }
  result_.layers.resize(program.layers.size());
}

void Timing::launch() {
  const auto& operations = operations_[static_cast<std::size_t>(launch_ % 2)];
  for (const Operation& op : operations) step(op);
  if (launch_ == 0) result_.first_launch_end = all_done_;
  ++launch_;
}

void Timing::step(const Operation& op) {
  ++counters_of(op).instructions;
  switch (op.instruction.opcode) {
    case Opcode::halt:
      break;
    case Opcode::nop:
    case Opcode::set_config:
      next_issue_ = std::max(next_issue_, sync_release_) + chip_.sequencer.issue_cycles;
      break;
    case Opcode::sync:
      sync();
      break;
    case Opcode::read_host:
    case Opcode::write_host:
      transfer(op);
      break;
    case Opcode::read_weights:
      read_weights(op);
      break;
    case Opcode::matmul:
      matmul(op);
      break;
    case Opcode::activate:
      activate(op);
      break;
    case Opcode::vector_add:
    case Opcode::vector_pool:
    case Opcode::vector_lookup:
      vector_operation(op);
      break;
  }
}

void Timing::sync() {
  next_issue_ = std::max(next_issue_, sync_release_) + chip_.sequencer.issue_cycles;
  sync_release_ = std::max(next_issue_, all_done_);
}

Cycles Timing::issue(Unit unit, const Operation& op) {
  UnitState& state = units_[static_cast<std::size_t>(unit)];
  Cycles start = std::max(next_issue_, sync_release_);
  if (chip_.sequencer.queue_depth) {
    const std::int64_t leaver = state.issued - *chip_.sequencer.queue_depth;
    if (leaver >= state.started) {
      throw InputError(place_of(program_, op), "waits forever for a place in its unit's queue",
                       "a larger sequencer.queue_depth or weight_memory.fifo_tiles");
    }
    if (leaver >= 0) {
      const std::int64_t oldest = state.started - static_cast<std::int64_t>(state.starts.size());
      start = std::max(start, state.starts[static_cast<std::size_t>(leaver - oldest)]);
    }
  }
  ++state.issued;
  next_issue_ = start + chip_.sequencer.issue_cycles;
  return next_issue_;
}

void Timing::note_start(Unit unit, Cycles start) {
  UnitState& state = units_[static_cast<std::size_t>(unit)];
  ++state.started;
  if (!chip_.sequencer.queue_depth) return;
  state.starts.push_back(start);
  if (static_cast<std::int64_t>(state.starts.size()) > *chip_.sequencer.queue_depth) {
    state.starts.pop_front();
  }
}

void Timing::record(Unit unit, const Operation& op, Cycles start, Cycles end, Cycles done) {
  note_start(unit, start);
  // A multiply whose last row is held for long is done before it ends.
  const Cycles through = std::max(end, done);
  all_done_ = std::max(all_done_, through);
  result_.cycles = std::max(result_.cycles, through);
  if (keep_trace_) result_.trace.push_back({unit, launch_, op.index, start, end, done});
}

RunCounters& Timing::counters_of(const Operation& op) {
  return op.layer < 0 ? result_.total : result_.layers[static_cast<std::size_t>(op.layer)];
}

RangeTracker::Ready Timing::buffer_ready(const Operation& op,
                                         const std::vector<Span>& spans) const {
  RangeTracker::Ready ready;
  for (const Span& span : spans) buffer_.query(span, ready);
  if (&spans == &op.reads && !ready.written) {
    throw InputError(place_of(program_, op),
                     "reads bytes of the unified buffer that nothing has written");
  }
  return ready;
}

// ---------------------------------------------------------------------------------------------
// Host link

void Timing::transfer(const Operation& op) {
  const bool in = op.instruction.opcode == Opcode::read_host;
  const Unit unit = in ? Unit::host_in : Unit::host_out;
  const std::vector<Span>& spans = in ? op.writes : op.reads;
  const Bytes bytes = in ? op.bytes_out : op.bytes_in;
  UnitState& state = units_[static_cast<std::size_t>(unit)];

  const RangeTracker::Ready buffer = buffer_ready(op, spans);
  RangeTracker::Ready scratch;
  host_scratch_.query(op.host_scratch, scratch);
  const Cycles readers = in ? buffer.read : scratch.read;
  const Cycles start = std::max(
      {issue(unit, op), state.free, buffer.host, buffer.activation, scratch.host, readers});
  const Cycles done = start + host_latency_ +
                      std::max(chip_.transfer_cycles(bytes, chip_.host_link.bandwidth),
                               ceil_div(bytes, chip_.unified_buffer.row_bytes));
  state.free = done;
  for (const Span& span : spans) {
    if (in) {
      buffer_.write(span, done, Writer::host);
    } else {
      buffer_.read(span, done);
    }
  }
  if (in) {
    host_scratch_.read(op.host_scratch, done);
  } else {
    host_scratch_.write(op.host_scratch, done, Writer::host);
  }

  BytesMoved& moved = counters_of(op).bytes;
  (in ? moved.host_in : moved.host_out) += bytes;
  (in ? moved.unified_buffer_write : moved.unified_buffer_read) += bytes;
  record(unit, op, start, done, done);
}

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
  bool progress = true;
  while (progress) {
    progress = false;
    while (!waiting_fetches_.empty() && !fifo_places_.empty()) {
      start_fetch();
      progress = true;
    }
    if (chip_.array.double_buffered_weights && !shadow_full_ && !fifo_.empty()) {
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

Cycles Timing::row_interval(const Operation& op) const {
  const Bytes row_bytes = op.row_elements * chip_.activation_bytes();
  return std::max({Cycles{chip_.passes()}, ceil_div(row_bytes, chip_.unified_buffer.row_bytes),
                   chip_.gather_interval()});
}

void Timing::matmul(const Operation& op) {
  UnitState& matrix = units_[static_cast<std::size_t>(Unit::matrix)];
  const Cycles available = issue(Unit::matrix, op);
  const Cycles before = matrix.free;
  const Conditions conditions = matmul_conditions(op, std::max(available, before));
  const Cycles start = std::max({available, before, conditions.weight, conditions.shift,
                                 conditions.input, conditions.raw, conditions.accumulator});
  const Cycles interval = row_interval(op);
  const Cycles end = start + op.rows_in * interval;
  results_done_ = end - interval + chip_.passes() - 1 + chip_.array.rows + chip_.array.cols - 1;
  matrix.free = end;

  for (const Span& span : op.reads) buffer_.read(span, end);
  accumulators_.write(op.accumulators, results_done_, Writer::matrix);
  last_accumulators_ = op.accumulators;
  drain_layer_ = op.layer;

  charge(op, before, start, conditions);
  RunCounters& counters = counters_of(op);
  counters.classes.active += end - start;
  counters.useful_macs += op.rows_in * op.tile->useful;
  counters.bytes.unified_buffer_read += op.bytes_in;
  const Bytes sums = op.rows_in * op.tile->cols * chip_.accumulator_bytes();
  counters.bytes.accumulator_write += sums;
  if (op.instruction.accumulate) counters.bytes.accumulator_read += sums;
  record(Unit::matrix, op, start, end, results_done_);
  if (op.instruction.next_tile) {
    shadow_full_ = false;
    shadow_free_ = start;
    advance_weights();
  }
}

Timing::Conditions Timing::matmul_conditions(const Operation& op, Cycles head) {
  Conditions conditions;
  if (op.instruction.next_tile) {
    if (!chip_.array.double_buffered_weights) shift_in(std::max(head, results_done_));
    conditions.weight = shadow_arrival_;
    conditions.shift = shift_free_;
  }
  const RangeTracker::Ready buffer = buffer_ready(op, op.reads);
  conditions.input = buffer.host;
  conditions.raw = std::max(buffer.activation, sync_release_);

  RangeTracker::Ready entries;
  accumulators_.query(op.accumulators, entries);
  if (op.instruction.accumulate && !entries.written) {
    throw InputError(place_of(program_, op),
                     "adds to accumulator entries that nothing has written");
  }
  conditions.accumulator = entries.read;
  const bool follows_row_by_row = op.instruction.accumulate &&
                                  op.accumulators.begin == last_accumulators_.begin &&
                                  op.accumulators.end <= last_accumulators_.end;
  if (!follows_row_by_row) {
    conditions.accumulator = std::max(conditions.accumulator, entries.matrix);
  }
  return conditions;
}

void Timing::charge(const Operation& op, Cycles from, Cycles start, const Conditions& conditions) {
  RunCounters& counters = counters_of(op);
  Cycles cursor = from;
  const auto take = [&](Cycles until, Cycles& exclusive, Cycles& waiting) {
    waiting += std::max<Cycles>(0, until - from);
    if (until > cursor) {
      exclusive += until - cursor;
      cursor = until;
    }
  };
  CycleClasses& classes = counters.classes;
  Waiting& waiting = counters.waiting;
  take(conditions.weight, classes.weight_stall, waiting.weight_stall);
  take(conditions.shift, classes.weight_shift, waiting.weight_shift);
  take(conditions.input, classes.input_stall, waiting.input_stall);
  take(conditions.raw, classes.raw_stall, waiting.raw_stall);
  take(conditions.accumulator, classes.accumulator_stall, waiting.accumulator_stall);
  classes.idle += start - cursor;
}

// ---------------------------------------------------------------------------------------------
// Activation unit

Cycles Timing::activation_interval(std::int64_t elements) const {
  const Bytes bytes = elements * chip_.activation_bytes();
  return std::max({Cycles{1}, ceil_div(elements, chip_.array.cols),
                   ceil_div(bytes, chip_.unified_buffer.row_bytes)});
}

void Timing::activate(const Operation& op) {
  RangeTracker::Ready sums;
  accumulators_.query(op.accumulators, sums);
  if (!sums.written) {
    throw InputError(place_of(program_, op), "reads accumulator entries that nothing has written");
  }
  const Cycles end = run_activation_unit(op, sums.matrix);
  accumulators_.read(op.accumulators, end);
  counters_of(op).bytes.accumulator_read +=
      op.rows_in * op.row_elements * chip_.accumulator_bytes();
}

void Timing::vector_operation(const Operation& op) {
  const RangeTracker::Ready sources = buffer_ready(op, op.reads);
  const Cycles end = run_activation_unit(op, std::max(sources.host, sources.activation));
  for (const Span& span : op.reads) buffer_.read(span, end);
  counters_of(op).bytes.unified_buffer_read += op.bytes_in;
}

Cycles Timing::run_activation_unit(const Operation& op, Cycles sources_ready) {
  UnitState& unit = units_[static_cast<std::size_t>(Unit::activation)];
  const RangeTracker::Ready destination = buffer_ready(op, op.writes);
  const Cycles start = std::max({issue(Unit::activation, op), unit.free, sources_ready,
                                 destination.host, destination.activation, destination.read});
  const Cycles end = start + op.rows_in * activation_interval(op.row_elements);
  const Cycles done = end + chip_.activation_unit.pipeline_depth;
  unit.free = end;
  for (const Span& span : op.writes) buffer_.write(span, done, Writer::activation);
  RunCounters& counters = counters_of(op);
  counters.bytes.unified_buffer_write += op.bytes_out;
  counters.vector_operations += op.rows_in * op.row_elements;
  record(Unit::activation, op, start, end, done);
  return end;
}

// ---------------------------------------------------------------------------------------------

RunResult Timing::finish() {
  const Cycles drain = result_.cycles - units_[static_cast<std::size_t>(Unit::matrix)].free;
  (drain_layer_ < 0 ? result_.total : result_.layers[static_cast<std::size_t>(drain_layer_)])
      .classes.drain += drain;
  for (const RunCounters& layer : result_.layers) result_.total += layer;
  return std::move(result_);
}

}  // namespace tilewave::sim
