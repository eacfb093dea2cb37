#include "sim/isa/fits.h"

#include <algorithm>

#include "base/error.h"
#include "sim/isa/decoder.h"

namespace tilewave::sim {
namespace {

void check_limit(const std::string& where, const std::string& what, std::int64_t value,
                 const std::string& key, std::int64_t limit) {
  if (value <= limit) return;
  throw InputError(where, what + " " + std::to_string(value) + " is more than the chip has",
                   key + " allows " + std::to_string(limit));
}

void check_operation(const Chip& chip, const Program& program, const Operation& op) {
  const std::string where = program.name + ": instruction " + std::to_string(op.index) + " (" +
                            mnemonic(op.instruction.opcode) + ")";
  for (const auto* spans : {&op.reads, &op.writes}) {
    for (const Span& span : *spans) {
      check_limit(where, "unified buffer address", span.end, "unified_buffer.capacity_kib",
                  chip.unified_buffer.capacity_kib * 1024);
    }
  }
  check_limit(where, "accumulator row", op.accumulators.end, "accumulators.depth",
              chip.accumulators.depth);
  if (op.tile != nullptr) {
    check_limit(where, "tile height", op.tile->rows, "array.rows", chip.array.rows);
    check_limit(where, "tile width", op.tile->cols, "array.cols", chip.array.cols);
  }
  if (op.columns != nullptr) {
    check_limit(where, "number of columns", static_cast<std::int64_t>(op.columns->bias.size()),
                "array.cols", chip.array.cols);
  }
}

void check_bits(const Program& program, const std::string& what, int program_bits, int chip_bits) {
  if (program_bits == chip_bits) return;
  throw InputError(program.name,
                   "has " + what + "s of " + std::to_string(program_bits) +
                       " bits, but the chip's precision." + what + "_bits is " +
                       std::to_string(chip_bits),
                   "make the chip's precision and the scheme's bits the same");
}

}  // namespace

void check_fits(const Chip& chip, const Program& program) {
  check_bits(program, "activation", program.activation_format.bits, chip.precision.activation_bits);
  check_bits(program, "weight", program.weight_format.bits, chip.precision.weight_bits);
  Bytes weights = 0;
  for (const Tile& tile : program.tiles) weights += chip.tile_bytes(tile.rows, tile.cols);
  check_limit(program.name, "weight memory use in bytes of", weights, "weight_memory.capacity_mib",
              chip.weight_memory.capacity_mib * 1024 * 1024);
  for (const int parity : {0, 1}) {
    for (const Operation& op : decode_program(program, parity)) {
      check_operation(chip, program, op);
    }
  }
}

}  // namespace tilewave::sim
