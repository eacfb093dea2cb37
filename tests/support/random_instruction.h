#pragma once

#include <rapidcheck.h>

#include "sim/isa/opcode_fields.h"

namespace tilewave::test {

/// Any instruction that can be encoded: every field that the opcode uses has any value.
inline sim::Instruction random_instruction() {
  sim::Instruction instruction;
  instruction.opcode = static_cast<sim::Opcode>(*rc::gen::inRange(0, sim::kOpcodes));
  for (const sim::Field& field : sim::opcode_info(instruction.opcode).fields) {
    const std::uint64_t max = sim::max_value(field.member);
    const auto any = *rc::gen::arbitrary<std::uint64_t>();
    const bool extreme = *rc::gen::inRange(0, 8) == 0;
    sim::set(instruction, field.member, extreme ? max : max + 1 == 0 ? any : any % (max + 1));
  }
  return instruction;
}

}  // namespace tilewave::test
