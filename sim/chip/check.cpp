#include "sim/chip/check.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "sim/chip/fields.h"

namespace tilewave::sim {
namespace chip_file {
namespace {

using Place = std::function<std::string(const std::string& path)>;

/// A value as the user would write it.
std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Each key alone.
void check_ranges(Chip chip, const Place& place) {
  for (const Group& group : fields_of(chip)) {
    for (const Field& field : group.fields) {
      const std::string allowed = field.refused();
      if (!allowed.empty())
        throw InputError(place(group.path(field)),
                         excerpt(text_of(field.value())) + " is not allowed", allowed);
    }
  }
}

/// What the simulated memories may take, so that no file can ask for all of the host's.
constexpr std::int64_t kMaxMultipliers = std::int64_t{1} << 26;
constexpr std::int64_t kMaxAccumulators = std::int64_t{1} << 28;

void check_sizes(const Chip& chip, const Place& place) {
  const Array& array = chip.array;
  const auto refuse = [&](const char* path, std::int64_t value, const std::string& what,
                          const std::string& allowed) {
    throw InputError(place(path), std::to_string(value) + " " + what, allowed);
  };
  const std::int64_t multipliers = array.rows * array.cols;
  if (multipliers > kMaxMultipliers)
    refuse("array.rows", array.rows, "is too many with " + std::to_string(array.cols) + " cols",
           "rows * cols at most " + std::to_string(kMaxMultipliers));
  if (array.weight_rows_per_cycle > array.rows)
    refuse("array.weight_rows_per_cycle", array.weight_rows_per_cycle, "is more than the array has",
           "1 to " + std::to_string(array.rows));
  if (array.weight_rows_per_cycle > 1 && array.dataflow != Dataflow::weight_stationary)
    refuse("array.weight_rows_per_cycle", array.weight_rows_per_cycle,
           "rows per cycle need a tile that is shifted in", "1, or dataflow weight_stationary");
  if (chip.accumulators.depth > kMaxAccumulators / array.cols)
    refuse("accumulators.depth", chip.accumulators.depth,
           "is too many with " + std::to_string(array.cols) + " cols",
           "at most " + std::to_string(kMaxAccumulators / array.cols));
  if (chip.unified_buffer.row_bytes > chip.unified_buffer.capacity_kib * 1024)
    refuse("unified_buffer.capacity_kib", chip.unified_buffer.capacity_kib,
           "is too small for one row",
           "row_bytes is " + std::to_string(chip.unified_buffer.row_bytes));
  const Bytes tile_bytes = chip.weight_memory_bytes(multipliers);
  if (tile_bytes > chip.weight_memory.capacity_mib << 20)
    refuse("weight_memory.capacity_mib", chip.weight_memory.capacity_mib,
           "is too small for one tile", "a tile has " + std::to_string(tile_bytes) + " bytes");
}

void check_clock(const Chip& chip, const Place& place) {
  // Far below what a decimal figure to the hertz is off by, as a double.
  constexpr double kRoundingHertz = 1e-3;
  const double hertz = chip.clock_mhz * 1e6;
  if (std::abs(hertz - std::round(hertz)) > kRoundingHertz)
    throw InputError(place("clock_mhz"),
                     number_text(chip.clock_mhz) + " is not a whole number of hertz",
                     "at most 6 decimals");
}

}  // namespace

void check(const Chip& chip, const Place& place) {
  check_ranges(chip, place);
  check_clock(chip, place);
  check_sizes(chip, place);
}

}  // namespace chip_file

void validate(const Chip& chip, const std::string& where) {
  chip_file::check(
      chip, [&](const std::string& path) { return where.empty() ? path : where + ": " + path; });
}

}  // namespace tilewave::sim
