#include "sim/compiler/emitter.h"

#include <algorithm>

#include "base/error.h"
#include "sim/compiler/pieces.h"

namespace tilewave::sim {

Emitter::Emitter(const LoweredNetwork& network, const Chip& chip, const BufferPlan& plan,
                 Program& program, const std::stop_token& stop)
    : network_(network),
      chip_(chip),
      plan_(plan),
      program_(program),
      stop_(stop),
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
    check_stop(stop_);
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

void Emitter::emit(const Pass& pass) {
  set(ConfigRegister::layer, 0);
  if (!is_spilled(0)) emit_transfer(pass, Opcode::read_host, whole(0, pass));
  for (std::size_t number = 0; number < network_.steps.size(); ++number) {
    set(ConfigRegister::layer, u32(static_cast<std::int64_t>(number)));
    if (plan_.bands[number].rows > 0) {
      emit_bands(pass, number);
    } else {
      emit_step(number, whole_band(pass, number));
    }
  }
  if (!is_spilled(network_.output)) {
    emit_transfer(pass, Opcode::write_host, whole(network_.output, pass));
  }
}

void Emitter::finish() {
  Instruction halt;
  halt.opcode = Opcode::halt;
  program_.instructions.push_back(halt);
}

/// With two buffers the next band comes in while one is worked on.
void Emitter::emit_bands(const Pass& pass, std::size_t number) {
  const StepBands& bands = plan_.bands[number];
  const auto read = [&](const Band& band) {
    for (const Operand& operand : band.reads) emit_transfer(pass, Opcode::read_host, operand);
  };
  program_.layers[number].bands = bands.count;
  for (std::int64_t index = 0; index < bands.count; ++index) {
    const Band band = make_band(pass, number, index);
    if (index == 0 || bands.buffers == 1) read(band);
    if (index + 1 < bands.count && bands.buffers > 1) read(make_band(pass, number, index + 1));
    emit_step(number, band);
    if (is_spilled(band.output.tensor)) emit_transfer(pass, Opcode::write_host, band.output);
  }
}

void Emitter::emit_step(std::size_t number, const Band& band) {
  check_stop(stop_);
  const Step& step = network_.steps[number];
  if (const auto* matrix = std::get_if<MatrixStep>(&step.work)) {
    emit_matrix_step(tiled_[number], *matrix, band);
  } else if (const auto* add = std::get_if<AddStep>(&step.work)) {
    emit_add_step(*add, band);
  } else if (const auto* pool = std::get_if<PoolStep>(&step.work)) {
    emit_pool_step(*pool, band);
  } else {
    emit_lookup_step(std::get<LookupStep>(step.work), band);
  }
}

Emitter::Operand Emitter::whole(int id, const Pass& pass) const {
  Operand operand{
      id, tensor(id).layout, {}, plan_.address[static_cast<std::size_t>(id)], pass.count};
  operand.rows.end = operand.layout.shape.height;
  const bool alternates = id == 0 || id == network_.output;
  if (alternates) operand.address += pass.half * std::int64_t{plan_.ping_pong.half};
  return operand;
}

Emitter::Band Emitter::whole_band(const Pass& pass, std::size_t number) const {
  const Step& step = network_.steps[number];
  Band band;
  for (const int input : step.inputs) band.inputs.push_back(whole(input, pass));
  band.output = whole(step.output, pass);
  band.rows = band.output.rows;
  return band;
}

Emitter::Band Emitter::make_band(const Pass& pass, std::size_t number, std::int64_t index) const {
  const Step& step = network_.steps[number];
  const StepBands& bands = plan_.bands[number];
  Band band = whole_band(pass, number);
  band.is_first = index == 0;
  band.rows = {index * bands.rows, std::min((index + 1) * bands.rows, band.output.rows.end)};
  std::int64_t address = bands.address + index % bands.buffers * bands.bytes;
  const auto stage = [&](Operand& operand, Rows rows) {
    operand.rows = rows;
    operand.layout.shape.height = rows.count();
    operand.address = address;
  };
  for (const int id : staged_tensors(step, plan_.spilled)) {
    if (id == step.output) {
      stage(band.output, band.rows);
      continue;
    }
    for (Operand& input : band.inputs) {
      if (input.tensor == id) stage(input, input_rows(network_, step, band.rows));
    }
    band.reads.push_back(*std::find_if(band.inputs.begin(), band.inputs.end(),
                                       [&](const Operand& input) { return input.tensor == id; }));
    address += band.reads.back().layout.shape.elements() * element_bytes_;
  }
  return band;
}

std::int64_t Emitter::row_address(const Operand& operand, std::int64_t plane,
                                  std::int64_t row) const {
  const Layout& layout = operand.layout;
  const std::int64_t row_elements = layout.shape.width * layout.plane_channels(plane);
  return operand.address +
         (layout.plane_offset(plane, operand.images) + (row - operand.rows.begin) * row_elements) *
             element_bytes_;
}

HostSpace Emitter::host_space(Opcode opcode, int id) const {
  if (id == 0 && opcode == Opcode::read_host) return HostSpace::input;
  return id == network_.output ? HostSpace::output : HostSpace::scratch;
}

void Emitter::emit_transfer(const Pass& pass, Opcode opcode, const Operand& operand) {
  const Layout& layout = tensor(operand.tensor).layout;
  const HostSpace space = host_space(opcode, operand.tensor);
  const bool is_scratch = space == HostSpace::scratch;
  for (std::int64_t plane = 0; plane < layout.planes(); ++plane) {
    const std::int64_t row_elements = layout.shape.width * layout.plane_channels(plane);
    // The scratch space holds one image at a time, the others those of the whole launch.
    const std::int64_t images = is_scratch ? 1 : program_.batch;
    const std::int64_t first_row =
        (is_scratch ? 0 : pass.first * layout.shape.height) + operand.rows.begin;
    Instruction transfer;
    transfer.opcode = opcode;
    transfer.space = space;
    std::int64_t host =
        (layout.plane_offset(plane, images) + first_row * row_elements) * element_bytes_;
    if (is_scratch) host += plan_.scratch[static_cast<std::size_t>(operand.tensor)];
    transfer.host = static_cast<std::uint64_t>(host);
    transfer.unified_buffer = u32(row_address(operand, plane, operand.rows.begin));
    transfer.rows = 1;
    transfer.row_bytes = u32(operand.images * operand.rows.count() * row_elements * element_bytes_);
    transfer.stride = transfer.row_bytes;
    transfer.stride_b = transfer.row_bytes;
    program_.instructions.push_back(transfer);
    if (is_scratch) {
      const std::uint32_t layer = registers_[static_cast<std::size_t>(ConfigRegister::layer)];
      program_.layers[layer].spilled_bytes += transfer.row_bytes;
    }
  }
}

std::uint32_t Emitter::pool_for(const Pool& pool, std::int64_t channels) {
  Pool of_plane = pool;
  of_plane.input.channels = channels;
  of_plane.output.channels = channels;
  return index_in(program_.pools, of_plane);
}

}  // namespace tilewave::sim
