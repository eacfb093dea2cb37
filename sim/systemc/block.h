#pragma once

#include <exception>
#include <systemc>
#include <vector>

#include "sim/chip/chip.h"
#include "sim/isa/program.h"
#include "sim/systemc/array_faults.h"
#include "sim/systemc/recorder.h"

// What the blocks of the accelerator have in common.
//
// A cycle is two units of SystemC's time. On its first edge the blocks act, as often as events of
// the same cycle wake them: every condition that a block waits for stays true until the block has
// acted on it, so the order in which the kernel runs blocks does not matter. On the second edge,
// when nothing of the cycle can change any more, the array computes and the monitor looks.

namespace tilewave::sim::systemc {

inline sc_core::sc_time duration(Cycles cycles) {
  return sc_core::sc_time::from_value(2 * static_cast<sc_dt::uint64>(cycles));
}
inline Cycles cycles_of(const sc_core::sc_time& duration) {
  return static_cast<Cycles>(duration.value() / 2);
}
inline Cycles current_cycle() {
  return cycles_of(sc_core::sc_time_stamp());
}
/// From now to the first edge of `cycle`.
inline sc_core::sc_time time_to(Cycles cycle) {
  return duration(cycle) - sc_core::sc_time_stamp();
}
inline sc_core::sc_time half_cycle() {
  return sc_core::sc_time::from_value(1);
}

/// What every block of one simulation knows.
struct Shared {
  const Chip& chip;
  const Program& program;
  bool with_values;  ///< false: data stays where it is, only its way is timed
  Recorder& recorder;
  std::exception_ptr error = nullptr;  ///< what ended the simulation early
  ArrayFaults* faults = nullptr;       ///< of the matrix unit; null if nothing is broken
  /// By instruction: whether the array has to look at how its additions end; empty if never.
  std::vector<char> overflowing = {};

  bool overflows(const Operation& multiply) const {
    return !overflowing.empty() && overflowing[static_cast<std::size_t>(multiply.index)] != 0;
  }
};

/// A block with one process, step(), which its timer and the events of its neighbours wake.
class Block : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Block);
  Block(const sc_core::sc_module_name& name, Shared& shared)
      : sc_core::sc_module(name), shared_(shared) {
    SC_METHOD(guarded_step);
    sensitive << timer_;
  }

 protected:
  /// Does what is due and asks to be woken for what is not.
  virtual void step() = 0;
  void wake_at(Cycles cycle) { timer_.notify(time_to(cycle)); }

  /// Runs fn; what it throws ends the simulation and is thrown to the user from there.
  template <typename Fn>
  void guarded(Fn fn) {
    if (shared_.error) return;
    try {
      fn();
    } catch (...) {
      shared_.error = std::current_exception();
      sc_core::sc_pause();
    }
  }

  Shared& shared_;

 private:
  void guarded_step() {
    guarded([this] { step(); });
  }
  sc_core::sc_event timer_;
};

}  // namespace tilewave::sim::systemc
