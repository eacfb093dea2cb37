#include "sim/compiler/emitter.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace tilewave::sim {
namespace {

/// Rows that one vector instruction handles, so that the next layer can start on them while the
/// rest is worked on: as many as half the accumulators of TPU v1 hold.
constexpr std::int64_t kVectorRows = 2048;

std::uint32_t u32(std::int64_t value) {
  TILEWAVE_CHECK(value, >=, 0, "an instruction field is unsigned");
  TILEWAVE_CHECK(value, <=, std::numeric_limits<std::uint32_t>::max(),
                 "an instruction field has 32 bits");
  return static_cast<std::uint32_t>(value);
}

/// Number of `value` in `table`, appended if it is not there yet.
template <typename T>
std::uint32_t index_in(std::vector<T>& table, T value) {
  const auto found = std::find(table.begin(), table.end(), value);
  if (found != table.end()) return u32(found - table.begin());
  table.push_back(std::move(value));
  return u32(static_cast<std::int64_t>(table.size()) - 1);
}

/// Calls fn(first, count) for pieces of at most `most` of [0, total), as equal as they can be while
/// each but the last is a multiple of `unit`.
template <typename Fn>
void for_each_piece(std::int64_t total, std::int64_t most, std::int64_t unit, Fn fn) {
  const std::int64_t units = ceil_div(total, unit);
  const std::int64_t pieces = ceil_div(units, std::max<std::int64_t>(most / unit, 1));
  const std::int64_t size = ceil_div(units, pieces) * unit;
  for (std::int64_t first = 0; first < total; first += size) {
    fn(first, std::min(size, total - first));
  }
}

}  // namespace

Emitter::Emitter(const LoweredNetwork& network, const Chip& chip, const BufferPlan& plan,
                 Program& program)
    : network_(network),
      chip_(chip),
      plan_(plan),
      program_(program),
      element_bytes_(chip.activation_bytes()),
      tiled_(network.steps.size()) {
  registers_.fill(kNone);
  for (std::size_t number = 0; number < network.steps.size(); ++number) prepare(number);
}

/// Cuts and stores the step's weights; they serve every pass.
void Emitter::prepare(std::size_t number) {
  const Step& step = network_.steps[number];
  const auto* work = std::get_if<MatrixStep>(&step.work);
  if (work == nullptr) return;
  const Tensor& input = tensor(step.inputs.front());
  const std::int64_t in_channels = input.layout.shape.channels;
  for (ColumnTile& tile : tile_weights(*work, in_channels, chip_.array)) {
    TiledColumns columns;
    columns.columns = u32(static_cast<std::int64_t>(program_.columns.size()));
    program_.columns.push_back(
        make_columns(*work, tile, input.quantization.zero_point, chip_.precision.overflow));
    for (const RowTile& rows : tile.row_tiles) {
      columns.row_tiles.push_back(add_tile(program_, *work, in_channels, tile, rows));
    }
    columns.tile = std::move(tile);
    tiled_[number].columns.push_back(std::move(columns));
  }
}

void Emitter::set(ConfigRegister reg, std::uint32_t value) {
  std::uint32_t& now = registers_[static_cast<std::size_t>(reg)];
  if (now == value) return;
  now = value;
  Instruction instruction;
  instruction.opcode = Opcode::set_config;
  instruction.reg = reg;
  instruction.value = value;
  program_.instructions.push_back(instruction);
}

std::int64_t Emitter::address(int id, const Pass& pass) const {
  const std::int64_t base = plan_.address[static_cast<std::size_t>(id)];
  const bool alternates = id == 0 || id == network_.output;
  return alternates ? base + pass.half * std::int64_t{plan_.ping_pong.half} : base;
}

std::int64_t Emitter::plane_address(int id, std::int64_t plane, const Pass& pass) const {
  return address(id, pass) + tensor(id).layout.plane_offset(plane, pass.count) * element_bytes_;
}

