#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/chip/chip.h"
#include "sim/isa/decoder.h"
#include "sim/timeline/row_kernels.h"

namespace tilewave::sim {

struct PreparedProgram {
  PreparedProgram(const Chip& chip_used, const Program& program_used);

  const PackedTile& packed(const Tile* tile) const {
    return tiles_[static_cast<std::size_t>(tile - program->tiles.data())];
  }
  /// Bias of the column table, filled up with zeros to the padded width of every tile.
  const std::int32_t* padded_bias(const Columns* columns) const {
    return biases_[static_cast<std::size_t>(columns - program->columns.data())].data();
  }

  const Chip* chip;
  const Program* program;
  DecodedLaunches operations;     ///< by launch parity
  std::vector<GatherPlan> plans;  ///< by instruction; of matmuls only
  std::vector<char> overflowing;  ///< by instruction, see may_overflow
  std::int64_t buffer_elements = 0;
  std::int64_t accumulator_rows = 0;
  std::int64_t sums_stride = 0;     ///< columns kept per accumulator row
  std::int64_t widest_row = 0;      ///< elements of the widest row that any unit takes in
  std::int32_t longest_row = 0;     ///< k_padded of the longest gathered row
  std::int64_t most_kept_rows = 0;  ///< that stay gathered from one multiply to the next

 private:
  void pack_tiles();
  void pad_biases();
  void plan_gathers();

  std::vector<std::vector<std::int16_t>> packed_weights_;
  std::vector<PackedTile> tiles_;
  std::vector<std::vector<std::int32_t>> biases_;
  std::vector<std::vector<GatherRun>> runs_;
};

}  // namespace tilewave::sim
