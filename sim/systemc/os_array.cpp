#include "sim/systemc/os_array.h"

#include "base/error.h"

namespace tilewave::sim::systemc {

OsArray::OsArray(const Chip& chip, ArrayFaults* faults, bool counts_overflows)
    : rows_(chip.array.rows),
      cols_(chip.array.cols),
      double_buffered_(chip.array.double_buffered_weights),
      activation_bytes_(chip.activation_bytes()),
      weight_bytes_(chip.weight_bytes()),
      adders_{chip.precision.accumulator_bits, chip.precision.overflow == Overflow::saturate},
      faults_(faults),
      activation_(rows_, cols_),
      depth_(rows_ + cols_ - 1),
      entries_(static_cast<std::size_t>(depth_)),
      left_(rows_),
      top_(cols_),
      leaving_(static_cast<std::size_t>(cols_)) {
  const auto size = static_cast<std::size_t>(rows_ * cols_);
  weight_.resize(size);
  psum_.resize(size);
  if (counts_overflows) overflows_.resize(size);
  if (double_buffered_) drain_.resize(size);
  if (chip.passes() == 1) return;
  product_.resize(size);
  pass_control_.resize(static_cast<std::size_t>(3 * depth_));
}

void OsArray::clock(const Entry& entry, const std::int16_t* activations,
                    const std::int16_t* weights) {
  ++clock_;
  move_sums_down();
  enter(entry, activations, weights);
  start_sums();
  move_operands();
  if (faults_ != nullptr) break_operands();
  multiply_and_add();
  if (faults_ != nullptr) break_plane(Register::psum, psum_, 0);
  keep_sums();
  if (faults_ != nullptr) break_plane(Register::drain, drain_, 0);
}

std::int32_t OsArray::read(Register reg, std::int64_t row, std::int64_t column) const {
  switch (reg) {
    case Register::activation:
      return activation_.row(row)[column];
    case Register::weight:
      return weight_[place(row, column, weight_top_)];
    case Register::drain:
      return drain_[place(row, column, 0)];
    default:
      return psum_[place(row, column, 0)];
  }
}

/// The bottom PE's sum leaves. The PE in row r lets r sums of the rows above it through.
void OsArray::move_sums_down() {
  const auto is_out = [&](const Drain& drain) {
    return clock_ - drain.begin > rows_ - 1 + cols_ - 1;
  };
  for (; !drains_.empty() && is_out(drains_.front()); drains_.pop_front()) --multiplies_inside_;
  std::int32_t* const sums = drained().data();
  for (const Drain& drain : drains_) {
    const std::int64_t age = clock_ - drain.begin;
    const Columns leaving = moving(age, rows_);
    const std::int32_t* const bottom = sums + (rows_ - 1) * cols_;
    for (std::int64_t column = leaving.first; column < leaving.end; ++column) {
      leaving_[static_cast<std::size_t>(column)] = bottom[column];
    }
    for (std::int64_t row = rows_ - 1; row > 0; --row) {
      const Columns columns = moving(age, row);
      if (columns.first >= columns.end) continue;
      std::int32_t* const to = sums + row * cols_;
      std::copy(to - cols_ + columns.first, to - cols_ + columns.end, to + columns.first);
    }
  }
}

void OsArray::enter(const Entry& entry, const std::int16_t* activations,
                    const std::int16_t* weights) {
  newest_ = newest_ + 1 < depth_ ? newest_ + 1 : 0;
  entries_[static_cast<std::size_t>(newest_)] = entry;
  std::int16_t* const left = left_.enter();
  std::int16_t* const top = top_.enter();
  if (entry.multiply == nullptr) return;
  const int activation_byte = activation_bytes_ == 2 ? entry.pass % 2 : kWhole;
  const int weight_byte = weight_bytes_ == 2 ? entry.pass / activation_bytes_ : kWhole;
  for (std::int64_t i = 0; i < entry.multiply->instruction.rows; ++i) {
    left[i] = part_of(activations[i], activation_byte);
  }
  for (std::int64_t i = 0; i < entry.multiply->tile->cols; ++i) {
    top[i] = part_of(weights[i], weight_byte);
  }
  if (entry.is_first_step && entry.pass == 0) {
    const bool is_free = double_buffered_ || multiplies_inside_ == 0;
    TILEWAVE_CHECK(is_free, ==, true, "sums still move through the registers of the next ones");
    ++multiplies_inside_;
  }
  if (!entry.is_last_pass) return;
  if (entry.is_first_step) first_products_.push_back(clock_);
  if (!entry.is_last_step) return;
  TILEWAVE_CHECK(drains_.empty() || drains_.back().begin <= clock_, ==, true,
                 "sums still move through the second registers of the next ones");
  last_products_.push_back(clock_);
  drains_.push_back({entry.multiply, clock_ + rows_});
}

/// fn(PE) for those that a wavefront is at in this clock.
template <typename Fn>
void OsArray::for_each_pe(const std::deque<std::int64_t>& wavefronts, Fn fn) const {
  for (const std::int64_t begin : wavefronts) {
    const std::int64_t age = clock_ - begin;
    const std::int64_t last = std::min(rows_ - 1, age);
    for (std::int64_t row = std::max<std::int64_t>(0, age - cols_ + 1); row <= last; ++row) {
      fn(static_cast<std::size_t>(row * cols_ + age - row));
    }
  }
}

void OsArray::start_sums() {
  for_each_pe(first_products_, [this](std::size_t pe) {
    psum_[pe] = 0;
    if (!overflows_.empty()) overflows_[pe] = 0;
  });
  while (!first_products_.empty() && clock_ - first_products_.front() >= depth_ - 1) {
    first_products_.pop_front();
  }
}

void OsArray::keep_sums() {
  if (double_buffered_) {
    for_each_pe(last_products_, [this](std::size_t pe) { drain_[pe] = psum_[pe]; });
  }
  while (!last_products_.empty() && clock_ - last_products_.front() >= depth_ - 1) {
    last_products_.pop_front();
  }
}

void OsArray::move_operands() {
  activation_.clock(left_.leave());
  weight_top_ = (weight_top_ > 0 ? weight_top_ : rows_) - 1;
  std::copy_n(top_.leave(), cols_, weight_.begin() + weight_top_ * cols_);
}

template <typename Plane>
void OsArray::break_plane(Register reg, Plane& plane, std::int64_t top) {
  faults_->strike(
      reg, [&](std::int64_t row, std::int64_t column) -> auto& {
        return plane[place(row, column, top)];
      });
}

void OsArray::break_operands() {
  faults_->strike(Register::activation,
                  [this](std::int64_t row, std::int64_t column) -> std::int16_t& {
                    return activation_.to_change(row, column);
                  });
  break_plane(Register::weight, weight_, weight_top_);
}

void OsArray::multiply_and_add() {
  const PeRegisters registers{rows_,
                              cols_,
                              activation_,
                              weight_.data(),
                              psum_.data(),
                              weight_top_,
                              overflows_.empty() ? nullptr : overflows_.data()};
  if (product_.empty()) {
    clock_array(registers, 0, adders_);
    return;
  }
  std::int32_t* const control = pass_control_.data();
  for (std::int64_t age = 0; age < depth_; ++age) {
    const Entry& entry = entered(age);
    const int activation_byte = entry.pass % activation_bytes_;
    const int weight_byte = entry.pass / activation_bytes_;
    control[age] = 8 * (activation_byte + weight_byte);
    control[depth_ + age] = entry.pass == 0 ? 0 : -1;
    control[2 * depth_ + age] = entry.multiply != nullptr && entry.is_last_pass ? -1 : 0;
  }
  clock_os_array(registers, product_.data(), adders_,
                 {control, control + depth_, control + 2 * depth_});
}

}  // namespace tilewave::sim::systemc
