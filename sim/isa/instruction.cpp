#include "sim/isa/instruction.h"

#include "base/error.h"
#include "sim/isa/opcode_fields.h"

namespace tilewave::sim {
namespace {

// The layout (docs/isa.md): byte 0 opcode, byte 3 flags, and these; 44 to 47 are reserved.
struct Place {
  Member member;
  std::size_t offset;
  std::size_t bytes;
};
constexpr Place kPlaces[] = {
    {Member::reg, 1, 1},          {Member::space, 2, 1},
    {Member::value, 4, 4},        {Member::unified_buffer, 8, 4},
    {Member::source_b, 12, 4},    {Member::destination, 16, 4},
    {Member::accumulator, 20, 4}, {Member::first, 24, 4},
    {Member::rows, 28, 4},        {Member::row_bytes, 32, 4},
    {Member::stride, 36, 4},      {Member::stride_b, 40, 4},
    {Member::host, 48, 8},
};
constexpr std::size_t kFlags = 3;
struct Flag {
  Member member;
  std::uint8_t bit;
};
constexpr Flag kFlagBits[] = {
    {Member::next_tile, 1}, {Member::accumulate, 2}, {Member::keep_rows, 4}};
constexpr std::uint8_t kAllFlags = 7;
constexpr std::size_t kReserved = 44;
constexpr std::size_t kReservedEnd = 48;

}  // namespace

EncodedInstruction encode(const Instruction& instruction) {
  TILEWAVE_CHECK(unused_member(instruction).has_value(), ==, false,
                 "an instruction with a field that its opcode does not use");
  EncodedInstruction bytes{};
  bytes[0] = static_cast<std::uint8_t>(instruction.opcode);
  for (const Flag& flag : kFlagBits) {
    if (get(instruction, flag.member) != 0) bytes[kFlags] |= flag.bit;
  }
  for (const Place& place : kPlaces) {
    const std::uint64_t value = get(instruction, place.member);
    for (std::size_t i = 0; i < place.bytes; ++i) {
      bytes[place.offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
  }
  return bytes;
}

Instruction decode(const EncodedInstruction& bytes, const std::string& where) {
  if (bytes[0] >= kOpcodes) {
    throw InputError(where, "opcode " + std::to_string(bytes[0]) + " is unknown",
                     "0 to " + std::to_string(kOpcodes - 1));
  }
  Instruction instruction;
  instruction.opcode = static_cast<Opcode>(bytes[0]);
  if (bytes[kFlags] > kAllFlags) {
    throw InputError(where, "unknown flags " + std::to_string(bytes[kFlags]),
                     "0 to " + std::to_string(kAllFlags));
  }
  for (const Flag& flag : kFlagBits) {
    set(instruction, flag.member, (bytes[kFlags] & flag.bit) == 0 ? 0 : 1);
  }
  for (const Place& place : kPlaces) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < place.bytes; ++i) {
      value |= static_cast<std::uint64_t>(bytes[place.offset + i]) << (8 * i);
    }
    if (value > max_value(place.member)) {
      throw InputError(
          where,
          std::string(member_name(place.member)) + " " + std::to_string(value) + " is unknown",
          "0 to " + std::to_string(max_value(place.member)));
    }
    set(instruction, place.member, value);
  }
  for (std::size_t i = kReserved; i < kReservedEnd; ++i) {
    if (bytes[i] != 0) throw InputError(where, "reserved bytes are not zero");
  }
  if (const auto member = unused_member(instruction)) {
    throw InputError(where, mnemonic(instruction.opcode) + " does not use " +
                                std::string(member_name(*member)) + ", which is not zero");
  }
  return instruction;
}

std::string mnemonic(Opcode opcode) {
  return std::string(opcode_info(opcode).mnemonic);
}

}  // namespace tilewave::sim
