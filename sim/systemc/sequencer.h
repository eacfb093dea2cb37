#pragma once

#include <array>

#include "sim/systemc/block.h"
#include "sim/systemc/scoreboard.h"
#include "sim/systemc/unit_queue.h"

namespace tilewave::sim::systemc {

/// The queues between the sequencer and the units.
struct UnitQueues {
  explicit UnitQueues(std::optional<std::int64_t> depth)
      : host_in(depth), host_out(depth), weights(depth), matrix(depth), activation(depth) {}
  UnitQueue host_in, host_out, weights, matrix, activation;
};

/// Issues the instructions in program order, each into the queue of its unit.
class Sequencer final : public Block {
 public:
  Sequencer(const sc_core::sc_module_name& name, Shared& shared, const InstructionStream& stream,
            Scoreboard& scoreboard, UnitQueues& queues);

  /// The SYNC at `sequence` has let the next instruction through.
  bool has_passed_sync(std::int64_t sequence) const { return sequence <= passed_sync_; }
  bool has_issued_all() const { return next_ == stream_.size(); }
  /// Instructions that have issued.
  std::int64_t issued() const { return next_; }
  /// What is to be issued next; not to be called when all is.
  Work next() const { return stream_.at(next_); }

  sc_core::sc_event passed;

 private:
  void step() override;
  bool begin_issue();
  void finish_issue();
  UnitQueue* queue_of(Opcode opcode);

  const InstructionStream& stream_;
  Scoreboard& scoreboard_;
  UnitQueues& queues_;
  std::int64_t next_ = 0;
  bool is_issuing_ = false;
  Cycles issue_end_ = 0;
  bool is_holding_ = false;  ///< a SYNC has issued and waits
  std::int64_t passed_sync_ = -1;
};

}  // namespace tilewave::sim::systemc
