#include "sim/isa/place.h"

namespace tilewave::sim {

std::string place_of(const Program& program, const Operation& op) {
  return program.name + ": instruction " + std::to_string(op.index) + " (" +
         mnemonic(op.instruction.opcode) + ")";
}

}  // namespace tilewave::sim
