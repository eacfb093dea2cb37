#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/compiler/lowering.h"

// A step whose tensors do not fit the unified buffer works on bands of rows of one image. Here is
// which rows of its input a band of its output is made from, and how much room they take.

namespace tilewave::sim {

/// Rows [begin, end) of an image.
struct Rows {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t count() const { return end - begin; }
};

/// How a step is cut into bands.
struct StepBands {
  std::int64_t rows = 0;  ///< of the output, in each band; 0: the step is not cut
  std::int64_t count = 1;
  std::int64_t buffers = 1;  ///< bands that are in the unified buffer at the same time
  Bytes address = 0;         ///< of the first buffer
  Bytes bytes = 0;           ///< of each buffer
};

/// Input rows under the windows of some output rows, and the window with the padding that is left:
/// on those rows alone it makes just those output rows.
struct WindowBand {
  Rows input;
  models::Window window;
};
WindowBand window_band(const models::Window& window, std::int64_t input_height,
                       std::int64_t output_height, Rows output);

/// Rows of the convolution's result that rows of the step's output, pooled or not, are made from.
Rows convolved_rows(const MatrixStep& step, Rows output);
/// Rows of the step's inputs that rows of its output are made from.
Rows input_rows(const LoweredNetwork& network, const Step& step, Rows output);

/// Rows of the smallest band of the step's output: more than 1 where it cannot be cut.
std::int64_t smallest_band(const LoweredNetwork& network, const Step& step);
/// The step's tensors that are in `spilled` (by tensor), each once; the output last.
std::vector<int> staged_tensors(const Step& step, const std::vector<bool>& spilled);
/// Elements of the largest part of a staged tensor that a band of `rows` output rows needs.
std::int64_t staged_elements(const LoweredNetwork& network, const Step& step, int tensor,
                             std::int64_t rows);
/// The same for all tensors, staged, in the step's smallest band.
std::int64_t smallest_band_elements(const LoweredNetwork& network, const Step& step);
/// The same for a step with one input.
std::int64_t smallest_band_elements(const models::Shape& input, const models::Shape& output,
                                    Work work);

}  // namespace tilewave::sim
