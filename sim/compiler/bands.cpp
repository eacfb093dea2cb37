#include "sim/compiler/bands.h"

namespace tilewave::sim {
namespace {

std::int64_t reach(const models::Window& window) {
  return (window.kernel_height - 1) * window.dilation_height + 1;
}

/// Whether every band of output rows can be made from its input rows alone. Not where a window may
/// lie in the padding as a whole.
bool can_be_cut(const models::Window& window, bool is_pool) {
  const std::int64_t padding = std::max(window.pad_top, window.pad_bottom);
  return padding < reach(window) && !(is_pool && padding > 0 && window.dilation_height > 1);
}

/// At most as many input rows do `rows` output rows need.
std::int64_t most_rows(const models::Window& window, std::int64_t input_height,
                       std::int64_t output_height, std::int64_t rows) {
  if (rows == output_height) return input_height;
  return std::min(input_height, (rows - 1) * window.stride_height + reach(window));
}

bool pools_whole_images(const MatrixStep& step) {
  return step.pool && step.pool->unit_pixels() == step.pool->input.pixels();
}

const models::Shape& shape_of(const LoweredNetwork& network, int tensor) {
  return network.tensors[static_cast<std::size_t>(tensor)].layout.shape;
}

/// Largest number of input rows that a band of `rows` output rows needs.
std::int64_t most_input_rows(const LoweredNetwork& network, const Step& step, std::int64_t rows) {
  const std::int64_t height = shape_of(network, step.inputs.front()).height;
  if (const auto* matrix = std::get_if<MatrixStep>(&step.work)) {
    return most_rows(matrix->window, height, matrix->output.height,
                     convolved_rows(*matrix, {0, rows}).count());
  }
  if (const auto* pool = std::get_if<PoolStep>(&step.work)) {
    return most_rows(pool->pool.window, height, pool->pool.output.height, rows);
  }
  return rows;
}

}  // namespace

WindowBand window_band(const models::Window& window, std::int64_t input_height,
                       std::int64_t output_height, Rows output) {
  // The last rows of a whole input may be under no window; padding as it was does no harm.
  if (output.count() == output_height) return {{0, input_height}, window};
  const std::int64_t begin = output.begin * window.stride_height - window.pad_top;
  const std::int64_t end = (output.end - 1) * window.stride_height - window.pad_top + reach(window);
  WindowBand band{{std::max<std::int64_t>(begin, 0), std::min(end, input_height)}, window};
  band.window.pad_top = band.input.begin - begin;
  band.window.pad_bottom = end - band.input.end;
  return band;
}

Rows convolved_rows(const MatrixStep& step, Rows output) {
  if (!step.pool) return output;
  if (output.count() == step.pool->output.height) return {0, step.output.height};
  const std::int64_t height = step.pool->window.kernel_height;
  return {output.begin * height, output.end * height};
}

Rows input_rows(const LoweredNetwork& network, const Step& step, Rows output) {
  const std::int64_t height = shape_of(network, step.inputs.front()).height;
  if (const auto* matrix = std::get_if<MatrixStep>(&step.work)) {
    return window_band(matrix->window, height, matrix->output.height,
                       convolved_rows(*matrix, output))
        .input;
  }
  if (const auto* pool = std::get_if<PoolStep>(&step.work)) {
    return window_band(pool->pool.window, height, pool->pool.output.height, output).input;
  }
  return output;
}

std::int64_t smallest_band(const LoweredNetwork& network, const Step& step) {
  const std::int64_t all = shape_of(network, step.output).height;
  if (const auto* matrix = std::get_if<MatrixStep>(&step.work)) {
    const bool whole = pools_whole_images(*matrix) || !can_be_cut(matrix->window, false);
    return whole ? all : 1;
  }
  const auto* pool = std::get_if<PoolStep>(&step.work);
  return pool != nullptr && !can_be_cut(pool->pool.window, true) ? all : 1;
}

std::vector<int> staged_tensors(const Step& step, const std::vector<bool>& spilled) {
  std::vector<int> staged;
  const auto add = [&](int tensor) {
    const bool is_new = std::find(staged.begin(), staged.end(), tensor) == staged.end();
    if (is_new && spilled[static_cast<std::size_t>(tensor)]) staged.push_back(tensor);
  };
  for (const int input : step.inputs) add(input);
  add(step.output);
  return staged;
}

std::int64_t staged_elements(const LoweredNetwork& network, const Step& step, int tensor,
                             std::int64_t rows) {
  const models::Shape& shape = shape_of(network, tensor);
  const std::int64_t staged = tensor == step.output ? rows : most_input_rows(network, step, rows);
  return staged * shape.width * shape.channels;
}

std::int64_t smallest_band_elements(const models::Shape& input, const models::Shape& output,
                                    Work work) {
  LoweredNetwork alone;
  for (const models::Shape& shape : {input, output}) {
    alone.tensors.push_back({"", {shape, shape.channels}, {}, 0, 0});
  }
  return smallest_band_elements(alone, {"", "", {0}, 1, std::move(work)});
}

std::int64_t smallest_band_elements(const LoweredNetwork& network, const Step& step) {
  const std::int64_t rows = smallest_band(network, step);
  std::int64_t elements = 0;
  for (const int tensor : staged_tensors(step, std::vector(network.tensors.size(), true))) {
    elements += staged_elements(network, step, tensor, rows);
  }
  return elements;
}

}  // namespace tilewave::sim
