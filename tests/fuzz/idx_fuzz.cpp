#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "models/dataset.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    tilewave::models::parse_idx({data, size}, "fuzz");
  } catch (const tilewave::InputError&) {
    // The only way in which reading may fail.
  }
  return 0;
}
