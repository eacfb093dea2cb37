#include <algorithm>

#include "sim/compiler/emitter.h"
#include "sim/compiler/pieces.h"

// The instructions of the steps that the activation unit does alone.

namespace tilewave::sim {
namespace {

/// Rows that one vector instruction handles, so that the next layer can start on them while the
/// rest is worked on: as many as half the accumulators of TPU v1 hold.
constexpr std::int64_t kVectorRows = 2048;

/// A table with an entry for each value of the program's activations, of which the input takes only
/// those of its own format.
Table widened(const LookupStep& work, const quant::Format& format) {
  Table table;
  const std::vector<std::int16_t>& own = work.lookup->table;
  for (std::int32_t q = format.qmin(); q <= format.qmax(); ++q) {
    const auto last = static_cast<std::int32_t>(own.size()) - 1;
    table.values.push_back(
        own[static_cast<std::size_t>(std::clamp(q - work.format.qmin(), 0, last))]);
  }
  return table;
}

}  // namespace

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
  set(ConfigRegister::table, index_in(program_.tables, widened(work, program_.activation_format)));
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
