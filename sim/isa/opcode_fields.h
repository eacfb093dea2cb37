#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sim/isa/instruction.h"

// The one table that says which fields an opcode uses and how they are called in assembly text.
// Encoding, validation, assembler and disassembler all read it.

namespace tilewave::sim {

/// The fields of Instruction besides the opcode.
enum class Member : std::uint8_t {
  reg,
  space,
  next_tile,
  accumulate,
  keep_rows,
  value,
  unified_buffer,
  source_b,
  destination,
  accumulator,
  first,
  rows,
  row_bytes,
  stride,
  stride_b,
  host,
};
inline constexpr int kMembers = 16;

/// How a field is written: as a word or number in its place, as key=number, key=0xnumber, or as a
/// key alone that stands for true.
enum class FieldStyle : std::uint8_t { positional, decimal, address, flag };

struct Field {
  std::string_view name;  ///< in assembly text and in messages
  Member member;
  FieldStyle style;
};

struct OpcodeInfo {
  std::string_view mnemonic;
  std::span<const Field> fields;  ///< in the order in which they are written; positional first
};

/// `opcode` must be a valid one.
const OpcodeInfo& opcode_info(Opcode opcode);

std::uint64_t get(const Instruction& instruction, Member member);
/// `value` must be within max_value.
void set(Instruction& instruction, Member member, std::uint64_t value);
/// The largest value that the member holds.
std::uint64_t max_value(Member member);
/// Name of a member, for messages about an opcode that does not use it.
std::string_view member_name(Member member);
/// The first member that is not zero although the opcode does not use it.
std::optional<Member> unused_member(const Instruction& instruction);

inline constexpr std::string_view kRegisterNames[kConfigRegisters] = {"layer", "setup", "columns",
                                                                      "pool",  "add",   "table"};
inline constexpr int kHostSpaces = 3;
inline constexpr std::string_view kSpaceNames[kHostSpaces] = {"input", "output", "scratch"};

}  // namespace tilewave::sim
