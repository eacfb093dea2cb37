#pragma once

#include <stdexcept>
#include <string>

#include "sim/engine.h"
#include "sim/isa/program.h"
#include "tests/support/hand_program.h"

// Programs in assembly text around one small product, and where in time their parts lie.

namespace tilewave::test {

inline constexpr Cycles kRows = 4;    ///< of the array, and values in a row of activations
inline constexpr Cycles kCols = 5;    ///< of the array
inline constexpr Cycles kPixels = 8;  ///< rows of activations of one image

/// From the cycle in which a row's last pass enters to the one in which its sums can be used.
inline constexpr Cycles kTravel = kRows + kCols - 1;

/// A cycle is 1 ns and 10^9 bytes per second are a byte per cycle. Nothing takes time but the
/// array, one cycle per row, and host transfers, one cycle each.
inline sim::Chip nanosecond_chip() {
  sim::Chip chip = frictionless_chip(kRows, kCols);
  chip.clock_mhz = 1000;
  return chip;
}

// Instructions that most programs here need. The input (32 bytes) lies from address 0 on, what is
// made of it (5 bytes per pixel) from 0x100 on.
inline const std::string kReadInput = "read_host input, host=0 ub=0 rows=1 row_bytes=32\n";
inline const std::string kWriteOutput = "write_host output, host=0 ub=0x100 rows=1 row_bytes=40\n";
inline const std::string kFirstTile = "read_weights 0\nmatmul rows=8 next_tile\n";
inline const std::string kActivate = "activate rows=8 ub=0x100\n";

/// `body` between the tables and halt. Setup 0 reads the input, setup 1 what was made of it; tile
/// 0 fills the array, tile 1 is 2 x 3.
inline sim::Program assemble_body(const std::string& body, const std::string& program_keys = "") {
  return sim::assemble(".program name=\"timing\" " + program_keys +
                           "\n"
                           ".input shape=8x1x4\n"
                           ".output shape=8x1x5\n"
                           ".layer 0 name=\"product\" operation=\"Gemm\"\n"
                           ".layer 1 name=\"second\" operation=\"Gemm\"\n"
                           ".setup 0 source=8x1x4 output=8x1x5 channel_count=4\n"
                           ".setup 1 source=8x1x5 output=8x1x5 channel_count=4\n"
                           ".columns 0 bias=[0,0,0,0,0] multiplier=[1,1,1,1,1]\n"
                           ".pool 0 kernel=2x1 stride=2x1 input=8x1x5 output=4x1x5\n"
                           ".add 0 width=5 a_stride=5 b_stride=5 to_stride=5 left_shift=10\n"
                           ".tile 0 weights=[[1,1,1,1,1],[1,1,1,1,1],[1,1,1,1,1],[1,1,1,1,1]]\n"
                           ".tile 1 weights=[[1,1,1],[1,1,1]]\n"
                           "set_config layer, 0\n"
                           "set_config setup, 0\n"
                           "set_config columns, 0\n" +
                           body + "halt\n",
                       "timing");
}
/// Instructions before the first of the body.
inline constexpr Cycles kPreamble = 3;

struct TracedRun {
  sim::RunResult result;

  /// The unit's occupation by its instruction number `n`, over all launches.
  const sim::Slice& at(sim::Unit unit, std::size_t n = 0) const {
    for (const sim::Slice& slice : result.trace) {
      if (slice.unit == unit && n-- == 0) return slice;
    }
    throw std::out_of_range("no such slice");
  }
};

inline TracedRun trace(const sim::Chip& chip, const sim::Program& program,
                       std::int64_t launches = 1) {
  sim::RunOptions options;
  options.trace = true;
  return {sim::make_timeline()->time(chip, program, launches, options)};
}
inline TracedRun trace(const sim::Chip& chip, const std::string& body) {
  return trace(chip, assemble_body(body));
}

/// `text` `count` times.
inline std::string repeat(std::int64_t count, const std::string& text) {
  std::string all;
  for (std::int64_t i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace tilewave::test
