#pragma once

#include <cstdint>
#include <vector>

#include "sim/chip/chip.h"
#include "sim/compiler/lowering.h"

namespace tilewave::sim {

/// Part of the contraction that fits the array's height; all of it where that may be any.
struct RowTile {
  std::int64_t k_first = 0;
  std::int64_t k_count = 0;
};

/// Output channels that fit the array's width, made from channels [channel_first, + count) of the
/// input. Several groups of a grouped convolution lie block-diagonally in one tile.
struct ColumnTile {
  std::int64_t out_first = 0;
  std::int64_t out_count = 0;
  std::int64_t channel_first = 0;
  std::int64_t channel_count = 0;
  std::vector<RowTile> row_tiles;  ///< in increasing k
};

/// Contraction length of one output channel.
std::int64_t contraction(const MatrixStep& step);

/// Channels that a plane of the step's output holds: the width of its column tiles.
std::int64_t column_block(const MatrixStep& step, const Array& array);

/// Cuts the step's weights for the array. `in_channels`: channels of its input.
std::vector<ColumnTile> tile_weights(const MatrixStep& step, std::int64_t in_channels,
                                     const Array& array);

/// The tile's weights, row-major, appended to program.weights and program.tiles.
/// Returns the number of the tile.
std::uint32_t add_tile(Program& program, const MatrixStep& step, std::int64_t in_channels,
                       const ColumnTile& columns, const RowTile& rows);

/// Bias with -zero_point * sum(w) folded in, and the requantizer, of the tile's columns.
Columns make_columns(const MatrixStep& step, const ColumnTile& tile, std::int32_t zero_point,
                     Overflow overflow);

}  // namespace tilewave::sim
