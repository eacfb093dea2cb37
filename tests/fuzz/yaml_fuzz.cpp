#include <cstdint>
#include <string>

#include "base/error.h"
#include "sim/chip/chip.h"

using namespace tilewave;

// Any text is a chip that survives being written and read, or an InputError of one line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  // Would read files of the machine's, some of which never end.
  if (text.find("extends") != std::string::npos) return 0;
  try {
    const sim::Chip chip = sim::parse_chip(text, "fuzz.yaml");
    TILEWAVE_CHECK(sim::parse_chip(sim::to_yaml(chip), "written.yaml") == chip, ==, true, text);
  } catch (const InputError& error) {
    TILEWAVE_CHECK(std::string(error.what()).find('\n'), ==, std::string::npos, error.what());
  }
  try {
    const sim::Chip changed = sim::with_key(sim::Chip{}, "array", text);
    sim::validate(changed, "");
  } catch (const InputError&) {
  }
  return 0;
}
