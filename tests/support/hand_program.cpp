#include "tests/support/hand_program.h"

#include <utility>

namespace tilewave::test {
namespace {

std::uint32_t u32(std::int64_t value) {
  return static_cast<std::uint32_t>(value);
}

sim::Instruction set(sim::ConfigRegister reg, std::uint32_t value) {
  sim::Instruction instruction;
  instruction.opcode = sim::Opcode::set_config;
  instruction.reg = reg;
  instruction.value = value;
  return instruction;
}

sim::Instruction transfer(sim::Opcode opcode, std::uint32_t address, std::int64_t bytes) {
  sim::Instruction instruction;
  instruction.opcode = opcode;
  instruction.space =
      opcode == sim::Opcode::read_host ? sim::HostSpace::input : sim::HostSpace::output;
  instruction.unified_buffer = address;
  instruction.rows = 1;
  instruction.row_bytes = instruction.stride = instruction.stride_b = u32(bytes);
  return instruction;
}

void add_tables(sim::Program& program, std::int64_t rows, std::int64_t cols, std::int64_t tiles) {
  sim::Setup setup;
  setup.source = program.input.layout;
  setup.images = program.batch;
  setup.channel_count = rows;
  program.setups = {setup};
  sim::Columns columns;
  columns.bias.assign(static_cast<std::size_t>(cols), 0);
  columns.requantizer.multiplier.assign(static_cast<std::size_t>(cols), 0.5F);
  program.columns = {columns};
  program.layers = {{"chain", "Gemm", 1, cols, rows * tiles, 1, tiles, 0}};
  program.tiles = {{rows, cols, 0, rows * cols}};
  program.weights.assign(static_cast<std::size_t>(rows * cols), 1);
}

}  // namespace

sim::Chip frictionless_chip(std::int64_t rows, std::int64_t cols) {
  sim::Chip chip;
  chip.name = "frictionless";
  chip.array.rows = rows;
  chip.array.cols = cols;
  chip.accumulators.depth = 1 << 20;
  chip.unified_buffer = {1 << 21, 1 << 30};
  chip.weight_memory.bandwidth.reset();
  chip.weight_memory.latency_ns = 0;
  chip.host_link = {std::nullopt, 0};
  chip.activation_unit.pipeline_depth = 0;
  chip.sequencer.issue_cycles = 0;
  return chip;
}

sim::Program tile_chain(std::int64_t rows, std::int64_t cols, std::int64_t batch,
                        std::int64_t tiles) {
  sim::Program program;
  program.name = "chain";
  program.batch = batch;
  program.input.layout = {{1, 1, rows}, rows};
  program.output.layout = {{1, 1, cols}, cols};
  program.unified_buffer_peak = batch * (rows + cols);
  add_tables(program, rows, cols, tiles);
  auto& code = program.instructions;
  code = {set(sim::ConfigRegister::layer, 0), set(sim::ConfigRegister::setup, 0),
          set(sim::ConfigRegister::columns, 0), transfer(sim::Opcode::read_host, 0, batch * rows)};
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    sim::Instruction read;
    read.opcode = sim::Opcode::read_weights;
    code.push_back(read);
    sim::Instruction multiply;
    multiply.opcode = sim::Opcode::matmul;
    multiply.rows = u32(batch);
    multiply.next_tile = true;
    multiply.accumulate = tile > 0;
    code.push_back(multiply);
  }
  sim::Instruction activate;
  activate.opcode = sim::Opcode::activate;
  activate.rows = u32(batch);
  activate.unified_buffer = u32(batch * rows);
  code.push_back(activate);
  code.push_back(transfer(sim::Opcode::write_host, u32(batch * rows), batch * cols));
  sim::Instruction halt;
  halt.opcode = sim::Opcode::halt;
  code.push_back(halt);
  return program;
}

}  // namespace tilewave::test
