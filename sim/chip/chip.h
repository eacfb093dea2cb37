#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "quant/overflow.h"
#include "sim/dataflow.h"

namespace tilewave::quant {
struct Scheme;
}
namespace tilewave::yaml {
struct Node;
}

namespace tilewave::sim {

using quant::Overflow;

struct Array {
  std::int64_t rows = 256;  ///< contraction dimension; output-stationary: pixels
  std::int64_t cols = 256;  ///< output channels; input-stationary: pixels
  Dataflow dataflow = Dataflow::weight_stationary;
  bool double_buffered_weights = true;  ///< a second plane of what is stationary
  std::int64_t weight_rows_per_cycle = 1;
  bool operator==(const Array&) const = default;
};

struct Precision {
  int activation_bits = 8;
  int weight_bits = 8;
  int accumulator_bits = 32;
  Overflow overflow = Overflow::wrap;
  bool operator==(const Precision&) const = default;
};

struct Accumulators {
  std::int64_t depth = 4096;  ///< rows of `cols` entries
  bool operator==(const Accumulators&) const = default;
};

struct UnifiedBuffer {
  std::int64_t capacity_kib = 24576;
  std::int64_t row_bytes = 256;  ///< width of each port, per cycle
  bool operator==(const UnifiedBuffer&) const = default;
};

/// Bytes per second; nothing means unlimited.
using Bandwidth = std::optional<std::int64_t>;

struct WeightMemory {
  std::int64_t capacity_mib = 8192;
  Bandwidth bandwidth = 34'000'000'000;
  double latency_ns = 100;
  std::int64_t fifo_tiles = 4;
  bool packed_tiles = false;
  bool packed_bits = false;
  bool operator==(const WeightMemory&) const = default;
};

struct HostLink {
  Bandwidth bandwidth = 12'500'000'000;
  double latency_us = 1.0;
  bool operator==(const HostLink&) const = default;
};

struct ActivationUnit {
  std::int64_t pipeline_depth = 16;
  bool operator==(const ActivationUnit&) const = default;
};

struct SystolicDataSetup {
  std::string im2col = "on_the_fly";
  double gather_rows_per_cycle = 1;  ///< in (0, 1]: a row every ceil(1 / g) cycles
  bool operator==(const SystolicDataSetup&) const = default;
};

struct Sequencer {
  std::int64_t issue_cycles = 1;
  std::optional<std::int64_t> queue_depth;  ///< per unit; nothing means unlimited
  bool operator==(const Sequencer&) const = default;
};

/// Energy per event in pJ, and static power. Where each figure comes from: the preset's comments.
struct Energy {
  double mac_pj = 0.28;
  double accumulator_pj_per_byte = 0;
  double unified_buffer_pj_per_byte = 0;
  double weight_memory_pj_per_byte = 162.5;
  double host_link_pj_per_byte = 40;
  double static_watts = 28;
  bool operator==(const Energy&) const = default;
};

/// An accelerator, as docs/timing.md describes its parts; by default configs/tpu_v1.yaml. Validated
/// once, then immutable.
struct Chip {
  std::string name = "tpu_v1";
  double clock_mhz = 700;
  Array array;
  Precision precision;
  Accumulators accumulators;
  UnifiedBuffer unified_buffer;
  WeightMemory weight_memory;
  HostLink host_link;
  ActivationUnit activation_unit;
  SystolicDataSetup systolic_data_setup;
  Sequencer sequencer;
  Energy energy;

  std::int64_t clock_hz() const;  ///< to the nearest hertz
  int activation_bytes() const { return precision.activation_bits > 8 ? 2 : 1; }
  int weight_bytes() const { return precision.weight_bits > 8 ? 2 : 1; }
  int accumulator_bytes() const { return (precision.accumulator_bits + 7) / 8; }
  /// Bytes that so many weights take in weight memory: whole ones each unless bits are packed.
  Bytes weight_memory_bytes(std::int64_t weights) const {
    return weight_memory.packed_bits ? (weights * precision.weight_bits + 7) / 8
                                     : weights * weight_bytes();
  }
  /// Bytes that a tile takes in weight memory: a whole array's worth unless tiles are packed. An
  /// output-stationary array's tile has as many rows as it uses, whole.
  Bytes tile_bytes(std::int64_t used_rows, std::int64_t used_cols) const {
    const bool any_length = array.dataflow == Dataflow::output_stationary;
    const std::int64_t rows = any_length ? used_rows : array.rows;
    return weight_memory_bytes(weight_memory.packed_tiles ? used_rows * used_cols
                                                          : rows * array.cols);
  }
  /// Cycles from one gathered row to the next: ceil(1 / gather_rows_per_cycle).
  Cycles gather_interval() const {
    return static_cast<Cycles>(std::ceil(1 / systolic_data_setup.gather_rows_per_cycle - 1e-9));
  }
  /// Passes per row: 1 for 8 x 8 bits, 2 for 8 x 16, 4 for 16 x 16.
  int passes() const { return activation_bytes() * weight_bytes(); }
  /// ceil(bytes * clock_hz / bandwidth), exactly; 0 if unlimited.
  Cycles transfer_cycles(Bytes bytes, Bandwidth bandwidth) const;
  /// ceil(nanoseconds * clock), exactly, with the latency taken to the nearest picosecond.
  Cycles latency_cycles(double nanoseconds) const;
  double seconds(Cycles cycles) const;
  bool operator==(const Chip&) const = default;
};

/// The chip as the scheme wants it: with the scheme's accumulators, where it says which.
Chip with_scheme(Chip chip, const quant::Scheme& scheme);

/// Throws InputError naming `where` and the first key that is out of its range.
void validate(const Chip& chip, const std::string& where);

/// `name_or_path`: a preset of configs/ or a YAML file. InputError: file:line, key, value, what is
/// allowed, and the nearest name for a typo. `extends` takes another preset and overrides keys.
Chip load_chip(const std::string& name_or_path);
Chip parse_chip(const std::string& yaml, const std::string& where);
/// The same from a part of another file.
Chip parse_chip(const yaml::Node& document, const std::string& where);
/// `key` as in "array.rows", `value` as YAML text. Returns the changed, validated chip.
Chip with_key(const Chip& chip, const std::string& key, const std::string& value);
/// The same with several, (key, value), which need to fit together only when all have changed.
Chip with_keys(const Chip& chip, const std::vector<std::pair<std::string, std::string>>& keys);

/// The resolved form: YAML with every key. parse_chip(to_yaml(chip)) == chip for a valid chip.
std::string to_yaml(const Chip& chip);
/// The same as JSON text (one object), and the JSON Schema of chip files.
std::string to_json(const Chip& chip);
std::string json_schema();
/// Names of the presets, sorted.
std::vector<std::string> chip_names();
/// Where the presets lie: TILEWAVE_CONFIGS of the environment, or what base/file.h says.
std::string configs_directory();

}  // namespace tilewave::sim
