#include "sim/systemc/tile_matrix_unit.h"

#include <algorithm>

#include "sim/accumulate.h"

namespace tilewave::sim::systemc {

void TileMatrixUnit::begin_shift_in(const Tile& /*tile*/) {
  const Array& array = shared_.chip.array;
  shift_end_ = current_cycle() + ceil_div(array.rows, array.weight_rows_per_cycle);
}

void TileMatrixUnit::begin_rows(const Work& multiply) {
  const Operation& op = *multiply.operation;
  const Array& array = shared_.chip.array;
  const Cycles passes = shared_.chip.passes();
  ports_.setup.begin(op);
  const Cycles interval = std::max(passes, ports_.setup.interval());
  const Cycles now = current_cycle();
  rows_end_ = now + op.rows_in * interval;
  const Cycles last_pass = now + (op.rows_in - 1) * interval + passes - 1;
  in_array_.push_back({&op, last_pass + array.rows + array.cols - 1, multiply_tile(op)});
  shared_.recorder.counters(op).useful_macs += op.rows_in * op.tile->useful;
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

std::vector<std::int32_t> TileMatrixUnit::multiply_tile(const Operation& op) {
  const auto columns = static_cast<std::size_t>(op.tile->cols);
  const auto depth = static_cast<std::size_t>(op.tile->rows);
  std::vector<std::int16_t> row(depth);
  std::vector<std::int32_t> sums;
  if (shared_.with_values) sums.resize(static_cast<std::size_t>(op.rows_in) * columns);
  const Precision& precision = shared_.chip.precision;
  const bool saturates = precision.overflow == Overflow::saturate;
  for (std::int64_t r = 0; r < op.rows_in; ++r) {
    ports_.setup.gather(r, row.data());
    if (!shared_.with_values) continue;
    const std::int16_t* weights = shared_.program.weights.data() + op.tile->offset;
    std::int32_t* sum = sums.data() + static_cast<std::size_t>(r) * columns;
    for (std::size_t k = 0; k < depth; ++k, weights += columns) {
      const std::int32_t x = row[k];
      if (saturates) {
        for (std::size_t n = 0; n < columns; ++n) {
          sum[n] = saturate(std::int64_t{sum[n]} + x * weights[n], precision.accumulator_bits);
        }
        continue;
      }
      // Unsigned, which wraps; the accumulator drops the bits that it does not have.
      for (std::size_t n = 0; n < columns; ++n) {
        sum[n] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum[n]) +
                                           static_cast<std::uint32_t>(x * weights[n]));
      }
    }
  }
  return sums;
}

void TileMatrixUnit::write_sums(const Sums& sums) {
  const Operation& op = *sums.multiply;
  const std::int64_t used = op.tile->cols;
  for (std::int64_t r = 0; r < op.rows_in; ++r) {
    const std::int64_t row = op.accumulators.begin + r;
    ports_.accumulators.begin_row(op, row);
    if (!shared_.with_values) continue;
    for (std::int64_t column = 0; column < shared_.chip.array.cols; ++column) {
      const std::int32_t sum =
          column < used ? sums.values[static_cast<std::size_t>(r * used + column)] : 0;
      ports_.accumulators.add(op, row, column, sum);
    }
  }
}

}  // namespace tilewave::sim::systemc
