#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/chip/chip.h"
#include "sim/isa/decoder.h"
#include "sim/systemc/array_faults.h"
#include "sim/systemc/array_registers.h"
#include "sim/systemc/pe_kernel.h"
#include "sim/systemc/skew_lines.h"

namespace tilewave::sim::systemc {

/// The array, register by register: activation, weight, shadow weight and partial sum of every
/// processing element. clock() is one cycle.
///
/// What enters at the upper left corner in one cycle reaches the PE at (row, column) row + column
/// cycles later, and the control that belongs to it travels along: a pass of a row of activations,
/// the swap of the weight planes, the weights of the next tile.
///
/// The members have their weight-stationary names. Input-stationary exchanges the operands: what is
/// shifted in and stays are activations, what moves right are weights.
class PeArray final : public ArrayRegisters {
 public:
  /// What enters in one cycle: a pass of a row, or nothing.
  struct Entry {
    const Operation* multiply = nullptr;  ///< null: nothing
    std::int64_t row = 0;                 ///< of those that enter for the multiply
    int pass = 0;
    bool is_last_pass = false;
    bool is_last_row = false;
  };

  /// Values of the first `count` lanes of an edge; the others get zeros.
  struct Values {
    const std::int16_t* values = nullptr;
    std::int64_t count = 0;
  };

  /// `faults`: may be null; else whose begin_clock() comes before each clock(). Whether the array
  /// counts its sums' overflows.
  PeArray(const Chip& chip, const Program& program, ArrayFaults* faults = nullptr,
          bool counts_overflows = false);

  /// From this cycle on the tile's rows enter at the top, into the shadow plane.
  void begin_shift_in(const Tile& tile);
  /// The entry of this cycle uses the tile in the shadow plane.
  void begin_swap();
  /// One cycle. `row`: the values of the entry's row, as wide as they are; `top`: the row of
  /// weights that enters at the top, while one tile row per cycle is shifted in.
  void clock(const Entry& entry, const std::int16_t* row, Values top);

  /// The entry whose sum left the column's last PE in the cycle that clock() did.
  const Entry& leaving(std::int64_t column) const { return entered(rows_ - 1 + column); }
  std::int32_t sum(std::int64_t column) const { return psum_[psum_place(rows_ - 1, column)]; }
  /// How many additions of sum(column) left the accumulators' width; 0 if that is not counted.
  std::int32_t overflows(std::int64_t column) const {
    return overflows_.empty() ? 0 : overflows_[psum_place(rows_ - 1, column)];
  }
  std::int32_t read(Register reg, std::int64_t row, std::int64_t column) const override;
  /// Nothing moves in the array.
  bool is_quiet() const { return rows_inside_ == 0 && shifts_.empty(); }

 private:
  struct ShiftIn {
    const Tile* tile;
    std::int64_t begin;  ///< clock in which its first row enters
  };

  /// What entered `age` clocks ago.
  const Entry& entered(std::int64_t age) const {
    const std::int64_t slot = newest_ - age;
    return entries_[static_cast<std::size_t>(slot < 0 ? slot + depth_ : slot)];
  }
  std::size_t psum_place(std::int64_t row, std::int64_t column) const {
    const std::int64_t place = psum_top_ + row;
    return static_cast<std::size_t>((place < rows_ ? place : place - rows_) * cols_ + column);
  }
  std::int16_t weight_of(const Tile& tile, std::int64_t row, std::int64_t column) const;
  void enter(const Entry& entry, const std::int16_t* row);
  void swap_planes();
  void shift_in_weights(Values top);
  void shift_chain(std::int64_t age, const std::int16_t* top);
  void shift_lanes(const ShiftIn& shift, std::int64_t age);
  void break_inputs();
  void multiply_and_add();
  void break_sums();
  std::size_t pe(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * cols_ + column);
  }
  /// What the members that have these names hold.
  Register in_activation() const { return holds_inputs_ ? Register::weight : Register::activation; }
  Register in_weight() const { return holds_inputs_ ? Register::activation : Register::weight; }
  std::int16_t* shadow() { return double_buffered_ ? shadow_.data() : weight_.data(); }

  const Program& program_;
  std::int64_t rows_, cols_;
  std::int64_t rows_per_cycle_;  ///< of weights
  bool double_buffered_;
  bool holds_inputs_;                 ///< input-stationary
  int moving_bytes_, staying_bytes_;  ///< of an operand
  Adders adders_;
  ArrayFaults* faults_;

  ActivationLines activation_;
  std::vector<std::int16_t> weight_, shadow_;
  std::vector<std::int32_t> psum_, product_;
  std::vector<std::int32_t> overflows_;  ///< of each sum, where it lies; empty if not counted
  std::int64_t psum_top_ = 0;  ///< row of psum_ in which the sums of the first row of PEs are
  std::vector<std::int32_t> zeros_;

  std::int64_t clock_ = 0;
  std::int64_t depth_;          ///< clocks from the first PE to behind the last
  std::vector<Entry> entries_;  ///< ring of depth_ clocks
  std::int64_t newest_ = 0;     ///< place of this clock's entry
  SkewLines left_, top_;
  std::int64_t rows_inside_ = 0;
  std::deque<std::int64_t> swaps_;  ///< clocks in which the swaps on their way entered
  std::deque<ShiftIn> shifts_;
  std::vector<std::int32_t> pass_control_;  ///< of PassControl, [5][depth_]
};

}  // namespace tilewave::sim::systemc
