#include "sim/systemc/sequencer.h"

namespace tilewave::sim::systemc {

Sequencer::Sequencer(const sc_core::sc_module_name& name, Shared& shared,
                     const InstructionStream& stream, Scoreboard& scoreboard, UnitQueues& queues)
    : Block(name, shared), stream_(stream), scoreboard_(scoreboard), queues_(queues) {
  sensitive << scoreboard.changed;
  for (UnitQueue* queue :
       {&queues.host_in, &queues.host_out, &queues.weights, &queues.matrix, &queues.activation}) {
    sensitive << queue->started;
  }
}

UnitQueue* Sequencer::queue_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::read_host:
      return &queues_.host_in;
    case Opcode::write_host:
      return &queues_.host_out;
    case Opcode::read_weights:
      return &queues_.weights;
    case Opcode::matmul:
      return &queues_.matrix;
    case Opcode::activate:
    case Opcode::vector_add:
    case Opcode::vector_pool:
    case Opcode::vector_lookup:
      return &queues_.activation;
    default:
      return nullptr;
  }
}

void Sequencer::step() {
  while (true) {
    if (is_issuing_) {
      if (current_cycle() < issue_end_) return wake_at(issue_end_);
      finish_issue();
    }
    if (is_holding_) {
      if (scoreboard_.first_unfinished() < next_) return;
      is_holding_ = false;
      passed_sync_ = next_;
      passed.notify(sc_core::SC_ZERO_TIME);
      scoreboard_.end(next_);
      scoreboard_.done(next_);
      ++next_;
    }
    if (has_issued_all() || !begin_issue()) return;
  }
}

bool Sequencer::begin_issue() {
  const Operation& op = *stream_.at(next_).operation;
  UnitQueue* queue = queue_of(op.instruction.opcode);
  if (queue != nullptr) {
    if (!queue->has_place()) return false;
    queue->take_place();
  }
  scoreboard_.enter_through(next_);
  ++shared_.recorder.counters(op).instructions;
  is_issuing_ = true;
  // HALT is where the stream ends, not an instruction that takes a slot.
  const bool is_halt = op.instruction.opcode == Opcode::halt;
  issue_end_ = current_cycle() + (is_halt ? 0 : shared_.chip.sequencer.issue_cycles);
  return true;
}

void Sequencer::finish_issue() {
  is_issuing_ = false;
  const Work work = stream_.at(next_);
  const Opcode opcode = work.operation->instruction.opcode;
  if (opcode == Opcode::sync) {
    is_holding_ = true;
    return;
  }
  UnitQueue* queue = queue_of(opcode);
  if (queue != nullptr) queue->push(work);
  // Access is decoupled from execution: nothing that follows waits for a tile on its way, except
  // the multiply that needs it.
  if (queue == nullptr || queue == &queues_.weights) {
    scoreboard_.end(next_);
    scoreboard_.done(next_);
  }
  ++next_;
}

}  // namespace tilewave::sim::systemc
