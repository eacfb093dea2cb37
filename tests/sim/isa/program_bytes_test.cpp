#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/isa/program.h"
#include "tests/support/random_program.h"
#include "tests/support/small_program.h"

namespace tilewave::sim {
namespace {

using Bytes8 = std::vector<std::uint8_t>;

std::string error_of(const Bytes8& bytes) {
  try {
    program_from_bytes(bytes, "p.twp");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("a program survives the binary form") {
  const Program program = test::small_program();
  CHECK(program_from_bytes(to_bytes(program), "p.twp") == program);
}

TEST_CASE("the dataflow survives the binary form") {
  Program program = test::small_program();
  for (const Dataflow dataflow : {Dataflow::output_stationary, Dataflow::input_stationary}) {
    program.dataflow = dataflow;
    CHECK(program_from_bytes(to_bytes(program), "p.twp").dataflow == dataflow);
  }
}

TEST_CASE("random programs survive the binary form") {
  REQUIRE(rc::check([](std::uint32_t seed) {
    const Program program = test::random_program(seed);
    RC_ASSERT(program_from_bytes(to_bytes(program), "p.twp") == program);
  }));
}

TEST_CASE("the binary form begins with its name and version") {
  Bytes8 bytes = to_bytes(test::small_program());
  CHECK(std::string(bytes.begin(), bytes.begin() + 8) == "tilewave");
  bytes[8] = 1;
  CHECK(error_of(bytes) == "p.twp: has version 1 (3)");
  bytes[0] = 'T';
  CHECK(error_of(bytes) == "p.twp: is not a program (one that begins with \"tilewave\")");
  CHECK(error_of({}) == "p.twp: is not a program (one that begins with \"tilewave\")");
}

TEST_CASE("bytes after the program are refused") {
  Bytes8 bytes = to_bytes(test::small_program());
  bytes.push_back(0);
  CHECK(error_of(bytes) == "p.twp: 1 bytes follow the program");
}

TEST_CASE("a count larger than the file is refused before anything is allocated") {
  Bytes8 bytes = to_bytes(test::small_program());
  // The length of the name, the first count of the file.
  for (std::size_t i = 12; i < 20; ++i) bytes[i] = 0xff;
  CHECK(error_of(bytes) ==
        "p.twp: byte 12: name is a count of 18446744073709551615 (at most what the file holds)");
}

TEST_CASE("a program that is cut short at any byte is an input error") {
  const Bytes8 bytes = to_bytes(test::small_program());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO("cut to " << size);
    const Bytes8 cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(error_of(cut) != "no error");
  }
  CHECK(error_of({bytes.begin(), bytes.begin() + 30}) == "p.twp: ends at byte 30, inside batch");
}

TEST_CASE("a changed byte gives an input error or another well-formed program") {
  const Bytes8 bytes = to_bytes(test::small_program());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      INFO("byte " << at << " xor " << flip);
      Bytes8 changed = bytes;
      changed[at] = static_cast<std::uint8_t>(changed[at] ^ flip);
      try {
        const Program program = program_from_bytes(changed, "p.twp");
        CHECK(to_bytes(program) == changed);
      } catch (const InputError&) {
      }
    }
  }
}

TEST_CASE("values outside an enumeration are refused") {
  Program program = test::small_program();
  program.pools[0].kind = static_cast<Pool::Kind>(2);
  CHECK_THAT(error_of(to_bytes(program)), Catch::Contains("kind is 2 (0 to 1)"));
}

TEST_CASE("a malformed program is not written") {
  Program program = test::small_program();
  program.instructions.pop_back();
  CHECK_THROWS_AS(to_bytes(program), InputError);
}

}  // namespace
}  // namespace tilewave::sim
