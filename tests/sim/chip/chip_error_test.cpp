#include <catch2/catch.hpp>
#include <limits>

#include "base/error.h"
#include "sim/chip/chip.h"

using namespace tilewave;
using namespace tilewave::sim;

namespace {

struct Wrong {
  const char* yaml;
  const char* message;
};

}  // namespace

TEST_CASE("a value out of its range is refused with line, key and range") {
  const Wrong wrongs[] = {
      {"array:\n  rows: 0", "f.yaml:2: array.rows: 0 is not allowed (1 to 65536)"},
      {"array: {cols: -3}", "f.yaml:1: array.cols: -3 is not allowed (1 to 65536)"},
      {"array: {rows: 65537}", "f.yaml:1: array.rows: 65537 is not allowed (1 to 65536)"},
      {"clock_mhz: 0", "f.yaml:1: clock_mhz: 0 is not allowed (0.001 to 100000)"},
      {"clock_mhz: 700.0000001",
       "f.yaml:1: clock_mhz: 700.0000001 is not a whole number of hertz (at most 6 decimals)"},
      {"name: a b",
       "f.yaml:1: name: a b is not allowed (1 to 64 letters, digits, \"_\", \"-\" and \".\")"},
      {"precision: {weight_bits: 1}",
       "f.yaml:1: precision.weight_bits: 1 is not allowed (2 to 8, or 16)"},
      {"precision: {activation_bits: 9}",
       "f.yaml:1: precision.activation_bits: 9 is not allowed (2 to 8, or 16)"},
      {"precision: {accumulator_bits: 33}",
       "f.yaml:1: precision.accumulator_bits: 33 is not allowed (12 to 32)"},
      {"accumulators: {depth: 0}",
       "f.yaml:1: accumulators.depth: 0 is not allowed (1 to 16777216)"},
      {"unified_buffer: {capacity_kib: 0}",
       "f.yaml:1: unified_buffer.capacity_kib: 0 is not allowed (1 to 2097152)"},
      {"unified_buffer: {row_bytes: -1}",
       "f.yaml:1: unified_buffer.row_bytes: -1 is not allowed (1 to 1048576)"},
      {"weight_memory: {fifo_tiles: 0}",
       "f.yaml:1: weight_memory.fifo_tiles: 0 is not allowed (1 to 1024)"},
      {"weight_memory: {bandwidth_gb_per_s: 0}",
       "f.yaml:1: weight_memory.bandwidth_gb_per_s: 0 is not allowed (0.001 to 1000000, or "
       "unlimited)"},
      {"host_link: {bandwidth_gb_per_s: 1e300}",
       "f.yaml:1: host_link.bandwidth_gb_per_s: 2000000 is not allowed (0.001 to 1000000, or "
       "unlimited)"},
      {"host_link: {latency_us: -1}",
       "f.yaml:1: host_link.latency_us: -1 is not allowed (0 to 1000000)"},
      {"systolic_data_setup: {gather_rows_per_cycle: 0}",
       "f.yaml:1: systolic_data_setup.gather_rows_per_cycle: 0 is not allowed (above 0, at most "
       "1)"},
      {"systolic_data_setup: {gather_rows_per_cycle: 1.5}",
       "f.yaml:1: systolic_data_setup.gather_rows_per_cycle: 1.5 is not allowed (above 0, at most "
       "1)"},
      {"sequencer: {queue_depth: 0}",
       "f.yaml:1: sequencer.queue_depth: 0 is not allowed (1 to 1000000, or unlimited)"},
      {"sequencer: {issue_cycles: -1}",
       "f.yaml:1: sequencer.issue_cycles: -1 is not allowed (0 to 1000000)"},
      {"energy: {mac_pj: -0.5}", "f.yaml:1: energy.mac_pj: -0.5 is not allowed (0 to 1000000000)"},
  };
  for (const auto& [yaml, message] : wrongs) CHECK_THROWS_WITH(parse_chip(yaml, "f.yaml"), message);
}

