#include "sim/systemc/pe_array.h"

#include <algorithm>
#include <utility>

namespace tilewave::sim::systemc {

PeArray::PeArray(const Chip& chip, const Program& program, ArrayFaults* faults,
                 bool counts_overflows)
    : program_(program),
      rows_(chip.array.rows),
      cols_(chip.array.cols),
      rows_per_cycle_(chip.array.weight_rows_per_cycle),
      double_buffered_(chip.array.double_buffered_weights),
      holds_inputs_(chip.array.dataflow == Dataflow::input_stationary),
      moving_bytes_(chip.activation_bytes()),
      staying_bytes_(chip.weight_bytes()),
      adders_{chip.precision.accumulator_bits, chip.precision.overflow == Overflow::saturate},
      faults_(faults),
      activation_(rows_, cols_),
      zeros_(static_cast<std::size_t>(cols_)),
      depth_(rows_ + cols_),
      entries_(static_cast<std::size_t>(depth_)),
      left_(rows_),
      top_(cols_) {
  const auto size = static_cast<std::size_t>(rows_ * cols_);
  weight_.resize(size);
  if (double_buffered_) shadow_.resize(size);
  psum_.resize(size);
  if (counts_overflows) overflows_.resize(size);
  if (holds_inputs_) std::swap(moving_bytes_, staying_bytes_);
  if (chip.passes() == 1) return;
  product_.resize(size);
  pass_control_.resize(static_cast<std::size_t>(5 * depth_));
}

void PeArray::begin_shift_in(const Tile& tile) {
  shifts_.push_back({&tile, clock_ + 1});
}

void PeArray::begin_swap() {
  if (double_buffered_) swaps_.push_back(clock_ + 1);
}

void PeArray::clock(const Entry& entry, const std::int16_t* row, Values top) {
  ++clock_;
  enter(entry, row);
  swap_planes();
  shift_in_weights(top);
  activation_.clock(left_.leave());
  if (faults_ != nullptr) break_inputs();
  multiply_and_add();
  if (faults_ != nullptr) break_sums();
  if (leaving(cols_ - 1).multiply != nullptr && leaving(cols_ - 1).is_last_pass) --rows_inside_;
}

void PeArray::enter(const Entry& entry, const std::int16_t* row) {
  newest_ = newest_ + 1 < depth_ ? newest_ + 1 : 0;
  entries_[static_cast<std::size_t>(newest_)] = entry;
  std::int16_t* const lanes = left_.enter();
  if (entry.multiply == nullptr) return;
  if (entry.is_last_pass) ++rows_inside_;
  const int byte = moving_bytes_ == 2 ? entry.pass % 2 : kWhole;
  for (std::int64_t k = 0; k < entry.multiply->tile->rows; ++k) lanes[k] = part_of(row[k], byte);
}

void PeArray::swap_planes() {
  for (const std::int64_t begin : swaps_) {
    const std::int64_t age = clock_ - begin;
    const std::int64_t last = std::min(rows_ - 1, age);
    for (std::int64_t row = std::max<std::int64_t>(0, age - cols_ + 1); row <= last; ++row) {
      const auto pe = static_cast<std::size_t>(row * cols_ + age - row);
      weight_[pe] = shadow_[pe];
    }
  }
  while (!swaps_.empty() && clock_ - swaps_.front() >= rows_ + cols_ - 2) swaps_.pop_front();
}

std::int16_t PeArray::weight_of(const Tile& tile, std::int64_t row, std::int64_t column) const {
  if (row >= tile.rows || column >= tile.cols) return 0;
  return program_.weights[static_cast<std::size_t>(tile.offset + row * tile.cols + column)];
}

void PeArray::shift_in_weights(Values top) {
  if (shifts_.empty()) return;
  std::copy(top.values, top.values + top.count, top_.enter());
  const std::int16_t* const above = top_.leave();
  for (const ShiftIn& shift : shifts_) {
    if (rows_per_cycle_ == 1) {
      shift_chain(clock_ - shift.begin, above);
    } else {
      shift_lanes(shift, clock_ - shift.begin);
    }
  }
  const std::int64_t last = (rows_ - 1) / rows_per_cycle_ + rows_ - 1 + cols_ - 1;
  while (!shifts_.empty() && clock_ - shifts_.front().begin >= last) shifts_.pop_front();
}

/// The shadow plane is a chain down each column. The last row of the tile enters first. A PE takes
/// part from the cycle in which the wavefront has passed it, since before that it still holds the
/// weight that is to be swapped in, and for as many cycles as rows are to go through it.
void PeArray::shift_chain(std::int64_t age, const std::int16_t* top) {
  const std::int64_t first = std::max<std::int64_t>(0, age - rows_ + 1);
  std::int16_t* const plane = shadow();
  for (std::int64_t row = std::min(rows_ - 1, age); row > 0; --row) {
    const std::int64_t end = std::min(cols_, age - row + 1);
    if (first >= end) continue;
    std::int16_t* to = plane + row * cols_;
    std::copy(to - cols_ + first, to - cols_ + end, to + first);
  }
  const std::int64_t end = std::min(cols_, age + 1);
  if (first < end) std::copy(top + first, top + end, plane + first);
}

/// Several rows per cycle overtake the wavefront, so they cannot all wait in the shadow plane:
/// they travel down beside it, with the wavefront, and each row of PEs catches its own.
void PeArray::shift_lanes(const ShiftIn& shift, std::int64_t age) {
  std::int16_t* const plane = shadow();
  for (std::int64_t row = 0; row < rows_; ++row) {
    const std::int64_t column = age - row / rows_per_cycle_ - row;
    if (column < 0 || column >= cols_) continue;
    plane[row * cols_ + column] = weight_of(*shift.tile, row, column);
  }
}

void PeArray::break_inputs() {
  faults_->strike(in_weight(), [this](std::int64_t row, std::int64_t column) -> std::int16_t& {
    return weight_[pe(row, column)];
  });
  faults_->strike(Register::shadow, [this](std::int64_t row, std::int64_t column) -> std::int16_t& {
    return shadow_[pe(row, column)];
  });
  faults_->strike(in_activation(), [this](std::int64_t row, std::int64_t column) -> std::int16_t& {
    return activation_.to_change(row, column);
  });
}

void PeArray::break_sums() {
  faults_->strike(Register::psum, [this](std::int64_t row, std::int64_t column) -> std::int32_t& {
    return psum_[psum_place(row, column)];
  });
}

std::int32_t PeArray::read(Register reg, std::int64_t row, std::int64_t column) const {
  if (reg == in_activation()) return activation_.row(row)[column];
  if (reg == in_weight()) return weight_[pe(row, column)];
  return reg == Register::shadow ? shadow_[pe(row, column)] : psum_[psum_place(row, column)];
}

void PeArray::multiply_and_add() {
  std::int32_t* const overflows = overflows_.empty() ? nullptr : overflows_.data();
  const PeRegisters registers{rows_,        cols_, activation_, weight_.data(),
                              psum_.data(), 0,     overflows};
  if (product_.empty()) {
    psum_top_ = (psum_top_ > 0 ? psum_top_ : rows_) - 1;
    std::fill_n(psum_.begin() + psum_top_ * cols_, cols_, 0);
    if (overflows != nullptr) std::fill_n(overflows + psum_top_ * cols_, cols_, 0);
    clock_array(registers, psum_top_, adders_);
    return;
  }
  std::int32_t* const control = pass_control_.data();
  for (std::int64_t age = 0; age < depth_ - 1; ++age) {
    const Entry& entry = entered(age);
    const int moving_byte = entry.pass % moving_bytes_;
    const int staying_byte = entry.pass / moving_bytes_;
    const bool takes_low_byte = staying_bytes_ == 2 && staying_byte == 0;
    control[age] = 8 * staying_byte;
    control[depth_ + age] = takes_low_byte ? 0xff : -1;
    control[2 * depth_ + age] = 8 * (moving_byte + staying_byte);
    control[3 * depth_ + age] = entry.pass == 0 ? 0 : -1;
    control[4 * depth_ + age] = entry.multiply != nullptr && entry.is_last_pass ? -1 : 0;
  }
  clock_array(registers, product_.data(), zeros_.data(), adders_,
              {control, control + depth_, control + 2 * depth_, control + 3 * depth_,
               control + 4 * depth_});
}

}  // namespace tilewave::sim::systemc
