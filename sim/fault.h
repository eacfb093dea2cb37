#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/registers.h"

namespace tilewave::sim {

/// A bit of a register that keeps one value, whatever is written to it, in cycles [from, to).
struct StuckBit {
  std::int64_t row = 0;
  std::int64_t column = 0;
  Register reg = Register::weight;
  int bit = 0;  ///< 0 is the lowest
  bool value = false;
  Cycles from = 0;
  Cycles to = std::numeric_limits<Cycles>::max();
  bool operator==(const StuckBit&) const = default;
};

/// What is broken in the array. Timing does not depend on it, since no instruction's time depends
/// on a value.
struct FaultOptions {
  std::vector<StuckBit> stuck = {};
  /// Random flips that are expected in each cycle in which the array's clock runs: independent,
  /// each of one bit, all bits of all registers of the array being equally likely. At most
  /// kMaxFaultRate.
  double rate = 0;
  std::uint64_t seed = 0;

  bool any() const { return !stuck.empty() || rate > 0; }
};
inline constexpr double kMaxFaultRate = 100;

/// What the faults of a run did.
struct FaultCounts {
  std::int64_t forced = 0;  ///< times that a stuck bit differed from what was written
  std::int64_t flips = 0;   ///< random ones
  bool operator==(const FaultCounts&) const = default;
};

/// "matrix_unit.pe_3_7.weight bit 6 stuck-at-1 from 100 to 200"; `from` and `to` may be left out.
/// InputError that says what is allowed.
StuckBit parse_fault(const std::string& text);
/// The text that parse_fault reads.
std::string fault_text(const StuckBit& fault);

/// InputError where there is no such processing element, register or bit, where two faults hold one
/// bit at both values, or where there is no such rate.
void check_faults(const Chip& chip, const Program& program, const FaultOptions& faults);

}  // namespace tilewave::sim
