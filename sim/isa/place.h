#pragma once

#include <string>

#include "sim/isa/decoder.h"

namespace tilewave::sim {

/// "program: instruction 12 (matmul)": where an error in a program is.
std::string place_of(const Program& program, const Operation& op);

}  // namespace tilewave::sim
