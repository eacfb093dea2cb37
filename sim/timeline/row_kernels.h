#pragma once

#include <cstdint>

namespace tilewave::sim {

/// Part of a gathered row: `pixels` neighbouring input pixels of one kernel row, `length` values
/// of each, which go to place k of the row and on.
struct GatherRun {
  std::int32_t dy = 0;  ///< input row and column, relative to the output pixel's times the stride
  std::int32_t dx = 0;
  std::int32_t dx_step = 1;  ///< from one pixel of the run to the next (the dilation)
  std::int32_t pixels = 1;
  std::int32_t length = 1;
  std::int32_t k = 0;
  std::int64_t base = 0;            ///< of the plane in the buffer, plus the first channel
  std::int32_t pixel_elements = 1;  ///< from one pixel of the plane to the next
};

/// The systolic data setup of one multiply, as the row kernels need it.
struct GatherPlan {
  const GatherRun* runs = nullptr;
  std::int32_t run_count = 0;
  std::int32_t height = 0, width = 0;  ///< of the input
  std::int32_t output_height = 0, output_width = 0;
  std::int32_t stride_height = 1, stride_width = 1;
  std::int16_t padding = 0;
  std::int32_t k = 0;         ///< values in a row
  std::int32_t k_padded = 0;  ///< even; the place after k is filled with 0
};

/// Weights of a tile with pairs of rows side by side, [ceil(rows / 2)][columns_padded][2], columns
/// filled up with zeros to a multiple of 8.
struct PackedTile {
  const std::int16_t* weights = nullptr;
  std::int32_t pairs = 0;
  std::int32_t columns_padded = 0;
};

/// The inner loops of the value machine. There are two builds of each, and the processor decides:
/// the results are the same bits, since all of it is integer arithmetic, or fp32 without
/// contraction.
struct RowKernels {
  /// rows [first, first + rows) of the plan, k_padded apart, widened to 16 bits.
  void (*gather_s8)(const GatherPlan&, const std::int8_t* buffer, std::int64_t first,
                    std::int32_t rows, std::int16_t* out);
  void (*gather_u8)(const GatherPlan&, const std::uint8_t* buffer, std::int64_t first,
                    std::int32_t rows, std::int16_t* out);
  void (*gather_s16)(const GatherPlan&, const std::int16_t* buffer, std::int64_t first,
                     std::int32_t rows, std::int16_t* out);
  /// sums[row][column] += values[row] x tile, wrapping at 32 bits. With `start`, the sums start
  /// from it ([columns_padded]) instead of from what is there.
  void (*multiply)(const std::int16_t* values, std::int32_t rows, const PackedTile& tile,
                   const std::int32_t* start, std::int32_t* sums, std::int64_t stride);
  /// The same in the array's order and at the accumulators' width, `bits` (12 to 32): the partial
  /// sum of a row and column starts from 0 and takes on one product after the other, then is added
  /// to what is in `sums` or `start`, which must fit the width. Each addition saturates or wraps.
  /// Returns of how many the exact result did not fit.
  std::int64_t (*multiply_narrow)(const std::int16_t* values, std::int32_t rows,
                                  const PackedTile& tile, const std::int32_t* start,
                                  std::int32_t* sums, std::int64_t stride, int bits,
                                  bool saturates);
  /// The largest of each column over `count` rows, which lie at rows[i].
  void (*column_max)(const std::int32_t* const* rows, std::int32_t count, std::int32_t columns,
                     std::int32_t* out);
  /// clamp(round_half_even(float(sum) * multiplier) + zero_point, low, high) for each column.
  void (*requantize_float)(const std::int32_t* sums, const float* multiplier, std::int32_t columns,
                           std::int32_t zero_point, std::int32_t low, std::int32_t high,
                           std::int32_t* out);
};

/// The fastest build that this processor can run.
const RowKernels& row_kernels();
/// The build for every processor.
const RowKernels& portable_row_kernels();

}  // namespace tilewave::sim
