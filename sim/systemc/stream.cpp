#include "sim/systemc/stream.h"

#include <algorithm>

namespace tilewave::sim::systemc {

InstructionStream::InstructionStream(const Program& program, std::int64_t launches)
    : launches_(launches),
      length_(static_cast<std::int64_t>(program.instructions.size())),
      operations_{decode_program(program, 0), decode_program(program, 1)} {
  for (const Operation& op : operations_[0]) {
    if (op.instruction.opcode == Opcode::matmul) multiplies_.push_back(op.index);
    if (op.instruction.opcode == Opcode::sync) syncs_.push_back(op.index);
  }
}

Work InstructionStream::at(std::int64_t sequence) const {
  const std::int64_t launch = sequence / length_;
  return {sequence, static_cast<std::int32_t>(launch),
          &operations_[static_cast<std::size_t>(launch % 2)]
                      [static_cast<std::size_t>(sequence % length_)]};
}

std::optional<std::int64_t> InstructionStream::multiply(std::int64_t number) const {
  const auto per_launch = static_cast<std::int64_t>(multiplies_.size());
  if (number >= per_launch * launches_) return std::nullopt;
  return number / per_launch * length_ + multiplies_[static_cast<std::size_t>(number % per_launch)];
}

std::int64_t InstructionStream::sync_before(std::int64_t sequence) const {
  if (syncs_.empty()) return -1;
  const std::int64_t launch_begin = sequence / length_ * length_;
  const auto next = std::lower_bound(syncs_.begin(), syncs_.end(), sequence - launch_begin);
  if (next != syncs_.begin()) return launch_begin + *(next - 1);
  return launch_begin == 0 ? -1 : launch_begin - length_ + syncs_.back();
}

}  // namespace tilewave::sim::systemc
