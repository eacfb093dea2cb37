#include "sim/systemc/matrix_unit.h"

#include <algorithm>

namespace tilewave::sim::systemc {

MatrixUnitBase::MatrixUnitBase(const sc_core::sc_module_name& name, Shared& shared,
                               const MatrixUnitPorts& ports)
    : Block(name, shared), ports_(ports) {
  sensitive << ports_.queue.arrived << ports_.scoreboard.changed << ports_.fifo.changed;
}

void MatrixUnitBase::step() {
  progress();
  while (start_shift_in() || start_multiply()) {
  }
  arm();
}

bool MatrixUnitBase::swaps(const Operation& multiply) const {
  if (dataflow() == Dataflow::weight_stationary) return multiply.instruction.next_tile;
  return multiply.loads_rows;
}

bool MatrixUnitBase::streams_next_tile(const Operation& multiply) const {
  return dataflow() != Dataflow::weight_stationary && multiply.instruction.next_tile;
}

Cycles MatrixUnitBase::row_interval(const Operation& multiply) const {
  const Cycles passes = shared_.chip.passes();
  // Weights come from beside the array; only activations are gathered.
  if (dataflow() == Dataflow::input_stationary) return passes;
  return std::max(passes, ports_.setup.interval(multiply.row_elements));
}

Cycles MatrixUnitBase::load_interval(const Operation& multiply) const {
  return std::max(Cycles{1}, ports_.setup.interval(multiply.instruction.rows));
}

// -----------------------------------------------------------------------------------------------
// Shifting in what stays

std::optional<Work> MatrixUnitBase::next_to_shift_in() const {
  if (!shared_.chip.array.double_buffered_weights) {
    // The only plane is in use until the last result has left the array.
    const bool is_wanted =
        !entering_ && !ports_.queue.empty() && swaps(*ports_.queue.front().operation);
    if (!is_wanted || results_pending_ > 0) return std::nullopt;
  }
  switch (dataflow()) {
    case Dataflow::weight_stationary:
      if (!ports_.fifo.has_tile()) return std::nullopt;
      return ports_.fifo.front();
    case Dataflow::input_stationary: {
      // Those before it have swapped in what they loaded, since the shadow plane is free.
      const Work* const next =
          ports_.queue.find([this](const Work& work) { return swaps(*work.operation); });
      if (next == nullptr || !ports_.scoreboard.has_sources(next->sequence)) return std::nullopt;
      return *next;
    }
    case Dataflow::output_stationary:
      break;
  }
  return std::nullopt;
}

bool MatrixUnitBase::start_shift_in() {
  if (shifting_ || shadow_is_full_) return false;
  shifting_ = next_to_shift_in();
  if (!shifting_) return false;
  if (dataflow() == Dataflow::weight_stationary) ports_.fifo.take();
  shift_start_ = current_cycle();
  begin_shift_in(*shifting_);
  changed.notify(sc_core::SC_ZERO_TIME);
  return true;
}

void MatrixUnitBase::shift_in_ended() {
  const Cycles now = current_cycle();
  shared_.recorder.finished(Unit::weight_shift, *shifting_, shift_start_, now, now);
  shifting_.reset();
  shadow_is_full_ = true;
  if (dataflow() == Dataflow::weight_stationary) ports_.fifo.give_place_back();
  changed.notify(sc_core::SC_ZERO_TIME);
}

// -----------------------------------------------------------------------------------------------
// Multiplies

std::optional<Cycles> MatrixUnitBase::drained_for(const Operation& next) const {
  if (dataflow() != Dataflow::output_stationary || results_pending_ == 0) return 0;
  if (!shared_.chip.array.double_buffered_weights) return std::nullopt;
  // The second registers hold sums on their way out, one row less each cycle; the next sums come
  // into them with the next multiply's last row.
  return last_row_ + shared_.chip.array.rows - (next.rows_in - 1) * row_interval(next);
}

bool MatrixUnitBase::can_start(const Work& multiply) {
  const Operation& op = *multiply.operation;
  if (swaps(op) && !shadow_is_full_) return false;
  if (streams_next_tile(op) && !ports_.fifo.has_tile()) return false;
  if (!ports_.scoreboard.is_ready(multiply.sequence)) return false;
  const std::optional<Cycles> drained = drained_for(op);
  if (drained && *drained > current_cycle()) wake_at(*drained);
  return drained && *drained <= current_cycle();
}

bool MatrixUnitBase::start_multiply() {
  if (entering_ || ports_.queue.empty() || !can_start(ports_.queue.front())) return false;
  entering_ = ports_.queue.start_front();
  const Operation& op = *entering_->operation;
  if (swaps(op)) shadow_is_full_ = false;
  if (streams_next_tile(op)) ports_.fifo.take();
  if (op.instruction.next_tile) ++tiles_used_;
  ++multiplies_started_;
  ++results_pending_;
  on_the_way_.push_back({*entering_, current_cycle(), 0, 0});
  begin_rows(*entering_);
  changed.notify(sc_core::SC_ZERO_TIME);
  return true;
}

void MatrixUnitBase::rows_ended() {
  OnTheWay& multiply = on_the_way_.back();
  multiply.end = current_cycle();
  multiply.has_ended = true;
  const Operation& op = *entering_->operation;
  last_row_ = multiply.end - row_interval(op);
  // The rows of its tile are now in the buffer beside the array.
  if (streams_next_tile(op)) ports_.fifo.give_place_back();
  entering_.reset();
  ports_.scoreboard.end(multiply.work.sequence);
  changed.notify(sc_core::SC_ZERO_TIME);
  record_finished();
}

void MatrixUnitBase::results_complete() {
  OnTheWay& multiply = *std::find_if(on_the_way_.begin(), on_the_way_.end(),
                                     [](const OnTheWay& item) { return !item.is_done; });
  multiply.done = current_cycle();
  multiply.is_done = true;
  --results_pending_;
  ports_.scoreboard.done(multiply.work.sequence);
  record_finished();
}

void MatrixUnitBase::record_finished() {
  while (!on_the_way_.empty() && on_the_way_.front().has_ended && on_the_way_.front().is_done) {
    const OnTheWay& item = on_the_way_.front();
    shared_.recorder.finished(Unit::matrix, item.work, item.start, item.end, item.done);
    on_the_way_.pop_front();
  }
}

}  // namespace tilewave::sim::systemc
