#include "sim/systemc/monitor.h"

namespace tilewave::sim::systemc {

Monitor::Monitor(const sc_core::sc_module_name& name, Shared& shared,
                 const InstructionStream& stream, Scoreboard& scoreboard,
                 const Sequencer& sequencer, const WeightFifo& fifo, const MatrixUnitBase& matrix)
    : Block(name, shared),
      stream_(stream),
      scoreboard_(scoreboard),
      sequencer_(sequencer),
      fifo_(fifo),
      matrix_(matrix),
      layer_(stream.last_layer()) {
  sensitive << scoreboard.changed << sequencer.passed << fifo.changed << matrix.changed;
  SC_METHOD(look);
  dont_initialize();
  sensitive << look_event_;
}

void Monitor::step() {
  look_event_.notify(half_cycle());
}

void Monitor::look() {
  guarded([this] {
    const auto next = stream_.multiply(matrix_.multiplies_started());
    const bool is_last = !matrix_.entering() && !next;
    if (is_last && state_ == State::drain) return;
    count_until(current_cycle());
    if (matrix_.entering()) {
      state_ = State::active;
      layer_ = matrix_.entering()->operation->layer;
    } else if (next) {
      state_ = State::waiting;
      look_at_next_multiply(*next);
    } else {
      state_ = State::drain;  // of the last multiply's layer, or of the last if there is none
    }
  });
}

void Monitor::look_at_next_multiply(std::int64_t sequence) {
  scoreboard_.enter_through(sequence);
  next_ = stream_.at(sequence);
  const Operation& op = *next_.operation;
  layer_ = op.layer;
  is_unmet_[weight] = op.instruction.next_tile && fifo_.arrived() <= matrix_.tiles_used();
  is_unmet_[shift] = matrix_.waits_for_shift_in(op);
  is_unmet_[input] = scoreboard_.waits_for(sequence, Scoreboard::Reason::host);
  is_unmet_[raw] = scoreboard_.waits_for(sequence, Scoreboard::Reason::activation) ||
                   !sequencer_.has_passed_sync(stream_.sync_before(sequence));
  const std::optional<Cycles> drained = matrix_.drained_for(op);
  const bool is_drained = drained && *drained <= current_cycle();
  if (drained && !is_drained) wake_at(*drained);
  is_unmet_[accumulator] =
      !is_drained || scoreboard_.waits_for(sequence, Scoreboard::Reason::accumulator);
}

/// A cycle is charged to the first that is not met. Activations that are to be loaded must have
/// been written before.
constexpr std::array<Monitor::Condition, Monitor::kConditions> Monitor::kOrder = {
    weight, shift, input, raw, accumulator};
constexpr std::array<Monitor::Condition, Monitor::kConditions> Monitor::kOrderOfLoads = {
    weight, input, raw, shift, accumulator};

void Monitor::count_until(Cycles cycle) {
  const Cycles from = since_;
  const Cycles cycles = cycle - from;
  since_ = cycle;
  RunCounters& counters = shared_.recorder.counters(layer_);
  CycleClasses& classes = counters.classes;
  if (state_ == State::active) classes.active += cycles;
  if (state_ == State::drain) classes.drain += cycles;
  if (state_ != State::waiting) return;
  const std::array<Cycles*, kConditions> exclusive = {&classes.weight_stall, &classes.weight_shift,
                                                      &classes.input_stall, &classes.raw_stall,
                                                      &classes.accumulator_stall};
  Waiting& waiting = counters.waiting;
  const std::array<Cycles*, kConditions> every = {&waiting.weight_stall, &waiting.weight_shift,
                                                  &waiting.input_stall, &waiting.raw_stall,
                                                  &waiting.accumulator_stall};
  auto reason = StallReason::idle;
  for (const Condition i : next_.operation->loads_rows ? kOrderOfLoads : kOrder) {
    if (!is_unmet_[i]) continue;
    *every[i] += cycles;
    if (reason != StallReason::idle) continue;
    reason = static_cast<StallReason>(i);
    *exclusive[i] += cycles;
  }
  if (reason == StallReason::idle) classes.idle += cycles;
  shared_.recorder.waited(reason, next_, from, cycle);
}

void Monitor::finish() {
  count_until(shared_.recorder.cycles());
}

}  // namespace tilewave::sim::systemc
