#pragma once

#include <cstdint>

#include "sim/systemc/matrix_unit.h"

namespace tilewave::sim::systemc {

/// A matrix unit whose array is clocked. On the first edge of a cycle the unit puts a pass of a
/// row at the array's edge; on the second the array computes. The clock stands still while nothing
/// moves in the array.
class ClockedMatrixUnit : public MatrixUnitBase {
 public:
  ClockedMatrixUnit(const sc_core::sc_module_name& name, Shared& shared,
                    const MatrixUnitPorts& ports);
  SC_HAS_PROCESS(ClockedMatrixUnit);

  std::int64_t entering_row() const override { return pass_enters() ? row_ : -1; }

 protected:
  /// The next row of `multiply()` is at the edge from this cycle on.
  virtual void take_row() = 0;
  /// Whether what the next row is made from can be had in this cycle.
  virtual bool next_row_is_ready() const { return ports_.setup.ready_at() <= current_cycle(); }
  /// First edge: what has changed by the last clock.
  virtual void next_cycle() = 0;
  /// Second edge.
  virtual void clock_array() = 0;
  virtual bool array_is_moving() const = 0;

  void begin_rows(const Work& multiply) override;

  /// Whose rows enter; null if none do.
  const Operation* multiply() const { return multiply_; }
  std::int64_t row() const { return row_; }
  int pass() const { return pass_; }
  /// A pass of the row enters in this cycle; else the row has entered and is held, or there is
  /// none.
  bool pass_enters() const { return multiply_ != nullptr && pass_ < shared_.chip.passes(); }
  bool is_last_pass() const { return pass_ == shared_.chip.passes() - 1; }
  bool is_last_row() const { return row_ == multiply_->rows_in - 1; }
  /// In this clock the last sum of the oldest multiply in the array left it.
  void last_sum_left() { ++multiplies_complete_; }

 private:
  void progress() override;
  void arm() override;
  void continue_rows();
  void clock_array_once();

  sc_core::sc_event clock_edge_;
  Cycles cycle_ = -1;  ///< that the state below belongs to
  const Operation* multiply_ = nullptr;
  std::int64_t row_ = 0;
  int pass_ = 0;
  std::int64_t multiplies_complete_ = 0;  ///< in the last clock
};

}  // namespace tilewave::sim::systemc
