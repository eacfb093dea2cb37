#include "sim/systemc/accumulators.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "sim/accumulate.h"
#include "sim/isa/place.h"

namespace tilewave::sim::systemc {

Accumulators::Accumulators(const sc_core::sc_module_name& name, Shared& shared, std::int64_t rows)
    : sc_core::sc_module(name), shared_(shared), columns_(shared.chip.array.cols) {
  if (!shared.with_values) return;
  entries_.resize(static_cast<std::size_t>(rows * columns_));
  columns_written_.resize(static_cast<std::size_t>(rows));
}

void Accumulators::begin_row(const Operation& multiply, std::int64_t row) {
  const Bytes bytes = multiply.tile->cols * shared_.chip.accumulator_bytes();
  BytesMoved& moved = shared_.recorder.counters(multiply).bytes;
  moved.accumulator_write += bytes;
  if (multiply.instruction.accumulate) moved.accumulator_read += bytes;
  if (!shared_.with_values || multiply.instruction.accumulate) return;
  const std::vector<std::int32_t>& bias = multiply.columns->bias;
  columns_written_[static_cast<std::size_t>(row)] =
      std::max(multiply.tile->cols, static_cast<std::int64_t>(bias.size()));
  std::int32_t* const entries = entries_.data() + row * columns_;
  std::fill(entries, entries + columns_, 0);
  std::transform(bias.begin(), bias.end(), entries,
                 [this](std::int32_t value) { return narrow(value, shared_.chip.precision); });
}

void Accumulators::add(const Operation& multiply, std::int64_t row, std::int64_t column,
                       std::int32_t sum) {
  std::int32_t& entry = entries_[static_cast<std::size_t>(row * columns_ + column)];
  const std::int64_t exact = std::int64_t{entry} + sum;
  entry = narrow(exact, shared_.chip.precision);
  if (entry != exact) shared_.recorder.overflowed(multiply, 1);
}

const std::int32_t* Accumulators::read(const Operation& activate, std::int64_t row) {
  if (columns_written_[static_cast<std::size_t>(row)] < activate.row_elements) {
    throw InputError(place_of(shared_.program, activate),
                     "reads more columns than were written to its accumulator rows");
  }
  return entries_.data() + row * columns_;
}

}  // namespace tilewave::sim::systemc
