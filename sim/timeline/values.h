#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "sim/chip/chip.h"
#include "sim/isa/program.h"

namespace tilewave::sim {

/// What every launch of a program needs for its values: decoded instructions, packed weights, the
/// runs of the data setup. Made once, then shared by all threads.
struct PreparedProgram;
std::shared_ptr<const PreparedProgram> prepare_values(const Chip& chip, const Program& program);

/// Executes launches of a program, instruction by instruction, for its values alone: memories and
/// arithmetic, no cycles. One per thread; launches do not depend on one another.
class ValueMachine {
 public:
  virtual ~ValueMachine() = default;
  /// `inputs`: [batch][height][width][channels] of the input; `outputs`: likewise of the output.
  /// Throws InputError where the program reads accumulator columns that nothing wrote, and Stopped.
  virtual void launch(int parity, const std::int16_t* inputs, std::int16_t* outputs,
                      const std::stop_token& stop) = 0;
  /// Of all launches until now, as RunResult::overflows.
  virtual const std::vector<std::int64_t>& overflows() const = 0;
};

/// `prepared` and what it was made from must outlive the result.
std::unique_ptr<ValueMachine> make_value_machine(std::shared_ptr<const PreparedProgram> prepared);

}  // namespace tilewave::sim
