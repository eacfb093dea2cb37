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
      dataflow_(chip.array.dataflow),
      shift_cycles_(ceil_div(chip.array.rows, chip.array.weight_rows_per_cycle)),
      result_delay_((dataflow_ == Dataflow::output_stationary ? 2 : 1) * chip.array.rows +
                    chip.array.cols - 1),
      fetch_latency_(chip.latency_cycles(chip.weight_memory.latency_ns)),
      host_latency_(chip.latency_cycles(chip.host_link.latency_us * 1000)),
      fifo_places_(static_cast<std::size_t>(chip.weight_memory.fifo_tiles), Cycles{0}),
      last_step_(-chip.array.rows),
      drain_layer_(operations_[0].back().layer) {
  check_fits(chip, program, operations_);
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
