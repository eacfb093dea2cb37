#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "models/onnx/model.h"

/// Orders of elements and shapes, as plain functions.
namespace tilewave::models::onnx_reader {

/// `blocks` matrices of [rows][columns], each to [columns][rows].
template <typename T>
std::vector<T> swapped_blocks(const std::vector<T>& values, std::int64_t blocks, std::int64_t rows,
                              std::int64_t columns) {
  TILEWAVE_CHECK(static_cast<std::int64_t>(values.size()), ==, blocks * rows * columns,
                 "the values fill the blocks");
  std::vector<T> swapped;
  swapped.reserve(values.size());
  for (std::int64_t block = 0; block < blocks; ++block) {
    const T* matrix = values.data() + block * rows * columns;
    for (std::int64_t column = 0; column < columns; ++column) {
      for (std::int64_t row = 0; row < rows; ++row) {
        swapped.push_back(matrix[row * columns + column]);
      }
    }
  }
  return swapped;
}

/// [out][in][height][width] to [out][height][width][in]; `dims` are those of the former.
Floats filters_to_nhwc(const Floats& weight, const Integers& dims);
/// Each row's columns from the order channel, row, column of `image` to row, column, channel.
Floats columns_to_nhwc(const Floats& matrix, std::int64_t rows, const Shape& image);
/// [rows][columns] to [columns][rows].
Floats swapped_axes(const Floats& matrix, std::int64_t rows, std::int64_t columns);

/// Whether Reshape to `target` makes `wanted` of a tensor of shape `from`, in which -1 is a batch
/// of any size. As ONNX: 0 keeps the dimension (unless allow_zero), one -1 is inferred.
bool reshape_makes(const Integers& from, const Integers& wanted, const Integers& target,
                   bool allow_zero);
/// The shape that Reshape gives a constant of shape `from`.
Integers reshaped(const Integers& from, const Integers& target, bool allow_zero,
                  const std::string& where);

}  // namespace tilewave::models::onnx_reader
