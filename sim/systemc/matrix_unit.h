#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "sim/systemc/accumulators.h"
#include "sim/systemc/array_registers.h"
#include "sim/systemc/block.h"
#include "sim/systemc/scoreboard.h"
#include "sim/systemc/systolic_data_setup.h"
#include "sim/systemc/unit_queue.h"
#include "sim/systemc/weight_fifo.h"

namespace tilewave::sim::systemc {

/// What the matrix unit is connected to.
struct MatrixUnitPorts {
  UnitQueue& queue;
  Scoreboard& scoreboard;
  WeightFifo& fifo;
  SystolicDataSetup& setup;
  Accumulators& accumulators;
};

/// The control of the matrix unit: what is shifted in and which multiply enters, and when. How the
/// array works on them is up to the implementation, which says when it is through.
///
/// What is shifted in and stays there while rows of the other operand pass it is, by dataflow, a
/// tile of weights (from the FIFO), or the activations of a multiply (from the data setup, while
/// tiles go from the FIFO through the array), or nothing.
class MatrixUnitBase : public Block {
 public:
  MatrixUnitBase(const sc_core::sc_module_name& name, Shared& shared, const MatrixUnitPorts& ports);

  /// The multiply whose rows are entering.
  const std::optional<Work>& entering() const { return entering_; }
  std::int64_t multiplies_started() const { return multiplies_started_; }
  /// Tiles that multiplies have taken into use since the start.
  std::int64_t tiles_used() const { return tiles_used_; }

  bool is_shifting_in() const { return shifting_.has_value(); }
  /// Which row of entering() enters in this cycle; -1 if none does or only the multiply as a whole
  /// is modelled.
  virtual std::int64_t entering_row() const { return -1; }
  /// Null where the array is not modelled register by register.
  virtual const ArrayRegisters* registers() const { return nullptr; }

  // What the next multiply may wait for within the unit.

  /// What it swaps in, a tile or the activations that are loaded for it, is not there.
  bool waits_for_shift_in(const Operation& next) const { return swaps(next) && !shadow_is_full_; }
  /// First cycle in which it may start for the sums of the multiply before it that have not left
  /// the array (output-stationary); nothing while that is not known.
  std::optional<Cycles> drained_for(const Operation& next) const;

  sc_core::sc_event changed;

 protected:
  /// `work`: the read_weights of the tile, or the multiply that loads its activations.
  virtual void begin_shift_in(const Work& work) = 0;
  virtual void begin_rows(const Work& multiply) = 0;
  /// Reports what the array has done until now by the calls below.
  virtual void progress() = 0;
  /// Asks to be woken when there is more to report.
  virtual void arm() = 0;

  void shift_in_ended();
  void rows_ended();        ///< the entering multiply leaves the unit
  void results_complete();  ///< of the oldest multiply on its way

  Dataflow dataflow() const { return shared_.chip.array.dataflow; }
  /// Cycles from one row that enters for the multiply to the next.
  Cycles row_interval(const Operation& multiply) const;
  /// Cycles from one row of activations to the next that is loaded into the array to stay there.
  Cycles load_interval(const Operation& multiply) const;

  MatrixUnitPorts ports_;

 private:
  struct OnTheWay {
    Work work;
    Cycles start, end, done;
    bool has_ended = false;
    bool is_done = false;
  };
  void step() override;
  bool swaps(const Operation& multiply) const;
  bool streams_next_tile(const Operation& multiply) const;
  std::optional<Work> next_to_shift_in() const;
  bool start_shift_in();
  bool can_start(const Work& multiply);
  bool start_multiply();
  void record_finished();

  std::optional<Work> shifting_;
  Cycles shift_start_ = 0;
  bool shadow_is_full_ = false;
  std::optional<Work> entering_;
  Cycles last_row_ = 0;  ///< in which the last row of the last multiply that has ended entered
  std::deque<OnTheWay> on_the_way_;
  std::int64_t results_pending_ = 0;
  std::int64_t multiplies_started_ = 0, tiles_used_ = 0;
};

}  // namespace tilewave::sim::systemc
