#pragma once

#include <cstdint>

#include "sim/registers.h"

namespace tilewave::sim::systemc {

/// An array's registers, for who looks at them between clocks.
class ArrayRegisters {
 public:
  virtual ~ArrayRegisters() = default;
  /// What the register holds after the last clock. The array must have such a register.
  virtual std::int32_t read(Register reg, std::int64_t row, std::int64_t column) const = 0;
};

}  // namespace tilewave::sim::systemc
