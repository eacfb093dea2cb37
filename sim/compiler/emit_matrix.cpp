#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "base/error.h"
#include "sim/compiler/emitter.h"
#include "sim/compiler/pieces.h"

// The instructions of convolutions and matrix products, in the order that suits what stays in the
// array.

namespace tilewave::sim {
namespace {

/// A multiple of `unit` that is one of `multiply` too, if `most` allows: chunks of it leave no
/// multiply with fewer rows than the array has room for, but the last.
std::int64_t chunk_unit(std::int64_t unit, std::int64_t multiply, std::int64_t most) {
  const std::int64_t both = std::lcm(unit, multiply);
  return both <= most ? both : unit;
}

}  // namespace

void Emitter::emit_matrix_step(const TiledStep& tiled, const MatrixStep& work, const Band& band) {
  MatrixBand all = matrix_band(tiled, work, band);
  if (chip_.array.dataflow == Dataflow::input_stationary) {
    emit_by_pixels(all);
  } else {
    emit_by_columns(all);
  }
}

Emitter::MatrixBand Emitter::matrix_band(const TiledStep& tiled, const MatrixStep& work,
                                         const Band& band) const {
  const Operand& input = band.inputs.front();
  const Rows convolved = convolved_rows(work, band.rows);
  MatrixBand all{tiled, band, {}, work.pool};
  all.source_first = convolved.begin * work.output.width;
  if (all.pool) {
    all.pool->input.height = convolved.count();
    all.pool->output.height = band.rows.count();
  }
  Setup& setup = all.setup;
  setup.source = input.layout;
  setup.images = input.images;
  setup.window = work.window;
  setup.output = work.output;
  setup.zero_point = tensor(input.tensor).quantization.zero_point;
  if (is_spilled(input.tensor)) {
    // The band's rows are all that there is of the source.
    const std::int64_t height = tensor(input.tensor).layout.shape.height;
    setup.window = window_band(work.window, height, work.output.height, convolved).window;
    setup.output.height = convolved.count();
    all.source_first = 0;
  }
  all.rows = input.images * convolved.count() * work.output.width;
  all.unit = rows_per_unit(work);
  return all;
}

/// Where weights or sums stay: column tile by column tile; chunk by chunk of the accumulators; row
/// tile by row tile. A tile is loaded once where the contraction has one row tile, else once per
/// chunk: the rows of a chunk must pass all row tiles, in increasing k, before their entries are
/// free. A tile that is the only one stays in the array from band to band.
void Emitter::emit_by_columns(MatrixBand& work) {
  const bool stays = work.tiled.columns.size() == 1 && !work.band.is_first;
  for (const TiledColumns& columns : work.tiled.columns) {
    select_setup(work, columns.tile);
    select_columns(work, columns);
    const bool reloads = columns.row_tiles.size() > 1;
    const std::int64_t most = rows_per_chunk(work.unit, reloads);
    const std::int64_t unit = chip_.array.dataflow == Dataflow::output_stationary
                                  ? chunk_unit(work.unit, chip_.array.rows, most)
                                  : work.unit;
    for_each_piece(work.rows, most, unit, [&](std::int64_t first, std::int64_t rows) {
      emit_column(work, columns, {first, rows, take_accumulators(rows)},
                  reloads || (first == 0 && !stays));
    });
  }
}

/// `load`: the column tile's weights are not in the array.
void Emitter::emit_column(const MatrixBand& work, const TiledColumns& columns, const Chunk& chunk,
                          bool load) {
  const bool sums_stay = chip_.array.dataflow == Dataflow::output_stationary;
  for (std::size_t i = 0; i < columns.row_tiles.size(); ++i) {
    if (load) emit_read_weights(columns.row_tiles[i]);
    for_each_piece(chunk.rows, sums_stay ? chip_.array.rows : chunk.rows, 1,
                   [&](std::int64_t first, std::int64_t rows) {
                     Instruction instruction = multiply(work, chunk, first, rows);
                     instruction.value = u32(columns.tile.row_tiles[i].k_first);
                     instruction.next_tile = load && first == 0;
                     instruction.accumulate = i > 0;
                     program_.instructions.push_back(instruction);
                   });
  }
  emit_activate(work, columns, chunk);
}

/// Where activations stay: chunk by chunk of pixels; as many column tiles together as the
/// accumulators hold, so that the activations are loaded once for all of them. Column tiles that
/// take different channels of the input have no activations in common.
void Emitter::emit_by_pixels(MatrixBand& work) {
  const std::span<const TiledColumns> all(work.tiled.columns);
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    const ColumnTile& tile = all[begin].tile;
    while (end < all.size() && all[end].tile.channel_first == tile.channel_first &&
           all[end].tile.channel_count == tile.channel_count) {
      ++end;
    }
    select_setup(work, tile);
    const auto columns = static_cast<std::int64_t>(end - begin);
    const std::int64_t share = rows_per_chunk(work.unit, columns > 1);
    const std::int64_t block = ceil_div(chip_.array.cols, work.unit) * work.unit;
    const std::int64_t most = std::min(share, std::max(share / columns, block));
    const auto together = static_cast<std::size_t>(share / most);
    for_each_piece(work.rows, most, chunk_unit(work.unit, chip_.array.cols, most),
                   [&](std::int64_t first, std::int64_t rows) {
                     for (std::size_t at = begin; at < end; at += together) {
                       const auto group = all.subspan(at, std::min(together, end - at));
                       emit_columns_together(
                           work, group, {first, rows, take_accumulators(rows * std::ssize(group))});
                     }
                   });
  }
}

