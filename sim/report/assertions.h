#pragma once

#include <cstdint>

#include "sim/engine.h"

namespace tilewave::sim {

/// What holds for every run of any well-formed program (docs/timing.md, "What every run asserts").
/// Throws InternalError naming the broken rule and both sides of it.
void check_run(const Chip& chip, const Program& program, const RunResult& result,
               std::int64_t launches);

/// What holds beside it for the run of a program that the compiler made, whose table of layers is
/// therefore the network's: the work done is the network's, no tensor moved less than once.
void check_network_run(const Chip& chip, const Program& program, const RunResult& result,
                       std::int64_t launches);

}  // namespace tilewave::sim
