#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "sim/systemc/accumulators.h"
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

/// The control of the matrix unit: which tile is shifted in and which multiply enters, and when.
/// How the array works on them is up to the implementation, which says when it is through.
class MatrixUnitBase : public Block {
 public:
  MatrixUnitBase(const sc_core::sc_module_name& name, Shared& shared, const MatrixUnitPorts& ports);

  /// The multiply whose rows are entering.
  const std::optional<Work>& entering() const { return entering_; }
  std::int64_t multiplies_started() const { return multiplies_started_; }
  /// Tiles that have been shifted in, and that have been swapped into use, since the start.
  std::int64_t tiles_shifted() const { return tiles_shifted_; }
  std::int64_t tiles_used() const { return tiles_used_; }

  sc_core::sc_event changed;

 protected:
  virtual void begin_shift_in(const Tile& tile) = 0;
  virtual void begin_rows(const Work& multiply) = 0;
  /// Reports what the array has done until now by the three calls below.
  virtual void progress() = 0;
  /// Asks to be woken when there is more to report.
  virtual void arm() = 0;

  void shift_in_ended();
  void rows_ended();        ///< the entering multiply leaves the unit
  void results_complete();  ///< of the oldest multiply on its way

  MatrixUnitPorts ports_;

 private:
  struct OnTheWay {
    Work work;
    Cycles start, end, done;
    bool has_ended = false;
    bool is_done = false;
  };
  void step() override;
  bool start_shift_in();
  bool start_multiply();
  void record_finished();

  std::optional<Work> shifting_;
  Cycles shift_start_ = 0;
  bool shadow_is_full_ = false;
  std::optional<Work> entering_;
  std::deque<OnTheWay> on_the_way_;
  std::int64_t results_pending_ = 0;
  std::int64_t multiplies_started_ = 0, tiles_shifted_ = 0, tiles_used_ = 0;
};

}  // namespace tilewave::sim::systemc