/// Block of pixels by block; row tile by row tile, each loaded once and kept for every column tile.
/// A tile that is the only one stays in the array, else each is loaded for each multiply.
void Emitter::emit_columns_together(const MatrixBand& work, std::span<const TiledColumns> columns,
                                    const Chunk& chunk) {
  const bool is_only_tile = work.tiled.columns.size() == 1 && columns.front().row_tiles.size() == 1;
  const auto part = [&](std::size_t column) {
    return Chunk{chunk.first, chunk.rows,
                 chunk.accumulator + static_cast<std::int64_t>(column) * chunk.rows};
  };
  for_each_piece(chunk.rows, chip_.array.cols, 1, [&](std::int64_t first, std::int64_t rows) {
    const bool is_first = work.band.is_first && chunk.first == 0 && first == 0;
    for (std::size_t i = 0; i < columns.front().row_tiles.size(); ++i) {
      for (std::size_t column = 0; column < columns.size(); ++column) {
        set(ConfigRegister::columns, columns[column].columns);
        Instruction instruction = multiply(work, part(column), first, rows);
        instruction.value = u32(columns[column].tile.row_tiles[i].k_first);
        instruction.next_tile = !is_only_tile || is_first;
        instruction.accumulate = i > 0;
        instruction.keep_rows = column > 0;
        if (instruction.next_tile) emit_read_weights(columns[column].row_tiles[i]);
        program_.instructions.push_back(instruction);
      }
    }
  });
  for (std::size_t column = 0; column < columns.size(); ++column) {
    emit_activate(work, columns[column], part(column));
  }
}

void Emitter::select_setup(MatrixBand& work, const ColumnTile& tile) {
  work.setup.channel_first = tile.channel_first;
  work.setup.channel_count = tile.channel_count;
  set(ConfigRegister::setup, index_in(program_.setups, work.setup));
}

void Emitter::select_columns(const MatrixBand& work, const TiledColumns& columns) {
  set(ConfigRegister::columns, columns.columns);
  set(ConfigRegister::pool, work.pool ? pool_for(*work.pool, columns.tile.out_count) : kNone);
}

void Emitter::emit_read_weights(std::uint32_t tile) {
  Instruction read;
  read.opcode = Opcode::read_weights;
  read.value = tile;
  program_.instructions.push_back(read);
}

/// Of rows [first, first + rows) of the chunk.
Instruction Emitter::multiply(const MatrixBand& work, const Chunk& chunk, std::int64_t first,
                              std::int64_t rows) const {
  Instruction instruction;
  instruction.opcode = Opcode::matmul;
  instruction.unified_buffer = u32(work.band.inputs.front().address);
  instruction.accumulator = u32(chunk.accumulator + first);
  instruction.first = u32(work.source_first + chunk.first + first);
  instruction.rows = u32(rows);
  return instruction;
}

void Emitter::emit_activate(const MatrixBand& work, const TiledColumns& columns,
                            const Chunk& chunk) {
  check_stop(stop_);
  select_columns(work, columns);
  const Operand& output = work.band.output;
  Instruction activate;
  activate.opcode = Opcode::activate;
  activate.accumulator = u32(chunk.accumulator);
  activate.rows = u32(chunk.rows);
  activate.first = u32(chunk.first);
  const std::int64_t plane = columns.tile.out_first / output.layout.block;
  activate.unified_buffer = u32(row_address(output, plane, work.band.rows.begin));
  program_.instructions.push_back(activate);
}

/// Half of the accumulators where a longer chunk saves loading tiles or activations again. Where it
/// does not, a quarter, so that the activation unit has read a chunk's entries by the time that
/// they are needed again. All of them if a unit needs that.
std::int64_t Emitter::rows_per_chunk(std::int64_t unit, bool saves_loads) const {
  const std::int64_t depth = chip_.accumulators.depth;
  for (const std::int64_t parts : {4, 2}) {
    if (depth / parts >= unit && !(saves_loads && parts == 4)) return depth / parts;
  }
  return depth;
}

/// Chunks follow one another round the accumulators: some are filled while others are read.
std::int64_t Emitter::take_accumulators(std::int64_t rows) {
  if (next_accumulator_ + rows > chip_.accumulators.depth) next_accumulator_ = 0;
  const std::int64_t first = next_accumulator_;
  next_accumulator_ += rows;
  return first;
}

}  // namespace tilewave::sim
