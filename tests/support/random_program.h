#pragma once

#include <cstdint>

#include "sim/isa/program.h"

namespace tilewave::test {

/// What a random program may use of its machine.
struct RandomProgramLimits {
  std::int64_t array_rows = 33;
  std::int64_t array_cols = 17;
  std::int64_t accumulator_rows = 96;
  std::int64_t unified_buffer_bytes = 4096;
  sim::Dataflow dataflow = sim::Dataflow::weight_stationary;
  int steps = 8;
};

/// A well-formed program of random steps over all opcodes: convolutions of several tiles, with and
/// without pooling, pools, tables, additions, host transfers. Everything is written before it is
/// read, at addresses that are reused soon, so that units wait for each other in many ways.
/// The same program for the same seed and limits.
sim::Program random_program(std::uint32_t seed, const RandomProgramLimits& limits = {});

}  // namespace tilewave::test
