#pragma once

#include <cstdint>

#include "sim/chip/chip.h"
#include "sim/isa/program.h"

// Programs written by hand for timing tests, and chips on which nothing but the part under test
// takes time.

namespace tilewave::test {

/// No host time, no issue time, no activation pipeline, unlimited bandwidths, zero latencies, ports
/// and accumulators as large as anything here needs; `rows` x `cols` array, FIFO of 4 tiles.
sim::Chip frictionless_chip(std::int64_t rows, std::int64_t cols);

/// One launch: reads an image of batch x `k` values from the host, then multiplies its `batch`
/// rows by `tiles` full tiles, all into the same accumulator entries, then activates them and
/// writes the result to the host.
sim::Program tile_chain(std::int64_t rows, std::int64_t cols, std::int64_t batch,
                        std::int64_t tiles);

}  // namespace tilewave::test
