#include "sim/isa/instruction.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <utility>

#include "base/error.h"
#include "tests/support/random_instruction.h"

namespace tilewave::sim {
namespace {

// Written out by hand from docs/isa.md, so that a change of the layout is seen.
const EncodedInstruction kMatmulBytes = {
    7,    0,    0,    7,                             // matmul, no register, no space, all flags
    4,    3,    2,    1,                             // value (k_first)
    8,    7,    6,    5,                             // unified_buffer
    0,    0,    0,    0,    0, 0, 0, 0,              // source_b, destination
    9,    0,    0,    0,                             // accumulator
    10,   0,    0,    0,                             // first
    0xff, 0xff, 0xff, 0xff,                          // rows
    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0,  // row_bytes, stride, stride_b
    0,    0,    0,    0,                             // reserved
    0,    0,    0,    0,    0, 0, 0, 0,              // host
};

Instruction matmul() {
  Instruction i;
  i.opcode = Opcode::matmul;
  i.next_tile = true;
  i.accumulate = true;
  i.keep_rows = true;
  i.value = 0x01020304;
  i.unified_buffer = 0x05060708;
  i.accumulator = 9;
  i.first = 10;
  i.rows = 0xffffffff;
  return i;
}

std::string decode_error(const EncodedInstruction& bytes) {
  try {
    decode(bytes, "p.twp: instruction 3");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("an instruction is 56 bytes in the documented places") {
  CHECK(encode(matmul()) == kMatmulBytes);
  CHECK(decode(kMatmulBytes, "here") == matmul());
  Instruction flags = matmul();
  flags.accumulate = flags.keep_rows = false;
  CHECK(encode(flags)[3] == 1);
  std::swap(flags.next_tile, flags.accumulate);
  CHECK(encode(flags)[3] == 2);
  std::swap(flags.accumulate, flags.keep_rows);
  CHECK(encode(flags)[3] == 4);

  Instruction read;
  read.opcode = Opcode::read_host;
  read.space = HostSpace::scratch;
  read.rows = 1;
  read.row_bytes = 2;
  read.stride = 3;
  read.stride_b = 4;
  read.host = 0x8877665544332211;
  const EncodedInstruction bytes = encode(read);
  CHECK(bytes[0] == 4);
  CHECK(bytes[2] == 2);
  CHECK(bytes[28] == 1);
  CHECK(bytes[32] == 2);
  CHECK(bytes[36] == 3);
  CHECK(bytes[40] == 4);
  for (std::size_t i = 0; i < 8; ++i) CHECK(bytes[48 + i] == 0x11 * (i + 1));

  Instruction config;
  config.opcode = Opcode::set_config;
  config.reg = ConfigRegister::table;
  CHECK(encode(config)[1] == 5);

  Instruction add;
  add.opcode = Opcode::vector_add;
  add.source_b = 0xa0;
  add.destination = 0xb0;
  CHECK(encode(add)[12] == 0xa0);
  CHECK(encode(add)[16] == 0xb0);
}

TEST_CASE("every instruction survives encoding") {
  REQUIRE(rc::check([] {
    const Instruction instruction = test::random_instruction();
    RC_ASSERT(decode(encode(instruction), "here") == instruction);
  }));
}

TEST_CASE("whatever decodes encodes to the same bytes, and anything else is an input error") {
  REQUIRE(rc::check([] {
    EncodedInstruction bytes = encode(test::random_instruction());
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<std::uint8_t>();
    try {
      RC_ASSERT(encode(decode(bytes, "here")) == bytes);
    } catch (const InputError&) {
    }
  }));
}

TEST_CASE("decoding says what is wrong with an instruction") {
  EncodedInstruction bytes{};
  bytes[0] = 12;
  CHECK(decode_error(bytes) == "p.twp: instruction 3: opcode 12 is unknown (0 to 11)");
  bytes = kMatmulBytes;
  bytes[3] = 8;
  CHECK(decode_error(bytes) == "p.twp: instruction 3: unknown flags 8 (0 to 7)");
  bytes = kMatmulBytes;
  bytes[45] = 1;
  CHECK(decode_error(bytes) == "p.twp: instruction 3: reserved bytes are not zero");
  bytes = kMatmulBytes;
  bytes[12] = 1;
  CHECK(decode_error(bytes) ==
        "p.twp: instruction 3: matmul does not use source_b, which is not zero");
  bytes = {};
  bytes[0] = 3;
  bytes[1] = 6;
  CHECK(decode_error(bytes) == "p.twp: instruction 3: reg 6 is unknown (0 to 5)");
  bytes = {};
  bytes[0] = 4;
  bytes[2] = 3;
  CHECK(decode_error(bytes) == "p.twp: instruction 3: space 3 is unknown (0 to 2)");
}

TEST_CASE("encoding refuses a field that the opcode does not use") {
  Instruction halt;
  halt.opcode = Opcode::halt;
  halt.next_tile = true;
  CHECK_THROWS_AS(encode(halt), InternalError);
}

TEST_CASE("every opcode has a mnemonic") {
  const char* const expected[] = {"nop",       "halt",       "sync",         "set_config",
                                  "read_host", "write_host", "read_weights", "matmul",
                                  "activate",  "vector_add", "vector_pool",  "vector_lookup"};
  for (int i = 0; i < kOpcodes; ++i) CHECK(mnemonic(static_cast<Opcode>(i)) == expected[i]);
}

}  // namespace
}  // namespace tilewave::sim
