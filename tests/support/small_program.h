#pragma once

#include "sim/isa/program.h"

namespace tilewave::test {

/// A program of every opcode, by hand: 4 x 4 pixels of 4 bits, convolution of 2 x 2 "same" to 2
/// channels with max pooling, average pooling, a table, an addition.
inline sim::Program small_program() {
  using namespace sim;
  Program p;
  p.name = "small";
  p.activation_format = {4, true, false};
  p.weight_format = {8, true, true};
  p.input = {{{4, 4, 1}, 1}, {p.activation_format, 0.1f, -8}};
  p.output = {{{1, 1, 2}, 2}, {p.activation_format, 0.25f, 0}};
  p.host_scratch_bytes = 16;
  p.ping_pong = {0, 64};
  p.unified_buffer_peak = 256;

  models::Window same;
  same.kernel_height = same.kernel_width = 2;
  same.pad_bottom = same.pad_right = 1;
  models::Window halve;
  halve.kernel_height = halve.kernel_width = halve.stride_height = halve.stride_width = 2;
  p.layers = {{"conv \"1\" # first", "Conv", 16, 2, 4, 1, 1, 64},
              {"rest", "Add", 0, 0, 0, 1, 0, 4}};
  p.setups = {{{{4, 4, 1}, 1}, 1, same, {4, 4, 2}, 0, 1, -8}};
  Columns columns;
  columns.bias = {-5, 7};
  columns.requantizer.multiplier = {0.1f, 1e-20f};
  columns.requantizer.zero_point = 1;
  columns.requantizer.low = -8;
  columns.requantizer.high = 7;
  p.columns = {columns};
  p.pools = {{Pool::Kind::max, halve, {4, 4, 2}, {2, 2, 2}, false, -8, {}},
             {Pool::Kind::average,
              halve,
              {2, 2, 2},
              {1, 1, 2},
              true,
              1,
              quant::RequantizeMode::fixed_point}};
  VectorAdd add;
  add.width = add.a_stride = add.b_stride = add.destination_stride = 2;
  add.adder.low = -8;
  add.adder.high = 7;
  p.adds = {add};
  p.tables = {{{-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}}};
  p.tiles = {{4, 2, 0, 7}};
  p.weights = {1, -2, 3, 0, 127, -127, 5, 6};

  const auto config = [](ConfigRegister reg, std::uint32_t value) {
    Instruction i;
    i.opcode = Opcode::set_config;
    i.reg = reg;
    i.value = value;
    return i;
  };
  const auto host = [](Opcode opcode, HostSpace space, std::uint32_t buffer, std::uint32_t bytes) {
    Instruction i;
    i.opcode = opcode;
    i.space = space;
    i.unified_buffer = buffer;
    i.rows = 1;
    i.row_bytes = bytes;
    return i;
  };
  Instruction nop, sync, halt, weights, multiply, activate, pool, lookup, sum;
  sync.opcode = Opcode::sync;
  halt.opcode = Opcode::halt;
  weights.opcode = Opcode::read_weights;
  multiply.opcode = Opcode::matmul;
  multiply.rows = 16;
  multiply.next_tile = true;
  activate.opcode = Opcode::activate;
  activate.rows = 16;
  activate.unified_buffer = 0x80;
  pool.opcode = Opcode::vector_pool;
  pool.unified_buffer = 0x80;
  pool.destination = 0x90;
  pool.rows = 1;
  lookup.opcode = Opcode::vector_lookup;
  lookup.unified_buffer = 0x90;
  lookup.destination = 0x98;
  lookup.rows = 1;
  lookup.row_bytes = 2;
  sum.opcode = Opcode::vector_add;
  sum.unified_buffer = 0x90;
  sum.source_b = 0x98;
  sum.destination = 0xa0;
  sum.rows = 1;
  p.instructions = {config(ConfigRegister::layer, 0),
                    config(ConfigRegister::setup, 0),
                    config(ConfigRegister::columns, 0),
                    config(ConfigRegister::pool, 0),
                    host(Opcode::read_host, HostSpace::input, 0, 16),
                    weights,
                    multiply,
                    activate,
                    nop,
                    sync,
                    config(ConfigRegister::layer, 1),
                    config(ConfigRegister::pool, 1),
                    pool,
                    config(ConfigRegister::table, 0),
                    lookup,
                    config(ConfigRegister::add, 0),
                    sum,
                    host(Opcode::write_host, HostSpace::scratch, 0xa0, 2),
                    host(Opcode::read_host, HostSpace::scratch, 0xb0, 2),
                    host(Opcode::write_host, HostSpace::output, 0xb0, 2),
                    config(ConfigRegister::pool, kNone),
                    halt};
  return p;
}

}  // namespace tilewave::test
