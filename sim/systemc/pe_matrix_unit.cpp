#include "sim/systemc/pe_matrix_unit.h"

#include <algorithm>

namespace tilewave::sim::systemc {

PeMatrixUnit::PeMatrixUnit(const sc_core::sc_module_name& name, Shared& shared,
                           const MatrixUnitPorts& ports)
    : MatrixUnitBase(name, shared, ports),
      array_(shared.chip, shared.program),
      values_(static_cast<std::size_t>(shared.chip.array.rows)) {
  SC_METHOD(clock_array_once);
  dont_initialize();
  sensitive << clock_edge_;
}

void PeMatrixUnit::begin_shift_in(const Tile& tile) {
  is_shifting_ = true;
  rows_to_shift_ = shared_.chip.array.rows;
  array_.begin_shift_in(tile);
}

void PeMatrixUnit::begin_rows(const Work& multiply) {
  multiply_ = multiply.operation;
  ports_.setup.begin(*multiply_);
  if (multiply_->instruction.next_tile) array_.begin_swap();
  row_ = 0;
  take_row();
}

void PeMatrixUnit::take_row() {
  ports_.setup.gather(row_, values_.data());
  shared_.recorder.counters(*multiply_).useful_macs += multiply_->tile->useful;
  pass_ = 0;
}

void PeMatrixUnit::progress() {
  if (current_cycle() == cycle_) return;
  cycle_ = current_cycle();
  next_cycle();
}

void PeMatrixUnit::next_cycle() {
  for (; multiplies_complete_ > 0; --multiplies_complete_) results_complete();
  if (is_shifting_) continue_shift_in();
  if (multiply_ != nullptr) continue_rows();
}

void PeMatrixUnit::continue_shift_in() {
  rows_to_shift_ -= shared_.chip.array.weight_rows_per_cycle;
  if (rows_to_shift_ > 0) return;
  is_shifting_ = false;
  shift_in_ended();
}

void PeMatrixUnit::continue_rows() {
  ++pass_;
  if (pass_ < shared_.chip.passes() || ports_.setup.ready_at() > current_cycle()) return;
  if (++row_ < multiply_->rows_in) {
    take_row();
    return;
  }
  multiply_ = nullptr;
  rows_ended();
}

void PeMatrixUnit::arm() {
  if (!is_moving()) return;
  clock_edge_.notify(half_cycle());
  wake_at(current_cycle() + 1);
}

void PeMatrixUnit::clock_array_once() {
  guarded([this] {
    PeArray::Entry entry;
    const int passes = shared_.chip.passes();
    if (multiply_ != nullptr && pass_ < passes) {
      entry = {multiply_, multiply_->accumulators.begin + row_, pass_, pass_ == passes - 1,
               row_ == multiply_->rows_in - 1};
    }
    array_.clock(entry, values_);
    collect_sums();
  });
}

void PeMatrixUnit::collect_sums() {
  for (std::int64_t column = 0; column < shared_.chip.array.cols; ++column) {
    const PeArray::Entry& entry = array_.leaving(column);
    if (entry.multiply == nullptr || !entry.is_last_pass) continue;
    if (column == 0) ports_.accumulators.begin_row(*entry.multiply, entry.accumulator_row);
    if (shared_.with_values) {
      ports_.accumulators.add(*entry.multiply, entry.accumulator_row, column, array_.sum(column));
    }
    if (column == shared_.chip.array.cols - 1 && entry.is_last_row) ++multiplies_complete_;
  }
}

}  // namespace tilewave::sim::systemc
