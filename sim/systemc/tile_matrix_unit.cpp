#include "sim/systemc/tile_matrix_unit.h"

#include <algorithm>
#include <utility>

#include "sim/accumulate.h"

namespace tilewave::sim::systemc {

void TileMatrixUnit::begin_shift_in(const Work& work) {
  const Array& array = shared_.chip.array;
  if (dataflow() == Dataflow::weight_stationary) {
    shift_end_ = current_cycle() + ceil_div(array.rows, array.weight_rows_per_cycle);
    return;
  }
  shift_end_ = current_cycle() + array.rows * load_interval(*work.operation);
  loaded_ = gather(*work.operation);
}

void TileMatrixUnit::begin_rows(const Work& multiply) {
  const Operation& op = *multiply.operation;
  const Cycles interval = row_interval(op);
  const Cycles now = current_cycle();
  rows_end_ = now + op.rows_in * interval;
  const Cycles last_pass = now + (op.rows_in - 1) * interval + shared_.chip.passes() - 1;
  if (op.loads_rows) {
    activations_ = std::move(loaded_);
  } else if (!op.instruction.keep_rows) {
    activations_ = gather(op);
  }
  in_array_.push_back({&op, last_pass + travel(), multiply_tile(op)});
  shared_.recorder.counters(op).useful_macs += op.instruction.rows * op.tile->useful;
}

/// Cycles from a multiply's last pass at the array's edge to its last sum in the accumulators.
Cycles TileMatrixUnit::travel() const {
  const Array& array = shared_.chip.array;
  const Cycles across = array.rows + array.cols - 1;
  // Once the last sum is formed, as many sums as there are rows leave each column.
  return dataflow() == Dataflow::output_stationary ? across + array.rows : across;
}

void TileMatrixUnit::progress() {
  const Cycles now = current_cycle();
  if (shift_end_ && *shift_end_ <= now) {
    shift_end_.reset();
    shift_in_ended();
  }
  if (rows_end_ && *rows_end_ <= now) {
    rows_end_.reset();
    rows_ended();
  }
  while (!in_array_.empty() && in_array_.front().complete <= now) {
    write_sums(in_array_.front());
    in_array_.pop_front();
    results_complete();
  }
}

void TileMatrixUnit::arm() {
  if (shift_end_) wake_at(*shift_end_);
  if (rows_end_) wake_at(*rows_end_);
  if (!in_array_.empty()) wake_at(in_array_.front().complete);
}

std::vector<std::int16_t> TileMatrixUnit::gather(const Operation& op) {
  const std::int64_t depth = op.tile->rows;
  std::vector<std::int16_t> activations;
  if (shared_.with_values) {
    activations.resize(static_cast<std::size_t>(op.instruction.rows * depth));
  }
  ports_.setup.begin(op);
  for (std::int64_t pixel = 0; pixel < op.instruction.rows; ++pixel) {
    ports_.setup.gather_pixel(pixel, activations.data() + pixel * depth);
  }
  return activations;
}

std::vector<std::int32_t> TileMatrixUnit::multiply_tile(const Operation& op) {
  std::vector<std::int32_t> sums;
  if (!shared_.with_values) return sums;
  const auto columns = static_cast<std::size_t>(op.tile->cols);
  sums.resize(op.instruction.rows * columns);
  const std::int16_t* activation = activations_.data();
  for (std::size_t pixel = 0; pixel < op.instruction.rows; ++pixel) {
    const std::int16_t* weights = shared_.program.weights.data() + op.tile->offset;
    for (std::int64_t k = 0; k < op.tile->rows; ++k, weights += columns) {
      add_products(op, sums.data() + pixel * columns, weights, *activation++);
    }
  }
  return sums;
}

/// One row of the array: a product for each column's sum.
void TileMatrixUnit::add_products(const Operation& op, std::int32_t* sums,
                                  const std::int16_t* weights, std::int32_t activation) {
  const std::int64_t columns = op.tile->cols;
  if (!shared_.overflows(op)) {
    for (std::int64_t n = 0; n < columns; ++n) sums[n] += activation * weights[n];
    return;
  }
  std::int64_t overflows = 0;
  for (std::int64_t n = 0; n < columns; ++n) {
    const std::int64_t exact = std::int64_t{sums[n]} + activation * weights[n];
    sums[n] = narrow(exact, shared_.chip.precision);
    overflows += sums[n] != exact;
  }
  shared_.recorder.overflowed(op, overflows);
}

void TileMatrixUnit::write_sums(const Sums& sums) {
  const Operation& op = *sums.multiply;
  const std::int64_t used = op.tile->cols;
  for (std::int64_t r = 0; r < op.instruction.rows; ++r) {
    const std::int64_t row = op.accumulators.begin + r;
    ports_.accumulators.begin_row(op, row);
    if (!shared_.with_values) continue;
    for (std::int64_t column = 0; column < used; ++column) {
      ports_.accumulators.add(op, row, column,
                              sums.values[static_cast<std::size_t>(r * used + column)]);
    }
  }
}

}  // namespace tilewave::sim::systemc
