#include <algorithm>
#include <optional>

#include "sim/compiler/emitter.h"
#include "sim/compiler/pieces.h"

// The instructions of each kind of step.

namespace tilewave::sim {
namespace {

/// Rows that one vector instruction handles, so that the next layer can start on them while the
/// rest is worked on: as many as half the accumulators of TPU v1 hold.
constexpr std::int64_t kVectorRows = 2048;

}  // namespace

/// Column tile by column tile; chunk by chunk of the accumulators; row tile by row tile. A tile
/// is loaded once where the contraction has one row tile, else once per chunk: the rows of a chunk
/// must pass all row tiles, in increasing k, before their entries are free. A tile that is the only
/// one stays in the array from band to band.
void Emitter::emit_matrix_step(const TiledStep& tiled, const MatrixStep& work, const Band& band) {
  const Operand& input = band.inputs.front();
  const Rows convolved = convolved_rows(work, band.rows);
  std::int64_t source_first = convolved.begin * work.output.width;
  std::optional<Pool> pool = work.pool;
  if (pool) {
    pool->input.height = convolved.count();
    pool->output.height = band.rows.count();
  }
  Setup setup;
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
    source_first = 0;
  }
  const std::int64_t total = input.images * convolved.count() * work.output.width;
  const std::int64_t unit = rows_per_unit(work);
  const bool stays = tiled.columns.size() == 1 && !band.is_first;
  for (const TiledColumns& columns : tiled.columns) {
    setup.channel_first = columns.tile.channel_first;
    setup.channel_count = columns.tile.channel_count;
    set(ConfigRegister::setup, index_in(program_.setups, setup));
    set(ConfigRegister::columns, columns.columns);
    set(ConfigRegister::pool, pool ? pool_for(*pool, columns.tile.out_count) : kNone);
    const bool reloads = columns.row_tiles.size() > 1;
    for_each_piece(
        total, rows_per_chunk(unit, reloads), unit, [&](std::int64_t first, std::int64_t rows) {
          emit_chunk(columns, band,
                     {first, rows, source_first + first, reloads || (first == 0 && !stays)});
        });
  }
}

/// Half of the accumulators where a longer chunk saves loading tiles again. Where it does not, a
/// quarter, so that the activation unit has read a chunk's entries by the time that they are needed
/// again. All of them if a unit needs that.
std::int64_t Emitter::rows_per_chunk(std::int64_t unit, bool reloads) const {
  const std::int64_t depth = chip_.accumulators.depth;
  for (const std::int64_t parts : {4, 2}) {
    if (depth / parts >= unit && !(reloads && parts == 4)) return depth / parts;
  }
  return depth;
}

void Emitter::emit_chunk(const TiledColumns& columns, const Band& band, const Chunk& chunk) {
  // Chunks follow one another round the accumulators: some are filled while others are read.
  if (next_accumulator_ + chunk.rows > chip_.accumulators.depth) next_accumulator_ = 0;
  const std::int64_t accumulator = next_accumulator_;
  next_accumulator_ += chunk.rows;
  for (std::size_t i = 0; i < columns.row_tiles.size(); ++i) {
    if (chunk.load) {
      Instruction read;
      read.opcode = Opcode::read_weights;
      read.value = columns.row_tiles[i];
      program_.instructions.push_back(read);
    }
    Instruction multiply;
    multiply.opcode = Opcode::matmul;
    multiply.unified_buffer = u32(band.inputs.front().address);
    multiply.accumulator = u32(accumulator);
    multiply.first = u32(chunk.source_first);
    multiply.rows = u32(chunk.rows);
    multiply.value = u32(columns.tile.row_tiles[i].k_first);
    multiply.next_tile = chunk.load;
    multiply.accumulate = i > 0;
    program_.instructions.push_back(multiply);
  }
  Instruction activate;
  activate.opcode = Opcode::activate;
  activate.accumulator = u32(accumulator);
  activate.rows = u32(chunk.rows);
  activate.first = u32(chunk.first);
  const std::int64_t plane = columns.tile.out_first / band.output.layout.block;
  activate.unified_buffer = u32(row_address(band.output, plane, band.rows.begin));
  program_.instructions.push_back(activate);
}

