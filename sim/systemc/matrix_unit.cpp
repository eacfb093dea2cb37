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

bool MatrixUnitBase::start_shift_in() {
  if (shifting_ || shadow_is_full_ || !ports_.fifo.has_tile()) return false;
  if (!shared_.chip.array.double_buffered_weights) {
    // The only plane is in use until the last result has left the array.
    const bool is_wanted = !entering_ && !ports_.queue.empty() &&
                           ports_.queue.front().operation->instruction.next_tile;
    if (!is_wanted || results_pending_ > 0) return false;
  }
  shifting_ = ports_.fifo.take();
  shift_start_ = current_cycle();
  begin_shift_in(*shifting_->operation->tile);
  return true;
}

void MatrixUnitBase::shift_in_ended() {
  const Cycles now = current_cycle();
  shared_.recorder.finished(Unit::weight_shift, *shifting_, shift_start_, now, now);
  shifting_.reset();
  shadow_is_full_ = true;
  ++tiles_shifted_;
  ports_.fifo.give_place_back();
  changed.notify(sc_core::SC_ZERO_TIME);
}

bool MatrixUnitBase::start_multiply() {
  if (entering_ || ports_.queue.empty()) return false;
  const Work& head = ports_.queue.front();
  const bool swaps = head.operation->instruction.next_tile;
  if ((swaps && !shadow_is_full_) || !ports_.scoreboard.is_ready(head.sequence)) return false;
  entering_ = ports_.queue.start_front();
  if (swaps) {
    shadow_is_full_ = false;
    ++tiles_used_;
  }
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
