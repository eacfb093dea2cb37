#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/chip/chip.h"
#include "sim/isa/program.h"

namespace tilewave::sim {

/// The registers of a processing element.
enum class Register : std::uint8_t {
  activation,
  weight,
  shadow,  ///< what comes next into the register of the operand that stays
  psum,
  drain  ///< the second one of a sum that stays while it is formed (output-stationary)
};
inline constexpr int kRegisters = 5;

/// Names in the order of the enumeration.
const std::vector<std::string>& register_names();

/// An integer as a register holds it.
struct RegisterFormat {
  int bits = 0;  ///< 0: the array has no such register
  bool is_signed = true;

  /// What the register holds if the low `bits` bits of `value` are written to it.
  std::int32_t held(std::int64_t value) const;
  std::int32_t with_bit(std::int32_t value, int bit, bool is_set) const;
  bool bit_of(std::int32_t value, int bit) const { return ((value >> bit) & 1) != 0; }
};

/// Of the array's registers. An operand of more than 8 bits that moves through the array does so a
/// byte at a time, and then the register holds a byte and its sign: 9 bits.
RegisterFormat register_format(const Chip& chip, const Program& program, Register reg);

}  // namespace tilewave::sim