void Emitter::emit(const Pass& pass) {
  set(ConfigRegister::layer, 0);
  emit_transfer(pass, Opcode::read_host, 0, program_.input);
  for (std::size_t number = 0; number < network_.steps.size(); ++number) {
    const Step& step = network_.steps[number];
    set(ConfigRegister::layer, u32(static_cast<std::int64_t>(number)));
    if (const auto* matrix = std::get_if<MatrixStep>(&step.work)) {
      emit_matrix_step(pass, number, *matrix);
    } else if (const auto* add = std::get_if<AddStep>(&step.work)) {
      emit_add_step(pass, step, *add);
    } else if (const auto* pool = std::get_if<PoolStep>(&step.work)) {
      emit_pool_step(pass, step, *pool);
    } else {
      emit_lookup_step(pass, step, std::get<LookupStep>(step.work));
    }
  }
  emit_transfer(pass, Opcode::write_host, network_.output, program_.output);
}

void Emitter::finish() {
  Instruction halt;
  halt.opcode = Opcode::halt;
  program_.instructions.push_back(halt);
}

void Emitter::emit_transfer(const Pass& pass, Opcode opcode, int id, const HostTensor& host) {
  const Layout& layout = host.layout;
  for (std::int64_t plane = 0; plane < layout.planes(); ++plane) {
    const std::int64_t pixel_elements = layout.plane_channels(plane);
    Instruction transfer;
    transfer.opcode = opcode;
    transfer.space = opcode == Opcode::read_host ? HostSpace::input : HostSpace::output;
    transfer.host =
        static_cast<std::uint64_t>((layout.plane_offset(plane, program_.batch) +
                                    pass.first * layout.shape.pixels() * pixel_elements) *
                                   element_bytes_);
    transfer.unified_buffer = u32(plane_address(id, plane, pass));
    transfer.rows = 1;
    transfer.row_bytes = u32(pass.count * layout.shape.pixels() * pixel_elements * element_bytes_);
    transfer.stride = transfer.row_bytes;
    transfer.stride_b = transfer.row_bytes;
    program_.instructions.push_back(transfer);
  }
}

std::uint32_t Emitter::setup_for(const MatrixStep& work, int input, const ColumnTile& tile,
                                 std::int64_t images) {
  Setup setup;
  setup.source = tensor(input).layout;
  setup.images = images;
  setup.window = work.window;
  setup.output = work.output;
  setup.channel_first = tile.channel_first;
  setup.channel_count = tile.channel_count;
  setup.zero_point = tensor(input).quantization.zero_point;
  return index_in(program_.setups, setup);
}

std::uint32_t Emitter::pool_for(const Pool& pool, std::int64_t channels) {
  Pool of_plane = pool;
  of_plane.input.channels = channels;
  of_plane.output.channels = channels;
  return index_in(program_.pools, of_plane);
}