/// Piece by piece of channels that lie in one plane of each of the three tensors.
void Emitter::emit_add_step(const AddStep& work, const Band& band) {
  const Layout& out = band.output.layout;
  const Layout& a = band.inputs[0].layout;
  const Layout& b = band.inputs[1].layout;
  for (std::int64_t channel = 0; channel < out.shape.channels;) {
    std::int64_t width = out.shape.channels - channel;
    for (const Layout* layout : {&a, &b, &out}) {
      width = std::min(width,
                       layout->plane_channels(channel / layout->block) - channel % layout->block);
    }
    VectorAdd add;
    add.adder = *work.adder;
    add.width = width;
    add.a_stride = a.plane_channels(channel / a.block);
    add.b_stride = b.plane_channels(channel / b.block);
    add.destination_stride = out.plane_channels(channel / out.block);
    set(ConfigRegister::add, index_in(program_.adds, add));
    const auto place = [&](const Operand& operand, std::int64_t pixel) {
      const Layout& layout = operand.layout;
      const std::int64_t plane = channel / layout.block;
      return u32(row_address(operand, plane, band.rows.begin) +
                 (pixel * layout.plane_channels(plane) + channel % layout.block) * element_bytes_);
    };
    for_each_piece(band.output.images * band.rows.count() * out.shape.width, kVectorRows, 1,
                   [&](std::int64_t first, std::int64_t rows) {
                     Instruction instruction;
                     instruction.opcode = Opcode::vector_add;
                     instruction.unified_buffer = place(band.inputs[0], first);
                     instruction.source_b = place(band.inputs[1], first);
                     instruction.destination = place(band.output, first);
                     instruction.rows = u32(rows);
                     program_.instructions.push_back(instruction);
                   });
    channel += width;
  }
}

void Emitter::emit_pool_step(const PoolStep& work, const Band& band) {
  const Operand& input = band.inputs.front();
  const Layout& out = band.output.layout;
  const WindowBand windows =
      window_band(work.pool.window, work.pool.input.height, work.pool.output.height, band.rows);
  Pool pool = work.pool;
  pool.window = windows.window;
  pool.input.height = windows.input.count();
  pool.output.height = band.rows.count();
  const std::int64_t image_rows = pool.output.pixels();
  for (std::int64_t plane = 0; plane < out.planes(); ++plane) {
    set(ConfigRegister::pool, pool_for(pool, out.plane_channels(plane)));
    for_each_piece(
        input.images * image_rows, kVectorRows, image_rows,
        [&](std::int64_t first, std::int64_t rows) {
          Instruction instruction;
          instruction.opcode = Opcode::vector_pool;
          instruction.unified_buffer = u32(row_address(input, plane, windows.input.begin));
          instruction.destination = u32(row_address(band.output, plane, band.rows.begin));
          instruction.first = u32(first);
          instruction.rows = u32(rows);
          program_.instructions.push_back(instruction);
        });
  }
}

void Emitter::emit_lookup_step(const LookupStep& work, const Band& band) {
  set(ConfigRegister::table, index_in(program_.tables, Table{work.lookup->table}));
  const Operand& input = band.inputs.front();
  const Layout& out = band.output.layout;
  for (std::int64_t plane = 0; plane < out.planes(); ++plane) {
    const std::int64_t pixel_bytes = out.plane_channels(plane) * element_bytes_;
    for_each_piece(band.output.images * band.rows.count() * out.shape.width, kVectorRows, 1,
                   [&](std::int64_t first, std::int64_t rows) {
                     Instruction instruction;
                     instruction.opcode = Opcode::vector_lookup;
                     instruction.unified_buffer =
                         u32(row_address(input, plane, band.rows.begin) + first * pixel_bytes);
                     instruction.destination = u32(
                         row_address(band.output, plane, band.rows.begin) + first * pixel_bytes);
                     instruction.rows = u32(rows);
                     instruction.row_bytes = u32(pixel_bytes);
                     program_.instructions.push_back(instruction);
                   });
  }
}

}  // namespace tilewave::sim
