#include "sim/isa/opcode_fields.h"

#include <limits>
#include <type_traits>

#include "base/error.h"

namespace tilewave::sim {
namespace {

constexpr Field kSetConfig[] = {
    {"register", Member::reg, FieldStyle::positional},
    {"value", Member::value, FieldStyle::positional},
};
constexpr Field kHostTransfer[] = {
    {"space", Member::space, FieldStyle::positional},
    {"host", Member::host, FieldStyle::address},
    {"ub", Member::unified_buffer, FieldStyle::address},
    {"rows", Member::rows, FieldStyle::decimal},
    {"row_bytes", Member::row_bytes, FieldStyle::decimal},
    {"host_stride", Member::stride, FieldStyle::decimal},
    {"ub_stride", Member::stride_b, FieldStyle::decimal},
};
constexpr Field kReadWeights[] = {
    {"tile", Member::value, FieldStyle::positional},
};
constexpr Field kMatmul[] = {
    {"ub", Member::unified_buffer, FieldStyle::address},
    {"acc", Member::accumulator, FieldStyle::decimal},
    {"first", Member::first, FieldStyle::decimal},
    {"rows", Member::rows, FieldStyle::decimal},
    {"k", Member::value, FieldStyle::decimal},
    {"next_tile", Member::next_tile, FieldStyle::flag},
    {"accumulate", Member::accumulate, FieldStyle::flag},
    {"keep_rows", Member::keep_rows, FieldStyle::flag},
};
constexpr Field kActivate[] = {
    {"acc", Member::accumulator, FieldStyle::decimal},
    {"rows", Member::rows, FieldStyle::decimal},
    {"ub", Member::unified_buffer, FieldStyle::address},
    {"first", Member::first, FieldStyle::decimal},
};
constexpr Field kVectorAdd[] = {
    {"a", Member::unified_buffer, FieldStyle::address},
    {"b", Member::source_b, FieldStyle::address},
    {"to", Member::destination, FieldStyle::address},
    {"rows", Member::rows, FieldStyle::decimal},
};
constexpr Field kVectorPool[] = {
    {"ub", Member::unified_buffer, FieldStyle::address},
    {"to", Member::destination, FieldStyle::address},
    {"first", Member::first, FieldStyle::decimal},
    {"rows", Member::rows, FieldStyle::decimal},
};
constexpr Field kVectorLookup[] = {
    {"ub", Member::unified_buffer, FieldStyle::address},
    {"to", Member::destination, FieldStyle::address},
    {"rows", Member::rows, FieldStyle::decimal},
    {"row_bytes", Member::row_bytes, FieldStyle::decimal},
};

// In the order of Opcode.
constexpr OpcodeInfo kOpcodeTable[kOpcodes] = {
    {"nop", {}},
    {"halt", {}},
    {"sync", {}},
    {"set_config", kSetConfig},
    {"read_host", kHostTransfer},
    {"write_host", kHostTransfer},
    {"read_weights", kReadWeights},
    {"matmul", kMatmul},
    {"activate", kActivate},
    {"vector_add", kVectorAdd},
    {"vector_pool", kVectorPool},
    {"vector_lookup", kVectorLookup},
};

// In the order of Member.
constexpr std::string_view kMemberNames[kMembers] = {
    "reg",         "space",       "next_tile",      "accumulate",
    "keep_rows",   "value",       "unified_buffer", "source_b",
    "destination", "accumulator", "first",          "rows",
    "row_bytes",   "stride",      "stride_b",       "host"};

template <typename InstructionType, typename Function>
auto with_member(InstructionType& i, Member member, Function function) {
  switch (member) {
    case Member::reg:
      return function(i.reg);
    case Member::space:
      return function(i.space);
    case Member::next_tile:
      return function(i.next_tile);
    case Member::accumulate:
      return function(i.accumulate);
    case Member::keep_rows:
      return function(i.keep_rows);
    case Member::value:
      return function(i.value);
    case Member::unified_buffer:
      return function(i.unified_buffer);
    case Member::source_b:
      return function(i.source_b);
    case Member::destination:
      return function(i.destination);
    case Member::accumulator:
      return function(i.accumulator);
    case Member::first:
      return function(i.first);
    case Member::rows:
      return function(i.rows);
    case Member::row_bytes:
      return function(i.row_bytes);
    case Member::stride:
      return function(i.stride);
    case Member::stride_b:
      return function(i.stride_b);
    case Member::host:
      break;
  }
  return function(i.host);
}

}  // namespace

const OpcodeInfo& opcode_info(Opcode opcode) {
  TILEWAVE_CHECK(static_cast<int>(opcode), <, kOpcodes, "opcode");
  return kOpcodeTable[static_cast<int>(opcode)];
}

std::uint64_t get(const Instruction& instruction, Member member) {
  return with_member(instruction, member,
                     [](const auto& field) { return static_cast<std::uint64_t>(field); });
}

void set(Instruction& instruction, Member member, std::uint64_t value) {
  TILEWAVE_CHECK(value, <=, max_value(member), member_name(member).data());
  with_member(instruction, member, [value](auto& field) {
    field = static_cast<std::remove_reference_t<decltype(field)>>(value);
  });
}

std::uint64_t max_value(Member member) {
  switch (member) {
    case Member::reg:
      return kConfigRegisters - 1;
    case Member::space:
      return kHostSpaces - 1;
    case Member::next_tile:
    case Member::accumulate:
    case Member::keep_rows:
      return 1;
    case Member::host:
      return std::numeric_limits<std::uint64_t>::max();
    default:
      return std::numeric_limits<std::uint32_t>::max();
  }
}

std::string_view member_name(Member member) {
  return kMemberNames[static_cast<int>(member)];
}

std::optional<Member> unused_member(const Instruction& instruction) {
  bool used[kMembers] = {};
  for (const Field& field : opcode_info(instruction.opcode).fields) {
    used[static_cast<int>(field.member)] = true;
  }
  for (int m = 0; m < kMembers; ++m) {
    const auto member = static_cast<Member>(m);
    if (!used[m] && get(instruction, member) != 0) return member;
  }
  return std::nullopt;
}

}  // namespace tilewave::sim
