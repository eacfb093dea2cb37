#pragma once

#include <optional>

#include "quant/scheme.h"
#include "sim/chip/chip.h"
#include "sim/isa/program.h"

namespace tilewave::python {

/// A program with the chip that it is for, and how its network was quantized if that is known.
struct Compiled {
  sim::Program program;
  sim::Chip chip;
  std::optional<quant::Scheme> scheme;
};

}  // namespace tilewave::python
