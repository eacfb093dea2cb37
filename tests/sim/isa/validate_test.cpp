#include <catch2/catch.hpp>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "sim/isa/program.h"
#include "tests/support/small_program.h"

namespace tilewave::sim {
namespace {

using test::small_program;

std::string error_of(const Program& program) {
  try {
    validate(program, "p");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// What validate says of the small program after `change`.
template <typename Change>
std::string error_after(Change change) {
  Program program = small_program();
  change(program);
  return error_of(program);
}

TEST_CASE("the small program is well formed") {
  CHECK(error_of(small_program()) == "no error");
}

Instruction& find(Program& program, Opcode opcode) {
  for (Instruction& i : program.instructions) {
    if (i.opcode == opcode) return i;
  }
  throw std::logic_error("no such instruction");
}

TEST_CASE("sizes and formats of the program are checked") {
  CHECK(error_after([](Program& p) { p.batch = 0; }) == "p: batch is 0 (1 to 2147483647)");
  CHECK(error_after([](Program& p) { p.activation_format.bits = 9; }) ==
        "p: the activation format has 9 bits (2 to 8 bits, or 16 signed bits)");
  CHECK(error_after([](Program& p) {
          p.weight_format = {16, false, false};
        }) == "p: the weight format has 16 unsigned bits (2 to 8 bits, or 16 signed bits)");
  CHECK(error_after([](Program& p) { p.host_scratch_bytes = -1; }) ==
        "p: host_scratch_bytes is -1 (0 to 281474976710656)");
  CHECK(error_after([](Program& p) {
          p.ping_pong = {0xfffffffe, 2};
        }) == "p: the end of the ping-pong window is 4294967298 (0 to 4294967296)");
  CHECK(error_after([](Program& p) { p.input.layout.shape.channels = 0; }) ==
        "p: input's channels is 0 (1 to 2147483647)");
  CHECK(error_after([](Program& p) { p.output.layout.block = 0; }) ==
        "p: output's block is 0 (1 to 2147483647)");
  CHECK(error_after([](Program& p) {
          p.input.layout.shape = {1 << 20, 1 << 20, 1 << 20};
        }) ==
        "p: input of 1 times 1048576x1048576x1048576 elements is too large (at most "
        "281474976710656 bytes)");
  CHECK(error_after([](Program& p) { p.input.quantization.scale = 0; }) ==
        "p: input's scale is 0.000000 (above 0)");
  CHECK(error_after([](Program& p) { p.input.quantization.zero_point = 8; }) ==
        "p: input's zero_point is 8 (-8 to 7)");
  CHECK(error_after([](Program& p) { p.output.quantization.format.bits = 8; }) ==
        "p: output has another format than the program's activations");
  CHECK(error_after([](Program& p) { p.input.bits = 1; }) == "p: input's bits is 1 (2 to 4)");
  CHECK(error_after([](Program& p) { p.output.bits = 5; }) == "p: output's bits is 5 (2 to 4)");
  CHECK(error_after([](Program& p) { p.input.bits = 3; }) ==
        "p: input has another format than the program's activations");
}

TEST_CASE("table entries are checked") {
  CHECK(error_after([](Program& p) { p.layers[1].groups = 0; }) ==
        "p: layer 1: groups is 0 (1 to 2147483647)");
  CHECK(error_after([](Program& p) { p.layers[0].m = p.layers[0].n = p.layers[0].k = 1 << 20; }) ==
        "p: layer 0: m * n * k * groups is too large (at most 281474976710656)");
  CHECK(error_after([](Program& p) { p.setups[0].images = 0; }) ==
        "p: setup 0: images is 0 (1 to 2147483647)");
  CHECK(error_after([](Program& p) { p.setups[0].window.stride_width = 0; }) ==
        "p: setup 0: stride width is 0 (1 to 2147483647)");
  CHECK(error_after([](Program& p) { p.setups[0].window.pad_right = 0; }) ==
        "p: setup 0: output is 4x4x2 (the window gives 4x3 pixels)");
  CHECK(error_after([](Program& p) { p.setups[0].channel_first = 1; }) ==
        "p: setup 0: channel_first is 1 (0)");
  CHECK(error_after([](Program& p) { p.setups[0].channel_count = 2; }) ==
        "p: setup 0: channel_count is 2 (1)");
  CHECK(error_after([](Program& p) { p.setups[0].zero_point = -9; }) ==
        "p: setup 0: zero_point is -9 (-8 to 7)");
  CHECK(error_after([](Program& p) { p.setups[0].images = 1 << 30; }) ==
        "p: setup 0: source of 1073741824 times 4x4x1 elements is too large (at most 4294967296 "
        "bytes)");
  CHECK(error_after([](Program& p) { p.columns[0].bias = {}; }) ==
        "p: columns 0: the number of biases is 0 (1 to 2147483647)");
  CHECK(error_after([](Program& p) { p.columns[0].bias.push_back(1); }) ==
        "p: columns 0: multiplier has 2 entries (one per bias: 3)");
  CHECK(error_after([](Program& p) { p.columns[0].requantizer.fixed_point.resize(2); }) ==
        "p: columns 0: fixed_point has 2 entries (none in this mode)");
  CHECK(error_after([](Program& p) { p.columns[0].requantizer.multiplier[1] = -1; }) ==
        "p: columns 0: a multiplier is -1.000000 (finite, not negative)");
  CHECK(error_after([](Program& p) { p.columns[0].requantizer.low = 8; }) ==
        "p: columns 0: low is 8 (-8 to 7)");
  CHECK(error_after([](Program& p) {
          quant::Requantizer& r = p.columns[0].requantizer;
          r.mode = quant::RequantizeMode::fixed_point;
          r.multiplier = {};
          r.fixed_point = {{0, 0}, {1, 0}};
        }) == "p: columns 0: fixed_point's q31 is 1 (1073741824 to 2147483647)");
  CHECK(error_after([](Program& p) { p.pools[0].output.height = 3; }) ==
        "p: pool 0: output is 3x2x2 (the window gives 2x2 pixels)");
  CHECK(error_after([](Program& p) { p.pools[0].output.channels = 3; }) ==
        "p: pool 0: output has 3 channels (as many as the input: 2)");
  CHECK(error_after([](Program& p) { p.pools[1].pad_value = 8; }) ==
        "p: pool 1: pad_value is 8 (-8 to 7)");
  CHECK(error_after([](Program& p) {
          p.pools[1].window.kernel_height = p.pools[1].window.kernel_width = 20000;
          p.pools[1].input = {20000, 20000, 2};
        }) ==
        "p: pool 1: the window is too large for the 32-bit sum of an average (at most 268435455 "
        "places)");
  CHECK(error_after([](Program& p) { p.adds[0].b_stride = 1; }) ==
        "p: add 0: b_stride is 1 (2 to 2147483647)");
  CHECK(error_after([](Program& p) { p.adds[0].adder.left_shift = 32; }) ==
        "p: add 0: left_shift is 32 (0 to 31)");
  CHECK(error_after([](Program& p) { p.adds[0].adder.y_fixed.exponent = 32; }) ==
        "p: add 0: y_fixed's exponent is 32 (-31 to 31)");
  CHECK(error_after([](Program& p) { p.tables[0].values.pop_back(); }) ==
        "p: table 0: has 15 values (one per activation: 16)");
  CHECK(error_after([](Program& p) { p.tables[0].values[3] = 8; }) ==
        "p: table 0: a value is 8 (-8 to 7)");
  CHECK(error_after([](Program& p) { p.tiles[0].rows = 0; }) ==
        "p: tile 0: rows is 0 (1 to 2147483647)");
  CHECK(error_after([](Program& p) { p.tiles[0].useful = 9; }) ==
        "p: tile 0: useful is 9 (0 to 8)");
  CHECK(error_after([](Program& p) { p.tiles[0].offset = 1; }) == "p: tile 0: offset is 1 (0)");
  CHECK(error_after([](Program& p) { p.tiles[0].rows = 5; }) ==
        "p: tile 0: needs 10 weights (there are 8 left)");
  CHECK(error_after([](Program& p) { p.weights.push_back(1); }) ==
        "p: 1 weights belong to no tile");
  CHECK(error_after([](Program& p) { p.weights[7] = -128; }) ==
        "p: tile 0: a weight is -128 (-127 to 127)");
}

TEST_CASE("the program ends in its only halt") {
  CHECK(error_after([](Program& p) { p.instructions.clear(); }) ==
        "p: there are no instructions (the last must be halt)");
  CHECK(error_after([](Program& p) { p.instructions.pop_back(); }) ==
        "p: instruction 20 (set_config): the last must be halt");
  CHECK(error_after([](Program& p) { p.instructions[8] = p.instructions.back(); }) ==
        "p: instruction 8 (halt): halt before the end of the program");
}

TEST_CASE("registers hold entries that exist and are set before use") {
  CHECK(error_after([](Program& p) { p.instructions[1].value = 1; }) ==
        "p: instruction 1 (set_config): setup 1 does not exist (the program has 1)");
  CHECK(error_after([](Program& p) { p.instructions[1].value = kNone; }) ==
        "p: instruction 1 (set_config): setup 4294967295 does not exist (the program has 1)");
  const auto error_without = [](std::size_t config) {
    return error_after([config](Program& p) { p.instructions[config] = {}; });
  };
  CHECK(error_without(0) ==
        "p: instruction 4 (read_host): needs register layer, which is not set (set_config before "
        "it)");
  CHECK(error_without(1) ==
        "p: instruction 6 (matmul): needs register setup, which is not set (set_config before it)");
  CHECK(error_without(2) ==
        "p: instruction 6 (matmul): needs register columns, which is not set (set_config before "
        "it)");
  CHECK(error_without(13) ==
        "p: instruction 14 (vector_lookup): needs register table, which is not set (set_config "
        "before it)");
  CHECK(error_without(15) ==
        "p: instruction 16 (vector_add): needs register add, which is not set (set_config before "
        "it)");
  CHECK(error_after([](Program& p) { p.instructions[11].value = kNone; }) ==
        "p: instruction 12 (vector_pool): needs register pool, which is not set (set_config before "
        "it)");
}

TEST_CASE("an instruction's unused fields are zero") {
  CHECK(error_after([](Program& p) { find(p, Opcode::sync).rows = 1; }) ==
        "p: instruction 9 (sync): sync does not use rows, which is not zero");
}

TEST_CASE("weights are read before a multiply takes them, each once") {
  CHECK(error_after([](Program& p) { find(p, Opcode::read_weights).value = 1; }) ==
        "p: instruction 5 (read_weights): tile 1 does not exist (the program has 1)");
  CHECK(error_after([](Program& p) { std::swap(p.instructions[5], p.instructions[6]); }) ==
        "p: instruction 5 (matmul): takes the next tile, but none was read");
  CHECK(error_after([](Program& p) { find(p, Opcode::matmul).next_tile = false; }) ==
        "p: instruction 6 (matmul): there is no tile in the array (next_tile on the first "
        "multiply)");
  CHECK(error_after([](Program& p) { p.instructions[8] = find(p, Opcode::read_weights); }) ==
        "p: instruction 21 (halt): read_weights comes 2 times and next_tile 1 (as many of the one "
        "as of the other)");
}

TEST_CASE("a multiply fits its tile, columns, output and accumulators") {
  CHECK(error_after([](Program& p) { find(p, Opcode::matmul).rows = 0; }) ==
        "p: instruction 6 (matmul): rows is 0 (1 to 4294967295)");
  CHECK(error_after([](Program& p) { find(p, Opcode::matmul).value = 1; }) ==
        "p: instruction 6 (matmul): the tile's last row, k + rows, is 5 (1 to 4)");
  CHECK(error_after([](Program& p) { find(p, Opcode::matmul).first = 1; }) ==
        "p: instruction 6 (matmul): the last output pixel, first + rows, is 17 (1 to 16)");
  CHECK(error_after([](Program& p) { find(p, Opcode::matmul).accumulator = 0xfffffff1; }) ==
        "p: instruction 6 (matmul): the last accumulator row, acc + rows, is 4294967297 (1 to "
        "4294967296)");
  CHECK(error_after([](Program& p) {
          p.columns[0].bias = {1};
          p.columns[0].requantizer.multiplier = {1};
        }) == "p: instruction 6 (matmul): the tile's cols is 2 (1)");
  CHECK(error_after([](Program& p) { find(p, Opcode::matmul).unified_buffer = 0xfffffff1; }) ==
        "p: instruction 6 (matmul): ub passes the last address of 32 bits");
}

TEST_CASE("buffer ranges do not cross an edge of the ping-pong window") {
  CHECK(error_after([](Program& p) { find(p, Opcode::matmul).unified_buffer = 49; }) ==
        "p: instruction 6 (matmul): ub's 16 bytes at 49 cross an edge of the ping-pong window "
        "(edges at 0, 64 and 128)");
  CHECK(error_after([](Program& p) { find(p, Opcode::matmul).unified_buffer = 48; }) == "no error");
  CHECK(error_after([](Program& p) { find(p, Opcode::activate).unified_buffer = 121; }) ==
        "p: instruction 7 (activate): ub's 8 bytes at 121 cross an edge of the ping-pong window "
        "(edges at 0, 64 and 128)");
}

TEST_CASE("pooling in the activation unit takes whole windows of rows") {
  // Bands of 2 pixel rows of 4 pixels, since kernel and stride are equal and divide the height.
  CHECK(error_after([](Program& p) { find(p, Opcode::activate).rows = 8; }) == "no error");
  CHECK(error_after([](Program& p) { find(p, Opcode::activate).first = 8; }) == "no error");
  CHECK(error_after([](Program& p) { find(p, Opcode::activate).rows = 12; }) ==
        "p: instruction 7 (activate): first 0 and rows 12 are not whole pooling windows "
        "(multiples of 8)");
  CHECK(error_after([](Program& p) { find(p, Opcode::activate).first = 4; }) ==
        "p: instruction 7 (activate): first 4 and rows 16 are not whole pooling windows "
        "(multiples of 8)");
  CHECK(error_after([](Program& p) {
          p.pools[0].window.stride_height = 1;
          p.pools[0].output.height = 3;
          find(p, Opcode::activate).rows = 8;
        }) ==
        "p: instruction 7 (activate): first 0 and rows 8 are not whole pooling windows "
        "(multiples of 16)");
  CHECK(error_after([](Program& p) {
          p.pools[0].input.channels = p.pools[0].output.channels = 3;
        }) == "p: instruction 7 (activate): the pool has 3 channels (as many as columns: 2)");
  CHECK(error_after([](Program& p) { find(p, Opcode::activate).unified_buffer = 0xfffffff9; }) ==
        "p: instruction 7 (activate): ub passes the last address of 32 bits");
}

TEST_CASE("host transfers stay in their tensors") {
  CHECK(error_after([](Program& p) { find(p, Opcode::read_host).host = 1; }) ==
        "p: instruction 4 (read_host): passes the end of the host's input (16 bytes)");
  CHECK(error_after([](Program& p) { find(p, Opcode::read_host).host = UINT64_MAX; }) ==
        "p: instruction 4 (read_host): passes the end of the host's input (16 bytes)");
  CHECK(error_after([](Program& p) { find(p, Opcode::read_host).row_bytes = 0; }) ==
        "p: instruction 4 (read_host): row_bytes is 0 (1 to 4294967295)");
  CHECK(error_after([](Program& p) {
          Instruction& i = find(p, Opcode::read_host);
          i.rows = 2;
          i.row_bytes = 8;
        }) == "p: instruction 4 (read_host): host_stride is 0 (8 to 4294967295)");
  CHECK(error_after([](Program& p) {
          Instruction& i = find(p, Opcode::read_host);
          i.rows = 2;
          i.row_bytes = i.stride = 8;
          i.stride_b = 7;
        }) == "p: instruction 4 (read_host): ub_stride is 7 (8 to 4294967295)");
  CHECK(error_after([](Program& p) { find(p, Opcode::write_host).space = HostSpace::input; }) ==
        "p: instruction 17 (write_host): writes to the host's input (output or scratch)");
  CHECK(error_after([](Program& p) { find(p, Opcode::write_host).host = 15; }) ==
        "p: instruction 17 (write_host): passes the end of the host's scratch (16 bytes)");
  CHECK(error_after([](Program& p) {
          Instruction& i = find(p, Opcode::read_host);
          i.rows = i.row_bytes = i.stride = i.stride_b = 0xffffffff;
        }) == "p: instruction 4 (read_host): passes the end of the host's input (16 bytes)");
}

TEST_CASE("vector instructions stay within the addresses") {
  CHECK(error_after([](Program& p) { find(p, Opcode::vector_pool).rows = 0xffffffff; }) ==
        "p: instruction 12 (vector_pool): ub passes the last address of 32 bits");
  CHECK(error_after([](Program& p) { find(p, Opcode::vector_pool).destination = 0xffffffff; }) ==
        "p: instruction 12 (vector_pool): to passes the last address of 32 bits");
  CHECK(error_after([](Program& p) { find(p, Opcode::vector_add).source_b = 0xffffffff; }) ==
        "p: instruction 16 (vector_add): b passes the last address of 32 bits");
  CHECK(error_after([](Program& p) {
          find(p, Opcode::vector_lookup).unified_buffer = 0xffffffff;
        }) == "p: instruction 14 (vector_lookup): ub passes the last address of 32 bits");
  CHECK(error_after([](Program& p) {
          p.activation_format.bits = 16;
          p.input.quantization.format.bits = p.output.quantization.format.bits = 16;
          p.tables[0].values.resize(65536);
          p.adds[0].adder.left_shift = 15;
          find(p, Opcode::read_host).row_bytes = 32;
          find(p, Opcode::vector_lookup).row_bytes = 3;
        }) == "p: instruction 14 (vector_lookup): row_bytes is 3 (whole activations)");
}

}  // namespace
}  // namespace tilewave::sim
