#include "sim/systemc/pe_matrix_unit.h"

namespace tilewave::sim::systemc {

PeMatrixUnit::PeMatrixUnit(const sc_core::sc_module_name& name, Shared& shared,
                           const MatrixUnitPorts& ports)
    : ClockedMatrixUnit(name, shared, ports),
      array_(shared.chip, shared.program, shared.faults, !shared.overflowing.empty()),
      values_(static_cast<std::size_t>(shared.chip.array.rows)) {
  if (!holds_inputs()) return;
  loaded_.resize(static_cast<std::size_t>(shared.chip.array.rows * shared.chip.array.cols));
}

// -----------------------------------------------------------------------------------------------
// What stays in the array

void PeMatrixUnit::begin_shift_in(const Work& work) {
  shifting_ = work.operation;
  const Array& array = shared_.chip.array;
  shift_cycle_ = 0;
  if (holds_inputs()) {
    // Gathering takes load_interval cycles per row, the chain in the array one: it moves when the
    // last row can follow the others without a gap.
    ports_.setup.begin(*shifting_);
    shift_cycles_ = array.rows * load_interval(*shifting_);
    chain_begin_ = shift_cycles_ - array.rows;
    load();
  } else {
    shift_cycles_ = ceil_div(array.rows, array.weight_rows_per_cycle);
    chain_begin_ = 0;
  }
  if (chain_begin_ == 0) array_.begin_shift_in(*shifting_->tile);
}

void PeMatrixUnit::continue_shift_in() {
  ++shift_cycle_;
  if (shift_cycle_ == shift_cycles_) {
    shifting_ = nullptr;
    shift_in_ended();
    return;
  }
  if (holds_inputs()) load();
  if (shift_cycle_ == chain_begin_) array_.begin_shift_in(*shifting_->tile);
}

/// Gathers the next row where it is time for it; the last row, which is to go furthest, first.
void PeMatrixUnit::load() {
  const Cycles interval = load_interval(*shifting_);
  const std::int64_t k = shared_.chip.array.rows - 1 - shift_cycle_ / interval;
  if (shift_cycle_ % interval != 0 || k >= shifting_->tile->rows) return;
  ports_.setup.gather_step(k, loaded_.data() + k * shared_.chip.array.cols);
}

PeArray::Values PeMatrixUnit::top_row() {
  if (shifting_ == nullptr || shift_cycle_ < chain_begin_) return {};
  const Tile& tile = *shifting_->tile;
  const std::int64_t row = shared_.chip.array.rows - 1 - (shift_cycle_ - chain_begin_);
  if (row >= tile.rows) return {};
  if (holds_inputs()) {
    return {loaded_.data() + row * shared_.chip.array.cols, shifting_->instruction.rows};
  }
  return {shared_.program.weights.data() + tile.offset + row * tile.cols, tile.cols};
}

// -----------------------------------------------------------------------------------------------
// What passes it

void PeMatrixUnit::begin_rows(const Work& work) {
  const Instruction& instruction = work.operation->instruction;
  if (holds_inputs()) {
    if (!instruction.keep_rows) array_.begin_swap();
  } else {
    ports_.setup.begin(*work.operation);
    if (instruction.next_tile) array_.begin_swap();
  }
  ClockedMatrixUnit::begin_rows(work);
}

void PeMatrixUnit::take_row() {
  if (!holds_inputs()) {
    ports_.setup.gather_pixel(row(), values_.data());
    return;
  }
  const Tile& tile = *multiply()->tile;
  const std::int16_t* weight = shared_.program.weights.data() + tile.offset + row();
  for (std::size_t k = 0; k < static_cast<std::size_t>(tile.rows); ++k, weight += tile.cols) {
    values_[k] = *weight;
  }
}

void PeMatrixUnit::next_cycle() {
  if (shifting_ != nullptr) continue_shift_in();
}

void PeMatrixUnit::clock_array() {
  PeArray::Entry entry;
  if (pass_enters()) entry = {multiply(), row(), pass(), is_last_pass(), is_last_row()};
  array_.clock(entry, values_.data(), top_row());
  collect_sums();
}

void PeMatrixUnit::collect_sums() {
  for (std::int64_t column = 0; column < shared_.chip.array.cols; ++column) {
    const PeArray::Entry& entry = array_.leaving(column);
    if (entry.multiply == nullptr || !entry.is_last_pass) continue;
    collect(entry, column);
    if (column == shared_.chip.array.cols - 1 && entry.is_last_row) last_sum_left();
  }
}

/// A column of the array is a channel, or a pixel where inputs stay.
void PeMatrixUnit::collect(const PeArray::Entry& entry, std::int64_t column) {
  const Operation& op = *entry.multiply;
  const std::int64_t pixel = holds_inputs() ? column : entry.row;
  const std::int64_t channel = holds_inputs() ? entry.row : column;
  if (pixel >= op.instruction.rows || channel >= op.tile->cols) return;
  const std::int64_t row = op.accumulators.begin + pixel;
  if (channel == 0) ports_.accumulators.begin_row(op, row);
  if (!shared_.with_values) return;
  shared_.recorder.overflowed(op, array_.overflows(column));
  ports_.accumulators.add(op, row, channel, array_.sum(column));
}

}  // namespace tilewave::sim::systemc