TEST_CASE("sizes that do not fit each other are refused") {
  const Wrong wrongs[] = {
      {"array: {rows: 65536, cols: 1025}",
       "f.yaml:1: array.rows: 65536 is too many with 1025 cols (rows * cols at most 67108864)"},
      {"array: {rows: 4, weight_rows_per_cycle: 5}",
       "f.yaml:1: array.weight_rows_per_cycle: 5 is more than the array has (1 to 4)"},
      {"array: {dataflow: input_stationary, weight_rows_per_cycle: 2}",
       "f.yaml:1: array.weight_rows_per_cycle: 2 rows per cycle need a tile that is shifted in "
       "(1, or dataflow weight_stationary)"},
      {"array: {cols: 65536}\naccumulators: {depth: 4097}",
       "f.yaml:2: accumulators.depth: 4097 is too many with 65536 cols (at most 4096)"},
      {"unified_buffer: {capacity_kib: 1, row_bytes: 1025}",
       "f.yaml:1: unified_buffer.capacity_kib: 1 is too small for one row (row_bytes is 1025)"},
      {"array: {rows: 2048, cols: 1024}\nweight_memory: {capacity_mib: 1}",
       "f.yaml:2: weight_memory.capacity_mib: 1 is too small for one tile (a tile has 2097152 "
       "bytes)"},
  };
  for (const auto& [yaml, message] : wrongs) CHECK_THROWS_WITH(parse_chip(yaml, "f.yaml"), message);
  CHECK_NOTHROW(parse_chip("unified_buffer: {capacity_kib: 1, row_bytes: 1024}", "f.yaml"));
  CHECK_NOTHROW(parse_chip("array: {rows: 65536, cols: 1024}", "f.yaml"));
}

TEST_CASE("wrong keys and types are refused with line and nearest key") {
  const Wrong wrongs[] = {
      {"array:\n  rowz: 8", "f.yaml:2: array.rowz: unknown key (did you mean rows?)"},
      {"arrray: {rows: 8}", "f.yaml:1: arrray: unknown key (did you mean array?)"},
      {"array: {rows: 8.5}", "f.yaml:1: array.rows: 8.5 is not a whole number"},
      {"array: {rows: 1e2}", "f.yaml:1: array.rows: 1e2 is not a whole number"},
      {"array: {rows: 99999999999999999999}",
       "f.yaml:1: array.rows: 99999999999999999999 is not a whole number"},
      {"array: 8", "f.yaml:1: array: 8 is not a mapping (key: value)"},
      {"clock_mhz: fast", "f.yaml:1: clock_mhz: fast is not a number"},
      {"clock_mhz: .nan", "f.yaml:1: clock_mhz: .nan is not a number"},
      {"precision: {overflow: warp}",
       "f.yaml:1: precision.overflow: warp is not allowed (did you mean wrap?)"},
      {"array: {dataflow: output_stationery}",
       "f.yaml:1: array.dataflow: output_stationery is not allowed (did you mean "
       "output_stationary?)"},
      {"array: {double_buffered_weights: 1}",
       "f.yaml:1: array.double_buffered_weights: 1 is not allowed (one of true, false)"},
      {"sequencer: {queue_depth: none}",
       "f.yaml:1: sequencer.queue_depth: none is not a whole number"},
      {"array: {rows: 8}\narray: {cols: 8}", "f.yaml:2: the key array appears twice"},
      {"- 1", "f.yaml:1: a sequence is not a mapping (key: value)"},
  };
  for (const auto& [yaml, message] : wrongs) CHECK_THROWS_WITH(parse_chip(yaml, "f.yaml"), message);
}

TEST_CASE("a wrong change names the key") {
  const Chip chip;
  CHECK_THROWS_WITH(with_key(chip, "array.rows", "0"), "array.rows: 0 is not allowed (1 to 65536)");
  CHECK_THROWS_WITH(with_key(chip, "array.rows", "x"), "array.rows: x is not a whole number");
  CHECK_THROWS_WITH(with_key(chip, "array.rowz", "8"),
                    "array.rowz: unknown key (did you mean rows?)");
  CHECK_THROWS_WITH(with_key(chip, "array", "{rowz: 8}"),
                    "array.rowz: unknown key (did you mean rows?)");
  CHECK_THROWS_WITH(with_key(chip, "array", "8"), "array: 8 is not a mapping (key: value)");
  CHECK_THROWS_WITH(with_key(chip, "array.rows.x", "8"),
                    "array.rows: a mapping is not a whole number");
  CHECK_THROWS_WITH(with_key(chip, "extends", "tiny_8"), Catch::StartsWith("extends: unknown key"));
  CHECK_THROWS_AS(with_key(chip, "", "8"), InputError);
  CHECK_THROWS_AS(with_key(chip, "array..rows", "8"), InputError);
}

TEST_CASE("a chip made by hand is checked like a file") {
  Chip chip;
  CHECK_NOTHROW(validate(chip, "here"));
  chip.weight_memory.fifo_tiles = 0;
  CHECK_THROWS_WITH(validate(chip, "here"),
                    "here: weight_memory.fifo_tiles: 0 is not allowed (1 to 1024)");
  chip = {};
  chip.systolic_data_setup.im2col = "by_host";
  CHECK_THROWS_AS(validate(chip, "here"), InputError);
  chip = {};
  chip.clock_mhz = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(validate(chip, "here"), InputError);
}
