#include "sim/isa/fits.h"

#include <algorithm>

#include "base/error.h"
#include "sim/isa/decoder.h"
#include "sim/isa/place.h"

namespace tilewave::sim {
namespace {

[[noreturn]] void too_much(const std::string& where, const char* what, std::int64_t value,
                           const char* key, std::int64_t limit) {
  throw InputError(where,
                   std::string(what) + " " + std::to_string(value) + " is more than the chip has",
                   std::string(key) + " allows " + std::to_string(limit));
}

/// Messages are put together only when they are needed: programs have millions of instructions.
class OperationCheck {
 public:
  OperationCheck(const Chip& chip, const Program& program, const Operation& op)
      : chip_(chip), program_(program), op_(op) {}

  void run() const {
    for (const auto* spans : {&op_.reads, &op_.writes}) {
      for (const Span& span : *spans) {
        check("unified buffer address", span.end, "unified_buffer.capacity_kib",
              chip_.unified_buffer.capacity_kib * 1024);
      }
    }
    check("accumulator row", op_.accumulators.end, "accumulators.depth", chip_.accumulators.depth);
    if (op_.tile != nullptr) check_tile(*op_.tile);
    if (op_.instruction.opcode == Opcode::matmul) check_pixels();
    if (op_.columns != nullptr) {
      check("number of columns", static_cast<std::int64_t>(op_.columns->bias.size()), "array.cols",
            chip_.array.cols);
    }
  }

 private:
  void check_tile(const Tile& tile) const {
    if (chip_.array.dataflow != Dataflow::output_stationary) {
      check("tile height", tile.rows, "array.rows", chip_.array.rows);
    }
    check("tile width", tile.cols, "array.cols", chip_.array.cols);
  }
  /// Where pixels stay in the array, there is a row or a column for each.
  void check_pixels() const {
    const std::int64_t pixels = op_.instruction.rows;
    switch (chip_.array.dataflow) {
      case Dataflow::weight_stationary:
        break;
      case Dataflow::output_stationary:
        check("number of pixels", pixels, "array.rows", chip_.array.rows);
        break;
      case Dataflow::input_stationary:
        check("number of pixels", pixels, "array.cols", chip_.array.cols);
        break;
    }
  }
  void check(const char* what, std::int64_t value, const char* key, std::int64_t limit) const {
    if (value <= limit) return;
    too_much(place_of(program_, op_), what, value, key, limit);
  }

  const Chip& chip_;
  const Program& program_;
  const Operation& op_;
};

void check_bits(const Program& program, const std::string& what, int program_bits, int chip_bits) {
  if (program_bits == chip_bits) return;
  throw InputError(program.name,
                   "has " + what + "s of " + std::to_string(program_bits) +
                       " bits, but the chip's precision." + what + "_bits is " +
                       std::to_string(chip_bits),
                   "make the chip's precision and the scheme's bits the same");
}

void check_dataflow(const Program& program, Dataflow chip) {
  if (program.dataflow == chip) return;
  const auto name = [](Dataflow dataflow) {
    return std::string(kDataflowNames[static_cast<std::size_t>(dataflow)]);
  };
  throw InputError(
      program.name,
      "is " + name(program.dataflow) + ", but the chip's array.dataflow is " + name(chip),
      "a program made for the chip's dataflow");
}

}  // namespace

void check_fits(const Chip& chip, const Program& program, const DecodedLaunches& launches) {
  check_dataflow(program, chip.array.dataflow);
  check_bits(program, "activation", program.activation_format.bits, chip.precision.activation_bits);
  check_bits(program, "weight", program.weight_format.bits, chip.precision.weight_bits);
  const Bytes buffer = chip.unified_buffer.capacity_kib * 1024;
  if (program.unified_buffer_peak > buffer) {
    too_much(program.name, "unified_buffer_peak", program.unified_buffer_peak,
             "unified_buffer.capacity_kib", buffer);
  }
  Bytes weights = 0;
  for (const Tile& tile : program.tiles) weights += chip.tile_bytes(tile.rows, tile.cols);
  const Bytes capacity = chip.weight_memory.capacity_mib * 1024 * 1024;
  if (weights > capacity) {
    too_much(program.name, "weight memory use in bytes of", weights, "weight_memory.capacity_mib",
             capacity);
  }
  for (const auto& launch : launches) {
    for (const Operation& op : launch) OperationCheck(chip, program, op).run();
  }
}

void check_fits(const Chip& chip, const Program& program) {
  check_fits(chip, program, {decode_program(program, 0), decode_program(program, 1)});
}

}  // namespace tilewave::sim
