#pragma once

#include "sim/chip/chip.h"
#include "sim/isa/decoder.h"
#include "sim/isa/program.h"

namespace tilewave::sim {

/// Throws InputError unless the chip has the dataflow and the number formats that the program was
/// made for and holds every address, tile and column that it uses. Every engine calls this first.
void check_fits(const Chip& chip, const Program& program);
/// The same for one who has decoded the program already.
void check_fits(const Chip& chip, const Program& program, const DecodedLaunches& launches);

}  // namespace tilewave::sim
