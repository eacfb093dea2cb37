#include "sim/systemc/clocked_matrix_unit.h"

namespace tilewave::sim::systemc {

ClockedMatrixUnit::ClockedMatrixUnit(const sc_core::sc_module_name& name, Shared& shared,
                                     const MatrixUnitPorts& ports)
    : MatrixUnitBase(name, shared, ports) {
  SC_METHOD(clock_array_once);
  dont_initialize();
  sensitive << clock_edge_;
}

void ClockedMatrixUnit::begin_rows(const Work& multiply) {
  multiply_ = multiply.operation;
  row_ = 0;
  pass_ = 0;
  shared_.recorder.counters(*multiply_).useful_macs +=
      multiply_->instruction.rows * multiply_->tile->useful;
  take_row();
}

void ClockedMatrixUnit::progress() {
  if (current_cycle() == cycle_) return;
  cycle_ = current_cycle();
  for (; multiplies_complete_ > 0; --multiplies_complete_) results_complete();
  next_cycle();
  if (multiply_ != nullptr) continue_rows();
}

void ClockedMatrixUnit::continue_rows() {
  ++pass_;
  if (pass_ < shared_.chip.passes() || !next_row_is_ready()) return;
  pass_ = 0;
  if (++row_ < multiply_->rows_in) {
    take_row();
    return;
  }
  multiply_ = nullptr;
  rows_ended();
}

void ClockedMatrixUnit::arm() {
  if (multiply_ == nullptr && !array_is_moving()) return;
  clock_edge_.notify(half_cycle());
  wake_at(current_cycle() + 1);
}

void ClockedMatrixUnit::clock_array_once() {
  guarded([this] {
    if (shared_.faults != nullptr) shared_.faults->begin_clock(current_cycle());
    clock_array();
  });
}

}  // namespace tilewave::sim::systemc
