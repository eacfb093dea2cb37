#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "sim/fault.h"

namespace tilewave::sim::systemc {

/// Breaks an array's registers, as told: stuck bits and random flips. The array asks it to strike,
/// in every clock, each kind of register when that has its new value and before that is used.
class ArrayFaults {
 public:
  /// The options must fit chip and program, see check_faults.
  ArrayFaults(const Chip& chip, const Program& program, const FaultOptions& options);

  /// A clock begins, in `cycle`.
  void begin_clock(Cycles cycle);
  /// `at(row, column)`: a reference to the place from which the register of that processing element
  /// is read next.
  template <typename At>
  void strike(Register reg, At at) {
    const auto kind = static_cast<std::size_t>(reg);
    const RegisterFormat& format = formats_[kind];
    for (const Flip& flip : flips_[kind]) {
      auto& value = at(flip.row, flip.column);
      write(value, format.with_bit(value, flip.bit, !format.bit_of(value, flip.bit)));
      ++counts_.flips;
    }
    for (const StuckBit& fault : stuck_[kind]) {
      if (cycle_ < fault.from || cycle_ >= fault.to) continue;
      auto& value = at(fault.row, fault.column);
      if (format.bit_of(value, fault.bit) == fault.value) continue;
      write(value, format.with_bit(value, fault.bit, fault.value));
      ++counts_.forced;
    }
  }
  const FaultCounts& counts() const { return counts_; }

 private:
  struct Flip {
    std::int64_t row, column;
    int bit;
  };
  template <typename T>
  static void write(T& to, std::int32_t value) {
    to = static_cast<T>(value);
  }
  void draw_next();
  void draw_place();
  double random_unit();

  std::array<RegisterFormat, kRegisters> formats_;
  std::array<std::vector<StuckBit>, kRegisters> stuck_;
  std::array<std::vector<Flip>, kRegisters> flips_;  ///< of this clock
  std::int64_t cols_;
  std::int64_t array_bits_ = 0;  ///< of all registers of all processing elements
  int bits_per_pe_ = 0;
  double rate_;
  double to_next_flip_ = 0;  ///< clocks from now
  std::mt19937_64 random_;
  Cycles cycle_ = 0;
  FaultCounts counts_;
};

}  // namespace tilewave::sim::systemc
