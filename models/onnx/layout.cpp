#include "models/onnx/layout.h"

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"

namespace tilewave::models::onnx_reader {
Floats filters_to_nhwc(const Floats& weight, const Integers& dims) {
  return swapped_blocks(weight, dims[0], dims[1], dims[2] * dims[3]);
}

Floats columns_to_nhwc(const Floats& matrix, std::int64_t rows, const Shape& image) {
  return swapped_blocks(matrix, rows, image.channels, image.pixels());
}

Floats swapped_axes(const Floats& matrix, std::int64_t rows, std::int64_t columns) {
  return swapped_blocks(matrix, 1, rows, columns);
}

bool reshape_makes(const Integers& from, const Integers& wanted, const Integers& target,
                   bool allow_zero) {
  if (target.size() != wanted.size() || std::count(target.begin(), target.end(), -1) > 1) {
    return false;
  }
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == -1) continue;
    const bool kept = target[i] == 0 && !allow_zero && i < from.size();
    if ((kept ? from[i] : target[i]) != wanted[i]) return false;
  }
  return true;
}

Integers reshaped(const Integers& from, const Integers& target, bool allow_zero,
                  const std::string& where) {
  std::int64_t count = 1;
  for (const std::int64_t size : from) count *= size;
  Integers dims = target;
  std::int64_t* inferred = nullptr;
  std::optional<std::int64_t> known = 1;
  for (std::size_t i = 0; known && i < dims.size(); ++i) {
    if (dims[i] == -1 && !inferred) {
      inferred = &dims[i];
      continue;
    }
    if (dims[i] == 0 && !allow_zero && i < from.size()) dims[i] = from[i];
    known = checked_product({*known, dims[i]}, kMaxElements);
  }
  if (known && inferred) *inferred = *known > 0 && count % *known == 0 ? count / *known : -1;
  if (!known || (inferred ? *inferred < 0 : *known != count)) {
    throw InputError(where, "cannot give a constant of " + std::to_string(count) +
                                " elements the shape asked for");
  }
  return dims;
}

}  // namespace tilewave::models::onnx_reader