/// Column tile by column tile; chunk by chunk of the accumulators; row tile by row tile. A tile
/// is loaded once where the contraction has one row tile, else once per chunk: the rows of a chunk
/// must pass all row tiles, in increasing k, before their entries are free.
void Emitter::emit_matrix_step(const Pass& pass, std::size_t number, const MatrixStep& work) {
  const Step& step = network_.steps[number];
  const std::int64_t unit = rows_per_unit(work);
  for (const TiledColumns& columns : tiled_[number].columns) {
    set(ConfigRegister::setup, setup_for(work, step.inputs.front(), columns.tile, pass.count));
    set(ConfigRegister::columns, columns.columns);
    set(ConfigRegister::pool, work.pool ? pool_for(*work.pool, columns.tile.out_count) : kNone);
    const std::int64_t most = rows_per_chunk(unit, columns.row_tiles.size() > 1);
    for_each_piece(pass.count * work.output.pixels(), most, unit,
                   [&](std::int64_t first, std::int64_t rows) {
                     const bool load = first == 0 || columns.row_tiles.size() > 1;
                     emit_chunk(step, columns, first, rows, load, pass);
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

void Emitter::emit_chunk(const Step& step, const TiledColumns& columns, std::int64_t first,
                         std::int64_t rows, bool load, const Pass& pass) {
  // Chunks follow one another round the accumulators: some are filled while others are read.
  if (next_accumulator_ + rows > chip_.accumulators.depth) next_accumulator_ = 0;
  const std::int64_t accumulator = next_accumulator_;
  next_accumulator_ += rows;
  for (std::size_t i = 0; i < columns.row_tiles.size(); ++i) {
    if (load) {
      Instruction read;
      read.opcode = Opcode::read_weights;
      read.value = columns.row_tiles[i];
      program_.instructions.push_back(read);
    }
    Instruction multiply;
    multiply.opcode = Opcode::matmul;
    multiply.unified_buffer = u32(address(step.inputs.front(), pass));
    multiply.accumulator = u32(accumulator);
    multiply.first = u32(first);
    multiply.rows = u32(rows);
    multiply.value = u32(columns.tile.row_tiles[i].k_first);
    multiply.next_tile = load;
    multiply.accumulate = i > 0;
    program_.instructions.push_back(multiply);
  }
  Instruction activate;
  activate.opcode = Opcode::activate;
  activate.accumulator = u32(accumulator);
  activate.rows = u32(rows);
  activate.first = u32(first);
  const std::int64_t plane = columns.tile.out_first / tensor(step.output).layout.block;
  activate.unified_buffer = u32(plane_address(step.output, plane, pass));
  program_.instructions.push_back(activate);
}

/// Piece by piece of channels that lie in one plane of each of the three tensors.
void Emitter::emit_add_step(const Pass& pass, const Step& step, const AddStep& work) {
  const Layout& out = tensor(step.output).layout;
  const Layout& a = tensor(step.inputs[0]).layout;
  const Layout& b = tensor(step.inputs[1]).layout;
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
    const auto place = [&](int id, const Layout& layout, std::int64_t row) {
      const std::int64_t plane = channel / layout.block;
      return u32(plane_address(id, plane, pass) +
                 (row * layout.plane_channels(plane) + channel % layout.block) * element_bytes_);
    };
    for_each_piece(pass.count * out.shape.pixels(), kVectorRows, 1,
                   [&](std::int64_t first, std::int64_t rows) {
                     Instruction instruction;
                     instruction.opcode = Opcode::vector_add;
                     instruction.unified_buffer = place(step.inputs[0], a, first);
                     instruction.source_b = place(step.inputs[1], b, first);
                     instruction.destination = place(step.output, out, first);
                     instruction.rows = u32(rows);
                     program_.instructions.push_back(instruction);
                   });
    channel += width;
  }
}

void Emitter::emit_pool_step(const Pass& pass, const Step& step, const PoolStep& work) {
  const Layout& out = tensor(step.output).layout;
  const std::int64_t image_rows = out.shape.pixels();
  for (std::int64_t plane = 0; plane < out.planes(); ++plane) {
    set(ConfigRegister::pool, pool_for(work.pool, out.plane_channels(plane)));
    for_each_piece(pass.count * image_rows, kVectorRows, image_rows,
                   [&](std::int64_t first, std::int64_t rows) {
                     Instruction instruction;
                     instruction.opcode = Opcode::vector_pool;
                     instruction.unified_buffer =
                         u32(plane_address(step.inputs.front(), plane, pass));
                     instruction.destination = u32(plane_address(step.output, plane, pass));
                     instruction.first = u32(first);
                     instruction.rows = u32(rows);
                     program_.instructions.push_back(instruction);
                   });
  }
}

void Emitter::emit_lookup_step(const Pass& pass, const Step& step, const LookupStep& work) {
  set(ConfigRegister::table, index_in(program_.tables, Table{work.lookup->table}));
  const Layout& out = tensor(step.output).layout;
  for (std::int64_t plane = 0; plane < out.planes(); ++plane) {
    const std::int64_t row_bytes = out.plane_channels(plane) * element_bytes_;
    for_each_piece(pass.count * out.shape.pixels(), kVectorRows, 1,
                   [&](std::int64_t first, std::int64_t rows) {
                     Instruction instruction;
                     instruction.opcode = Opcode::vector_lookup;
                     instruction.unified_buffer =
                         u32(plane_address(step.inputs.front(), plane, pass) + first * row_bytes);
                     instruction.destination =
                         u32(plane_address(step.output, plane, pass) + first * row_bytes);
                     instruction.rows = u32(rows);
                     instruction.row_bytes = u32(row_bytes);
                     program_.instructions.push_back(instruction);
                   });
  }
}

}  // namespace tilewave::sim
