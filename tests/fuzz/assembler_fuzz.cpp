#include <cstdint>
#include <string>

#include "base/error.h"
#include "sim/isa/program.h"

// Any text assembles to a program that survives disassembly, or is an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewave;
  sim::Program program;
  try {
    program = sim::assemble(std::string(data, data + size), "fuzz");
  } catch (const InputError&) {
    return 0;
  }
  TILEWAVE_CHECK((sim::assemble(sim::disassemble(program), "fuzz") == program), ==, true,
                 "a program changed on its way through the text");
  return 0;
}
