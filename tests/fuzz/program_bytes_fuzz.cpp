#include <cstdint>
#include <vector>

#include "base/error.h"
#include "sim/isa/program.h"

// Any bytes are a program that is written as the same bytes, or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewave;
  const std::vector<std::uint8_t> bytes(data, data + size);
  sim::Program program;
  try {
    program = sim::program_from_bytes(bytes, "fuzz");
  } catch (const InputError&) {
    return 0;
  }
  TILEWAVE_CHECK((sim::to_bytes(program) == bytes), ==, true, "a program changed on its way");
  return 0;
}
