#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/isa/program.h"

namespace tilewave::sim {

/// Addresses [begin, end): bytes of the unified buffer or of the host's scratch space, or rows of
/// the accumulators.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  bool operator==(const Span&) const = default;
};

/// An instruction with its configuration looked up and its addresses worked out, as the sequencer
/// hands it to a unit. Pointers are into the Program.
struct Operation {
  std::int32_t index = 0;  ///< in Program::instructions
  std::int32_t layer = -1;
  Instruction instruction;  ///< with this launch's unified buffer addresses
  const Setup* setup = nullptr;
  const Columns* columns = nullptr;
  const Pool* pool = nullptr;
  const VectorAdd* add = nullptr;
  const Table* table = nullptr;
  const Tile* tile = nullptr;  ///< read_weights: what is read; matmul: what is in the array

  std::vector<Span> reads;   ///< of the unified buffer, in bytes
  std::vector<Span> writes;  ///< of the unified buffer, in bytes
  Span accumulators;         ///< rows written (matmul) or read (activate)
  Span host_scratch;         ///< bytes of the scratch space read or written, else empty

  /// Rows that the unit takes in, one after the other. Of a multiply, by dataflow:
  /// weight-stationary: pixels; output-stationary: the tile's rows, with an activation of each
  /// pixel; input-stationary: the tile's columns, with the weights of one channel.
  std::int64_t rows_in = 0;
  std::int64_t row_elements = 0;  ///< elements used in each of them
  bool loads_rows = false;        ///< input-stationary multiply: brings its activations along
  Bytes bytes_in = 0;             ///< read from the unified buffer
  Bytes bytes_out = 0;            ///< written to it
};

/// Both, by parity.
using DecodedLaunches = std::array<std::vector<Operation>, 2>;

/// Bytes of the host's scratch space that the instructions use.
Bytes scratch_bytes_used(const DecodedLaunches& launches);

/// A program decoded for launches of one parity (0: even, 1: odd, see Program::ping_pong).
/// The program must be valid and outlive the result.
std::vector<Operation> decode_program(const Program& program, int parity);

}  // namespace tilewave::sim
