#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/isa/decoder.h"

namespace tilewave::sim::systemc {

/// One instruction of one launch, decoded. `sequence` numbers them over all launches, in program
/// order.
struct Work {
  std::int64_t sequence = 0;
  std::int32_t launch = 0;
  const Operation* operation = nullptr;
};

/// All launches of a program as one stream of instructions.
class InstructionStream {
 public:
  /// `program` must be valid and outlive this.
  InstructionStream(const Program& program, std::int64_t launches);

  std::int64_t size() const { return launches_ * length_; }
  /// Launches that are over when everything before `sequence` is.
  std::int64_t launches_before(std::int64_t sequence) const { return sequence / length_; }
  Work at(std::int64_t sequence) const;
  /// Where the number-th multiply stands; nothing if there are fewer.
  std::optional<std::int64_t> multiply(std::int64_t number) const;
  /// Of the program's last instruction; -1 if it belongs to none.
  std::int32_t last_layer() const { return operations_[0].back().layer; }
  /// The last SYNC before `sequence`; -1 if there is none.
  std::int64_t sync_before(std::int64_t sequence) const;

 private:
  std::int64_t launches_;
  std::int64_t length_;
  DecodedLaunches operations_;
  std::vector<std::int64_t> multiplies_;  ///< places within a launch
  std::vector<std::int64_t> syncs_;
};

}  // namespace tilewave::sim::systemc
