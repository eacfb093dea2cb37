#include "kernels/cpu/convolution.h"

namespace tilewave::kernels {

bool is_fusible(const models::Window& pool) {
  models::Window same;
  same.kernel_height = same.stride_height = pool.kernel_height;
  same.kernel_width = same.stride_width = pool.kernel_width;
  return pool == same;
}

Runs runs_of(const Convolution& convolution) {
  const models::Window& w = convolution.geometry.window;
  // Neighbouring taps of all channels are neighbours in memory.
  const bool whole_rows = convolution.groups == 1 && w.dilation_width == 1;
  const std::int64_t columns = whole_rows ? 1 : w.kernel_width;
  Runs runs{convolution.group_channels() * (w.kernel_width / columns), {}};
  for (std::int64_t row = 0; row < w.kernel_height; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      runs.offsets.push_back(row * w.dilation_height * convolution.row_elements() +
                             column * w.dilation_width * convolution.geometry.in.channels);
    }
  }
  return runs;
}

std::int64_t units_per_chunk(const Convolution& convolution) {
  // Found by measurement with 3 x 3 convolutions of 64 channels and the MNIST network; neither
  // changes a result.
  constexpr std::int64_t kPixels = 64;
  constexpr std::int64_t kSums = 4096;
  const std::int64_t pixels =
      std::clamp<std::int64_t>(kSums / convolution.geometry.out.channels, kPixels, 4 * kPixels);
  return std::max<std::int64_t>(1, pixels / convolution.unit_pixels());
}

}  // namespace tilewave::kernels
