#include <rapidcheck.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/isa/program.h"
#include "tests/support/random_program.h"
#include "tests/support/small_program.h"

namespace tilewave::sim {
namespace {

std::string error_of(const std::string& text) {
  try {
    assemble(text, "p.tws");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string source_file(const std::string& path) {
  std::ifstream file(TILEWAVE_SOURCE_DIR "/" + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string hello_text() {
  return source_file("tests/sim/isa/programs/hello_4x4.tws");
}

/// The error after the first `from` in the hello program has become `to`.
std::string error_after(const std::string& from, const std::string& to) {
  std::string text = hello_text();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return error_of(text.replace(at, from.size(), to));
}

TEST_CASE("a multiply written by hand is the program that it says") {
  const Program p = assemble(hello_text(), "hello_4x4.tws");
  CHECK(p.name == "hello 4x4");
  CHECK(p.unified_buffer_peak == 32);
  CHECK(p.input.layout == Layout{{2, 2, 4}, 4});
  CHECK(p.input.quantization.scale == 0.5f);
  CHECK(p.layers == std::vector<Layer>{{"hello", "Gemm", 4, 4, 4, 1, 1, 48}});
  REQUIRE(p.setups.size() == 1);
  CHECK(p.setups[0].source == Layout{{2, 2, 4}, 4});
  CHECK(p.setups[0].window == models::Window{});
  CHECK(p.setups[0].channel_count == 4);
  CHECK(p.columns[0].bias == std::vector<std::int32_t>{0, 0, 0, 100});
  CHECK(p.columns[0].requantizer.multiplier == std::vector<float>(4, 0.5f));
  CHECK(p.tiles == std::vector<Tile>{{4, 4, 0, 16}});
  CHECK(p.weights == std::vector<std::int16_t>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, -1});
  REQUIRE(p.instructions.size() == 9);
  Instruction multiply;
  multiply.opcode = Opcode::matmul;
  multiply.rows = 4;
  multiply.next_tile = true;
  CHECK(p.instructions[5] == multiply);
  CHECK(p.instructions[6].unified_buffer == 16);
  CHECK(p.instructions[7].space == HostSpace::output);
}

TEST_CASE("the example of the documentation is the program that is tested") {
  CHECK_THAT(source_file("docs/isa.md"), Catch::Contains("```\n" + hello_text() + "```\n"));
}

TEST_CASE("random programs use every instruction, with several planes, tiles and pools") {
  std::vector<int> uses(kOpcodes);
  bool has_planes = false, has_partial_sums = false, has_pools = false;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const Program program = test::random_program(seed);
    for (const Instruction& i : program.instructions) {
      ++uses[static_cast<std::size_t>(i.opcode)];
      has_partial_sums = has_partial_sums || i.accumulate;
    }
    for (const Setup& setup : program.setups) {
      has_planes = has_planes || setup.source.planes() > 1;
    }
    has_pools = has_pools || !program.pools.empty();
  }
  for (int opcode = 0; opcode < kOpcodes; ++opcode) {
    INFO(mnemonic(static_cast<Opcode>(opcode)));
    CHECK(uses[static_cast<std::size_t>(opcode)] > 10);
  }
  CHECK(has_planes);
  CHECK(has_partial_sums);
  CHECK(has_pools);
}

TEST_CASE("the disassembly of the small program reads as expected") {
  // Pinned: a change of the text form is to be seen here and in docs/isa.md.
  CHECK(
      disassemble(test::small_program()) ==
      R"(.program name="small" activation_bits=4 weight_symmetric=true host_scratch_bytes=16 ping_pong=0,64 unified_buffer_peak=256
.input shape=4x4x1 block=1 scale=0.1 zero_point=-8
.output shape=1x1x2 block=2 scale=0.25
.layer 0 name="conv \"1\" # first" operation="Conv" m=16 n=2 k=4 tiles=1 compulsory_bytes=64
.layer 1 name="rest" operation="Add" compulsory_bytes=4
.setup 0 source=4x4x1 block=1 kernel=2x2 pad=0,0,1,1 output=4x4x2 zero_point=-8
.columns 0 bias=[-5,7] multiplier=[0.1,1e-20] zero_point=1 low=-8 high=7
.pool 0 kernel=2x2 stride=2x2 input=4x4x2 output=2x2x2 pad_value=-8
.pool 1 kind=average kernel=2x2 stride=2x2 input=2x2x2 output=1x1x2 count_include_pad=true pad_value=1 mode=fixed_point
.add 0 width=2 a_stride=2 b_stride=2 to_stride=2 low=-8 high=7
.table 0 values=[-8,-7,-6,-5,-4,-3,-2,-1,0,1,2,3,4,5,6,7]
.tile 0 useful=7 weights=[[1,-2],[3,0],[127,-127],[5,6]]

set_config layer, 0  # "conv \"1\" # first"
set_config setup, 0
set_config columns, 0
set_config pool, 0
read_host input, host=0x0 ub=0x0 rows=1 row_bytes=16 host_stride=0 ub_stride=0
read_weights 0
matmul ub=0x0 acc=0 first=0 rows=16 k=0 next_tile
activate acc=0 rows=16 ub=0x80 first=0
nop
sync
set_config layer, 1  # "rest"
set_config pool, 1
vector_pool ub=0x80 to=0x90 first=0 rows=1
set_config table, 0
vector_lookup ub=0x90 to=0x98 rows=1 row_bytes=2
set_config add, 0
vector_add a=0x90 b=0x98 to=0xa0 rows=1
write_host scratch, host=0x0 ub=0xa0 rows=1 row_bytes=2 host_stride=0 ub_stride=0
read_host scratch, host=0x0 ub=0xb0 rows=1 row_bytes=2 host_stride=0 ub_stride=0
write_host output, host=0x0 ub=0xb0 rows=1 row_bytes=2 host_stride=0 ub_stride=0
set_config pool, none
halt
)");
}

TEST_CASE("programs survive disassembly and assembly") {
  const Program program = test::small_program();
  CHECK(assemble(disassemble(program), "p.tws") == program);
  REQUIRE(rc::check([](std::uint32_t seed) {
    const Program random = test::random_program(seed);
    RC_ASSERT(assemble(disassemble(random), "p.tws") == random);
  }));
}

TEST_CASE("any text survives as a name, and any float as a scale") {
  REQUIRE(rc::check([](const std::string& name, std::uint32_t scale_bits) {
    Program program = test::small_program();
    program.layers[0].name = name;
    program.name = name;
    // Positive and finite, subnormals included.
    const std::uint32_t bits = scale_bits % 0x7f7fffff + 1;
    program.input.quantization.scale = std::bit_cast<float>(bits);
    RC_ASSERT(assemble(disassemble(program), "p.tws") == program);
  }));
}

TEST_CASE("blanks, commas, comments, case of numbers and line ends are free") {
  const std::string text = hello_text();
  std::string windows;
  for (const char c : text) windows += c == '\n' ? "\r\n" : std::string(1, c);
  CHECK(assemble(windows, "p") == assemble(text, "p"));
  CHECK(error_after("set_config layer, 0", "\t set_config  layer 0x0 # comment # more") ==
        "no error");
  CHECK(error_after("ub=0x10 first=0", "ub=16") == "no error");
  CHECK(error_after("name=\"hello 4x4\"", "name=hello") == "no error");
}

TEST_CASE("the assembler names line, mistake and what is near") {
  CHECK(error_after("matmul ub", "matmull ub") ==
        "p.tws:15: unknown instruction 'matmull' (did you mean matmul?)");
  CHECK(error_after("halt", "zzzzzzzz") ==
        "p.tws:18: unknown instruction 'zzzzzzzz' (one of nop, halt, sync, set_config, read_host, "
        "write_host, read_weights, matmul, activate, vector_add, vector_pool, vector_lookup)");
  CHECK(error_after(".tile 0", ".tyle 0") ==
        "p.tws:8: unknown directive '.tyle' (did you mean .tile?)");
  CHECK(error_after("unified_buffer_peak", "unified_bufer_peak") ==
        "p.tws:2: .program: unknown key 'unified_bufer_peak' (did you mean unified_buffer_peak?)");
  CHECK(error_after("batch=1", "batch=one") ==
        "p.tws:2: .program: batch is 'one' (a whole number)");
  CHECK(error_after("batch=1", "batch=1x") == "p.tws:2: .program: batch is '1x' (a whole number)");
  CHECK(error_after("batch=1", "batch=99999999999999999999") ==
        "p.tws:2: .program: batch is '99999999999999999999' (a whole number)");
  CHECK(error_after("batch=1", "batch") == "p.tws:2: .program: 'batch' is no operand (key=value)");
  CHECK(error_after("batch=1", "batch=1 batch=1") == "p.tws:2: .program: batch is given twice");
  CHECK(error_after("batch=1", "activation_signed=yes") ==
        "p.tws:2: .program: activation_signed is 'yes' (true or false)");
  CHECK(error_after("batch=1", "ping_pong=1") ==
        "p.tws:2: .program: ping_pong is '1' (2 numbers with , between, each a whole number, 0 to "
        "4294967295)");
  CHECK(error_after("batch=1", "activation_bits=2147483648") ==
        "p.tws:2: .program: activation_bits is '2147483648' (a whole number, -2147483648 to "
        "2147483647)");
  CHECK(error_after("scale=0.5", "scale=half") ==
        "p.tws:3: .input: scale is 'half' (a number that fits a float)");
  CHECK(error_after("scale=0.5", "scale=1e39") ==
        "p.tws:3: .input: scale is '1e39' (a number that fits a float)");
  CHECK(error_after("shape=2x2x4", "shape=2x2") ==
        "p.tws:3: .input: shape is '2x2' (3 numbers with x between, each a whole number)");
  CHECK(error_after("name=\"hello\"", "name=\"hel\\lo\"") ==
        "p.tws:5: .layer: name is '\"hel\\lo\"' (text in quotes, with \\\", \\\\ and \\xNN)");
  CHECK(error_after("name=\"hello\"", "name=\"hello") ==
        "p.tws:5: a quote is not closed on its line");
  CHECK(error_after("[0,0,0,100]", "[0,0,0,100") ==
        "p.tws:7: a bracket '[' is not closed on its line");
  CHECK(error_after("[0,0,0,100]", "0,0,0,100]") == "p.tws:7: a bracket ']' closes nothing");
  CHECK(error_after("[0,0,0,100]", "[0,0,0,x]") ==
        "p.tws:7: .columns: bias is '[0,0,0,x]' (a list [..., ...], each a whole number, "
        "-2147483648 to 2147483647)");
  CHECK(error_after("multiplier", "mode=flaot multiplier") ==
        "p.tws:7: .columns: mode is 'flaot' (float or fixed_point or fixed_point_single_rounding)");
  CHECK(error_after("multiplier=[0.5,0.5,0.5,0.5]", "fixed_point=[1]") ==
        "p.tws:7: .columns: fixed_point is '[1]' (a list [..., ...], each q31:exponent)");
  CHECK(error_after("[0,1,0,0]", "[0,1,0]") ==
        "p.tws:8: .tile: weights has rows of 4 and of 3 values");
  CHECK(error_after("[0,1,0,0]", "[0,32768,0,0]") ==
        "p.tws:8: .tile: weights is '[[1,0,0,0], [0,32768,0,0], [0,0,2,0], [0...' (a list [..., "
        "...], each a list [..., ...], each a whole number, -32768 to 32767)");
  CHECK(error_after(".tile 0", ".tile 1") == "p.tws:8: .tile: the number is '1' (0 comes next)");
  CHECK(error_after(".tile 0 weights=", ".tile ") ==
        "p.tws:8: .tile: the number is '[[1,0,0,0], [0,1,0,0], [0,0,2,0], [0,0,0...' (0 comes "
        "next)");
  CHECK(error_after(".layer 0 name=\"hello\" operation=\"Gemm\" m=4 n=4 k=4 tiles=1 "
                    "compulsory_bytes=48",
                    ".layer") == "p.tws:5: .layer: the number is missing (0 comes next)");
  CHECK(error_after(".layer 0", ".program") ==
        "p.tws:5: .program is given twice (once; see line 2)");
  CHECK(error_after(".input", "#") == "p.tws: there is no .input");
  CHECK(error_of("") == "p.tws: there is no .program");
}

TEST_CASE("the assembler checks an instruction's operands") {
  CHECK(error_after("set_config layer, 0", "set_config") ==
        "p.tws:10: set_config needs its register");
  CHECK(error_after("set_config layer, 0", "set_config layer") ==
        "p.tws:10: set_config needs its value");
  CHECK(error_after("set_config layer, 0", "set_config layers, 0") ==
        "p.tws:10: set_config: unknown register 'layers' (did you mean layer?)");
  CHECK(error_after("set_config layer, 0", "set_config layer, zero") ==
        "p.tws:10: set_config: value is 'zero' (a whole number, 0 to 4294967295)");
  CHECK(error_after("set_config layer, 0", "set_config layer, 0 0") ==
        "p.tws:10: set_config: unknown operand '0' (nothing more)");
  CHECK(error_after("read_host input", "read_host inputs") ==
        "p.tws:13: read_host: unknown space 'inputs' (did you mean input?)");
  CHECK(error_after("rows=1 row_bytes", "rows=1 row_byte") ==
        "p.tws:13: read_host: unknown operand 'row_byte' (did you mean row_bytes?)");
  CHECK(error_after("rows=4 k=0", "rows=-1 k=0") ==
        "p.tws:15: matmul: rows is '-1' (a whole number, 0 to 4294967295)");
  CHECK(error_after("rows=4 k=0", "rows=4294967296 k=0") ==
        "p.tws:15: matmul: rows is '4294967296' (a whole number, 0 to 4294967295)");
  CHECK(error_after("rows=4 k=0", "rows k=0") ==
        "p.tws:15: matmul: rows needs a value (rows=number)");
  CHECK(error_after("rows=4 k=0", "rows=4 rows=4") == "p.tws:15: matmul: rows is given twice");
  CHECK(error_after("next_tile ", "next_tile=1 ") ==
        "p.tws:15: matmul: next_tile takes no value (next_tile)");
}

TEST_CASE("what validation finds is told by its line") {
  CHECK(error_after("rows=4 k=0", "rows=5 k=0") ==
        "p.tws:15: matmul: the last output pixel, first + rows, is 5 (1 to 4)");
  CHECK(error_after("[0.5,0.5,0.5,0.5]", "[0.5,0.5,0.5]") ==
        "p.tws:7: .columns: multiplier has 3 entries (one per bias: 4)");
  CHECK(error_after("batch=1", "batch=0") == "p.tws:2: .program: batch is 0 (1 to 2147483647)");
  CHECK(error_after("halt", "nop") == "p.tws:18: nop: the last must be halt");
}

TEST_CASE("a text with any byte changed assembles or is an input error") {
  const std::string text = disassemble(test::small_program());
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'\0', '\n', '"', '[', '9', '=', '#', '\xff'}) {
      std::string changed = text;
      changed[at] = c;
      INFO("byte " << at << " becomes " << static_cast<int>(c));
      try {
        assemble(changed, "p.tws");
      } catch (const InputError&) {
      }
    }
    try {
      assemble(text.substr(0, at), "p.tws");
    } catch (const InputError&) {
    }
  }
  SUCCEED("nothing else was thrown");
}

}  // namespace
}  // namespace tilewave::sim
