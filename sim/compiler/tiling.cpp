#include "sim/compiler/tiling.h"

#include <algorithm>
#include <limits>

namespace tilewave::sim {
namespace {

std::int64_t out_channels(const MatrixStep& step) {
  return static_cast<std::int64_t>(step.bias->size());
}

/// Rows that a tile can have.
std::int64_t tile_height(const Array& array) {
  const bool any = array.dataflow == Dataflow::output_stationary;
  return any ? std::numeric_limits<std::int64_t>::max() : array.rows;
}

/// Groups that share a tile.
std::int64_t groups_per_tile(const MatrixStep& step, const Array& array) {
  const std::int64_t outputs = out_channels(step) / step.groups;
  const std::int64_t fitting =
      std::min(tile_height(array) / contraction(step), array.cols / outputs);
  return std::clamp<std::int64_t>(fitting, 1, step.groups);
}

/// Weight from place k of the column tile's gathered row to output channel `out`: 0 where the
/// channel belongs to another group.
std::int16_t weight_at(const MatrixStep& step, std::int64_t in_channels, const ColumnTile& columns,
                       std::int64_t k, std::int64_t out) {
  const std::int64_t per_group = in_channels / step.groups;
  const std::int64_t group = out / (out_channels(step) / step.groups);
  const std::int64_t channel = columns.channel_first + k % columns.channel_count;
  if (channel / per_group != group) return 0;
  const std::int64_t kernel_pixel = k / columns.channel_count;
  return (*step.weight)[static_cast<std::size_t>(out * contraction(step) +
                                                 kernel_pixel * per_group + channel % per_group)];
}

}  // namespace

std::int64_t contraction(const MatrixStep& step) {
  return static_cast<std::int64_t>(step.weight->size()) / out_channels(step);
}

std::int64_t column_block(const MatrixStep& step, const Array& array) {
  if (step.groups == 1) return array.cols;
  const std::int64_t outputs = out_channels(step) / step.groups;
  if (outputs <= array.cols) return groups_per_tile(step, array) * outputs;
  // Planes are equally wide, and a column tile stays within its group.
  std::int64_t block = array.cols;
  while (outputs % block != 0) --block;
  return block;
}

std::vector<ColumnTile> tile_weights(const MatrixStep& step, std::int64_t in_channels,
                                     const Array& array) {
  const std::int64_t outputs = out_channels(step) / step.groups;
  const std::int64_t inputs = in_channels / step.groups;
  const std::int64_t block = column_block(step, array);
  std::vector<ColumnTile> tiles;
  for (std::int64_t out = 0; out < out_channels(step); out += block) {
    ColumnTile tile;
    tile.out_first = out;
    tile.out_count = std::min(block, out_channels(step) - out);
    const std::int64_t group_first = out / outputs;
    const std::int64_t group_last = (out + tile.out_count - 1) / outputs;
    tile.channel_first = group_first * inputs;
    tile.channel_count = (group_last - group_first + 1) * inputs;
    const std::int64_t k =
        step.window.kernel_height * step.window.kernel_width * tile.channel_count;
    const std::int64_t height = std::min(k, tile_height(array));
    for (std::int64_t first = 0; first < k; first += height) {
      tile.row_tiles.push_back({first, std::min(height, k - first)});
    }
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

std::uint32_t add_tile(Program& program, const MatrixStep& step, std::int64_t in_channels,
                       const ColumnTile& columns, const RowTile& rows) {
  Tile tile{rows.k_count, columns.out_count, static_cast<std::int64_t>(program.weights.size()), 0};
  const std::int64_t per_group = in_channels / step.groups;
  const std::int64_t outputs = out_channels(step) / step.groups;
  for (std::int64_t k = rows.k_first; k < rows.k_first + rows.k_count; ++k) {
    const std::int64_t group = (columns.channel_first + k % columns.channel_count) / per_group;
    for (std::int64_t out = columns.out_first; out < columns.out_first + columns.out_count; ++out) {
      program.weights.push_back(weight_at(step, in_channels, columns, k, out));
      if (out / outputs == group) ++tile.useful;
    }
  }
  program.tiles.push_back(tile);
  return static_cast<std::uint32_t>(program.tiles.size() - 1);
}

Columns make_columns(const MatrixStep& step, const ColumnTile& tile, std::int32_t zero_point,
                     Overflow overflow) {
  Columns columns;
  const quant::Requantizer& all = *step.requantizer;
  columns.requantizer.mode = all.mode;
  columns.requantizer.zero_point = all.zero_point;
  columns.requantizer.low = all.low;
  columns.requantizer.high = all.high;
  const std::int64_t k = contraction(step);
  for (std::int64_t out = tile.out_first; out < tile.out_first + tile.out_count; ++out) {
    const auto channel = static_cast<std::size_t>(out);
    const auto* weights = step.weight->data() + out * k;
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum += weights[i];
    std::int64_t folded = (*step.bias)[channel] - zero_point * sum;
    if (overflow == Overflow::saturate) {
      folded = std::clamp<std::int64_t>(folded, std::numeric_limits<std::int32_t>::min(),
                                        std::numeric_limits<std::int32_t>::max());
    }
    columns.bias.push_back(static_cast<std::int32_t>(folded));
    if (all.mode == quant::RequantizeMode::float_multiplier) {
      columns.requantizer.multiplier.push_back(all.multiplier[channel]);
    } else {
      columns.requantizer.fixed_point.push_back(all.fixed_point[channel]);
    }
  }
  return columns;
}

}  // namespace tilewave::sim
