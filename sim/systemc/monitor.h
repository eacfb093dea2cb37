#pragma once

#include <array>
#include <cstdint>

#include "sim/systemc/block.h"
#include "sim/systemc/matrix_unit.h"
#include "sim/systemc/sequencer.h"

namespace tilewave::sim::systemc {

/// Looks at the matrix unit at the end of every cycle and counts what it is doing, or which
/// conditions of the next multiply are not met. In cycles in which no block does anything nothing
/// changes either, so those are counted together.
class Monitor final : public Block {
 public:
  Monitor(const sc_core::sc_module_name& name, Shared& shared, const InstructionStream& stream,
          Scoreboard& scoreboard, const Sequencer& sequencer, const WeightFifo& fifo,
          const MatrixUnitBase& matrix);
  SC_HAS_PROCESS(Monitor);

  /// The run has ended.
  void finish();

 private:
  enum class State : std::uint8_t { active, waiting, drain };
  /// In the order of StallReason.
  enum Condition : std::uint8_t { weight, shift, input, raw, accumulator, kConditions };
  static const std::array<Condition, kConditions> kOrder, kOrderOfLoads;

  void step() override;
  void look();
  void count_until(Cycles cycle);
  void look_at_next_multiply(std::int64_t sequence);

  const InstructionStream& stream_;
  Scoreboard& scoreboard_;
  const Sequencer& sequencer_;
  const WeightFifo& fifo_;
  const MatrixUnitBase& matrix_;
  sc_core::sc_event look_event_;

  State state_ = State::drain;
  std::int32_t layer_;  ///< that the state is charged to
  std::array<bool, kConditions> is_unmet_{};
  Work next_;  ///< the multiply that waits
  Cycles since_ = 0;
};

}  // namespace tilewave::sim::systemc
