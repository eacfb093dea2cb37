#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/chip/chip.h"
#include "sim/isa/decoder.h"
#include "sim/systemc/array_faults.h"
#include "sim/systemc/array_registers.h"
#include "sim/systemc/os_kernel.h"
#include "sim/systemc/skew_lines.h"

namespace tilewave::sim::systemc {

/// The output-stationary array, register by register: every processing element keeps the sum of
/// one pixel (its row) and one channel (its column), while activations pass it to the right and
/// weights down. clock() is one cycle.
///
/// What enters at the two edges in one cycle meets in the PE at (row, column) row + column cycles
/// later. When a column's bottom PE has added its last product, the column's sums move down one PE
/// per cycle and out: in a second register of each PE with double buffering, else in the one that
/// the sums are formed in.
class OsArray final : public ArrayRegisters {
 public:
  /// What enters in one cycle: a pass of a step (one row of the tile), or nothing.
  struct Entry {
    const Operation* multiply = nullptr;  ///< null: nothing
    int pass = 0;
    bool is_last_pass = false;
    bool is_first_step = false;  ///< of the multiply
    bool is_last_step = false;
  };

  /// `faults`: may be null; else whose begin_clock() comes before each clock(). Whether the array
  /// counts its sums' overflows.
  explicit OsArray(const Chip& chip, ArrayFaults* faults = nullptr, bool counts_overflows = false);

  /// One cycle. The entry's activations, one per pixel of its multiply, and weights, one per
  /// column of its tile; as wide as they are.
  void clock(const Entry& entry, const std::int16_t* activations, const std::int16_t* weights);

  /// fn(multiply, row, column, sum) for the sums that left the array in the cycle that clock() did.
  template <typename Fn>
  void for_each_leaving(Fn fn) const;
  /// fn(multiply, row, column, overflows) for the sums that had their last product added in the
  /// cycle that clock() did: how many additions left the accumulators' width. Not if that is not
  /// counted.
  template <typename Fn>
  void for_each_overflows(Fn fn) const;
  std::int32_t read(Register reg, std::int64_t row, std::int64_t column) const override;
  /// Nothing moves in the array.
  bool is_quiet() const { return multiplies_inside_ == 0; }

 private:
  /// The sums of a multiply on their way out. Column c takes part in the steps 0 to rows - 1 from
  /// clock begin + c on.
  struct Drain {
    const Operation* multiply;
    std::int64_t begin;
  };
  /// First and last column of which a PE `rows` rows above the column's exit, counting it, takes
  /// part in a drain of that age.
  struct Columns {
    std::int64_t first, end;
  };
  Columns moving(std::int64_t age, std::int64_t rows) const {
    return {std::max<std::int64_t>(0, age - rows + 1), std::min(cols_, age + 1)};
  }

  const Entry& entered(std::int64_t age) const {
    const std::int64_t slot = newest_ - age;
    return entries_[static_cast<std::size_t>(slot < 0 ? slot + depth_ : slot)];
  }
  void enter(const Entry& entry, const std::int16_t* activations, const std::int16_t* weights);
  void move_sums_down();
  void start_sums();
  void move_operands();
  void break_operands();
  void multiply_and_add();
  template <typename Plane>
  void break_plane(Register reg, Plane& plane, std::int64_t top);
  /// Where a plane whose first row of PEs is at `top` has the PE's register.
  std::size_t place(std::int64_t row, std::int64_t column, std::int64_t top) const {
    const std::int64_t at = top + row;
    return static_cast<std::size_t>((at < rows_ ? at : at - rows_) * cols_ + column);
  }
  void keep_sums();
  template <typename Fn>
  void for_each_pe(const std::deque<std::int64_t>& wavefronts, Fn fn) const;
  std::vector<std::int32_t>& drained() { return double_buffered_ ? drain_ : psum_; }

  std::int64_t rows_, cols_;
  bool double_buffered_;
  int activation_bytes_, weight_bytes_;
  Adders adders_;
  ArrayFaults* faults_;

  ActivationLines activation_;
  std::vector<std::int16_t> weight_;
  std::int64_t weight_top_ = 0;  ///< row of weight_ in which the first row of PEs has its own
  std::vector<std::int32_t> psum_, product_, drain_;
  std::vector<std::int32_t> overflows_;  ///< of each PE's sum; empty if not counted

  std::int64_t clock_ = 0;
  std::int64_t depth_;          ///< clocks from the first PE to the last
  std::vector<Entry> entries_;  ///< ring of depth_ clocks
  std::int64_t newest_ = 0;     ///< place of this clock's entry
  SkewLines left_, top_;
  std::int64_t multiplies_inside_ = 0;
  std::deque<std::int64_t> first_products_,
      last_products_;  ///< wavefronts, by the clock they entered
  std::deque<Drain> drains_;
  std::vector<std::int32_t> leaving_;       ///< by column
  std::vector<std::int32_t> pass_control_;  ///< of OsPassControl, [3][depth_]
};

template <typename Fn>
void OsArray::for_each_leaving(Fn fn) const {
  for (const Drain& drain : drains_) {
    const std::int64_t age = clock_ - drain.begin;
    const Columns columns = moving(age, rows_);
    for (std::int64_t column = columns.first; column < columns.end; ++column) {
      fn(*drain.multiply, rows_ - 1 - (age - column), column,
         leaving_[static_cast<std::size_t>(column)]);
    }
  }
}

template <typename Fn>
void OsArray::for_each_overflows(Fn fn) const {
  if (overflows_.empty()) return;
  for (const Drain& drain : drains_) {
    const std::int64_t age = clock_ - (drain.begin - rows_);  // since its last product entered
    for (std::int64_t row = std::max<std::int64_t>(0, age - cols_ + 1);
         row <= std::min(rows_ - 1, age); ++row) {
      fn(*drain.multiply, row, age - row, overflows_[place(row, age - row, 0)]);
    }
  }
}

}  // namespace tilewave::sim::systemc
