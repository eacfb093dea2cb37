#include "sim/isa/sum_bounds.h"

#include <algorithm>
#include <limits>

#include "sim/accumulate.h"

namespace tilewave::sim {
namespace {

/// The values that a sum may have, and all of its partial sums: 0 is among them.
struct Bounds {
  std::int64_t low = 0;
  std::int64_t high = 0;

  void include(std::int64_t value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  Bounds operator+(const Bounds& other) const { return {low + other.low, high + other.high}; }
};

class SumBounds {
 public:
  SumBounds(const Chip& chip, const Program& program, std::int64_t rows)
      : precision_(chip.precision),
        program_(program),
        any_{saturate(std::numeric_limits<std::int64_t>::min(), precision_.accumulator_bits),
             saturate(std::numeric_limits<std::int64_t>::max(), precision_.accumulator_bits)},
        entries_(static_cast<std::size_t>(rows), any_) {
    for (const Tile& tile : program.tiles) tiles_.push_back(of_tile(tile));
  }

  /// Follows the multiply; whether it may overflow.
  bool multiply(const Operation& op) {
    const Bounds& tile = tiles_[static_cast<std::size_t>(op.tile - program_.tiles.data())];
    const Bounds bias = op.instruction.accumulate ? Bounds{} : of_bias(*op.columns);
    bool leaves = !holds(tile);
    for (std::int64_t row = op.accumulators.begin; row < op.accumulators.end; ++row) {
      Bounds& entry = entries_[static_cast<std::size_t>(row)];
      const Bounds sum = (op.instruction.accumulate ? entry : bias) + tile;
      leaves = leaves || !holds(sum);
      entry = holds(sum) && holds(tile) ? sum : any_;
    }
    return leaves;
  }

 private:
  bool holds(const Bounds& sums) const { return sums.low >= any_.low && sums.high <= any_.high; }

  Bounds of_tile(const Tile& tile) const {
    const std::int64_t least = program_.activation_format.qmin();
    const std::int64_t most = program_.activation_format.qmax();
    std::vector<Bounds> columns(static_cast<std::size_t>(tile.cols));
    const std::int16_t* weight = program_.weights.data() + tile.offset;
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      for (Bounds& column : columns) {
        const std::int64_t w = *weight++;
        column.low += std::min({w * least, w * most, std::int64_t{0}});
        column.high += std::max({w * least, w * most, std::int64_t{0}});
      }
    }
    Bounds all;
    for (const Bounds& column : columns) {
      all.include(column.low);
      all.include(column.high);
    }
    return all;
  }

  Bounds of_bias(const Columns& columns) const {
    Bounds all;
    for (const std::int32_t bias : columns.bias) all.include(narrow(bias, precision_));
    return all;
  }

  const Precision& precision_;
  const Program& program_;
  Bounds any_;                   ///< all that an accumulator can hold
  std::vector<Bounds> tiles_;    ///< over all columns
  std::vector<Bounds> entries_;  ///< by accumulator row, over all columns
};

}  // namespace

std::vector<char> may_overflow(const Chip& chip, const Program& program,
                               const std::vector<Operation>& launch) {
  std::int64_t rows = 0;
  for (const Operation& op : launch) rows = std::max(rows, op.accumulators.end);
  SumBounds bounds(chip, program, rows);
  std::vector<char> result(program.instructions.size(), 0);
  for (const Operation& op : launch) {
    if (op.instruction.opcode != Opcode::matmul) continue;
    result[static_cast<std::size_t>(op.index)] = bounds.multiply(op) ? 1 : 0;
  }
  return result;
}

}  // namespace tilewave::sim
