#pragma once

#include <string>

#include "sim/isa/program.h"

namespace tilewave::cli {

/// Reads and checks a binary program. InputError naming the file and what is wrong.
sim::Program read_program(const std::string& path);
void write_program(const std::string& path, const sim::Program& program);

}  // namespace tilewave::cli
