#include "sim/systemc/os_matrix_unit.h"

namespace tilewave::sim::systemc {

OsMatrixUnit::OsMatrixUnit(const sc_core::sc_module_name& name, Shared& shared,
                           const MatrixUnitPorts& ports)
    : ClockedMatrixUnit(name, shared, ports),
      array_(shared.chip, shared.faults, !shared.overflowing.empty()),
      activations_(static_cast<std::size_t>(shared.chip.array.rows)) {}

void OsMatrixUnit::begin_rows(const Work& work) {
  ports_.setup.begin(*work.operation);
  ClockedMatrixUnit::begin_rows(work);
}

void OsMatrixUnit::take_row() {
  ports_.setup.gather_step(row(), activations_.data());
}

void OsMatrixUnit::clock_array() {
  OsArray::Entry entry;
  const std::int16_t* weights = nullptr;
  if (pass_enters()) {
    const Tile& tile = *multiply()->tile;
    entry = {multiply(), pass(), is_last_pass(), row() == 0, is_last_row()};
    weights = shared_.program.weights.data() + tile.offset + row() * tile.cols;
  }
  array_.clock(entry, activations_.data(), weights);
  array_.for_each_leaving(
      [this](const Operation& op, std::int64_t pixel, std::int64_t channel, std::int32_t sum) {
        if (pixel == 0 && channel == shared_.chip.array.cols - 1) last_sum_left();
        if (pixel >= op.instruction.rows || channel >= op.tile->cols) return;
        const std::int64_t row = op.accumulators.begin + pixel;
        if (channel == 0) ports_.accumulators.begin_row(op, row);
        if (shared_.with_values) ports_.accumulators.add(op, row, channel, sum);
      });
  array_.for_each_overflows([this](const Operation& op, std::int64_t pixel, std::int64_t channel,
                                   std::int32_t overflows) {
    if (pixel >= op.instruction.rows || channel >= op.tile->cols) return;
    shared_.recorder.overflowed(op, overflows);
  });
}

}  // namespace tilewave::sim::systemc
