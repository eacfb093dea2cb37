#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/workers.h"
#include "models/graph.h"

namespace tilewave::kernels {

/// A window and the tensors on both of its sides, for one image.
struct WindowGeometry {
  models::Window window;
  models::Shape in;
  models::Shape out;

  std::int64_t taps() const { return window.kernel_height * window.kernel_width; }
  /// The convolution's rows are the input's pixels as they lie in memory.
  bool is_pointwise() const { return window == models::Window{}; }
};

/// One input and one output channel per group.
inline bool is_depthwise(std::int64_t groups, const models::Shape& in, const models::Shape& out) {
  return groups > 1 && groups == in.channels && groups == out.channels;
}

/// A depthwise convolution's weights [channel][tap] as [tap][channel].
template <typename T>
std::vector<T> tap_major(const std::vector<T>& weight, std::int64_t channels) {
  const auto count = static_cast<std::size_t>(channels);
  const std::size_t taps = weight.size() / count;
  std::vector<T> result(weight.size());
  for (std::size_t i = 0; i < weight.size(); ++i) result[i % taps * count + i / taps] = weight[i];
  return result;
}

/// The taps [first, last) of a window at `start` that fall inside [0, size).
struct TapRange {
  std::int64_t first, last;
};
inline TapRange taps_inside(std::int64_t start, std::int64_t kernel, std::int64_t dilation,
                            std::int64_t size) {
  if (start >= 0 && start + (kernel - 1) * dilation < size) return {0, kernel};
  const std::int64_t first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  const std::int64_t last = start >= size ? 0 : (size - 1 - start) / dilation + 1;
  return {std::min(first, kernel), std::clamp(last, std::min(first, kernel), kernel)};
}

/// Where a window stands over one image, and which of its taps are inside.
struct WindowPlace {
  WindowPlace(const WindowGeometry& g, std::int64_t pixel)
      : y(pixel / g.out.width * g.window.stride_height - g.window.pad_top),
        x(pixel % g.out.width * g.window.stride_width - g.window.pad_left),
        rows(taps_inside(y, g.window.kernel_height, g.window.dilation_height, g.in.height)),
        columns(taps_inside(x, g.window.kernel_width, g.window.dilation_width, g.in.width)) {}

  /// The input pixel under a tap.
  std::int64_t pixel(const WindowGeometry& g, std::int64_t row, std::int64_t column) const {
    return (y + row * g.window.dilation_height) * g.in.width + x + column * g.window.dilation_width;
  }
  std::int64_t taps() const { return (rows.last - rows.first) * (columns.last - columns.first); }

  std::int64_t y, x;
  TapRange rows, columns;
};

/// A range of an input's channels.
struct ChannelRange {
  std::int64_t first, count;
};

/// im2col: out[row][tap][channel] for `rows` output pixels from `first_row` on, counted through
/// all images of `in`. Padded places get `padding`.
template <typename T>
void gather_rows(const WindowGeometry& g, const T* in, std::int64_t first_row, std::int64_t rows,
                 ChannelRange channels, T padding, T* out) {
  const std::int64_t row_length = g.window.kernel_width * channels.count;
  const bool packed = channels.count == g.in.channels && g.window.dilation_width == 1;
  for (std::int64_t row = first_row; row < first_row + rows; ++row) {
    const T* image = in + row / g.out.pixels() * g.in.elements() + channels.first;
    const WindowPlace place(g, row % g.out.pixels());
    if (place.taps() != g.taps()) std::fill_n(out, g.taps() * channels.count, padding);
    for (std::int64_t r = place.rows.first; r < place.rows.last; ++r) {
      const TapRange columns = place.columns;
      T* to = out + r * row_length + columns.first * channels.count;
      const T* from = image + place.pixel(g, r, columns.first) * g.in.channels;
      if (packed) {
        std::copy_n(from, (columns.last - columns.first) * channels.count, to);
        continue;
      }
      for (std::int64_t c = columns.first; c < columns.last; ++c) {
        std::copy_n(from, channels.count, to);
        to += channels.count;
        from += g.window.dilation_width * g.in.channels;
      }
    }
    out += g.taps() * channels.count;
  }
}

/// Calls visit(out_pixel, place, in_image) for output pixels, counted through all images.
template <typename T, typename Visit>
void for_each_place(const WindowGeometry& g, const T* in, Range pixels, const Visit& visit) {
  for (std::int64_t pixel = pixels.first; pixel < pixels.end; ++pixel) {
    const std::int64_t image = pixel / g.out.pixels();
    visit(pixel, WindowPlace(g, pixel % g.out.pixels()), in + image * g.in.elements());
  }
}

/// Calls visit(tap, pointer to the tap's first channel) for each tap inside the image.
template <typename T, typename Visit>
void for_each_tap(const WindowGeometry& g, const WindowPlace& place, const T* image,
                  const Visit& visit) {
  for (std::int64_t r = place.rows.first; r < place.rows.last; ++r) {
    for (std::int64_t c = place.columns.first; c < place.columns.last; ++c) {
      visit(r * g.window.kernel_width + c, image + place.pixel(g, r, c) * g.in.channels);
    }
  }
}

/// Padded places count as `lowest`.
template <typename T>
void max_pool(const WindowGeometry& g, const T* in, Range pixels, T lowest, T* out) {
  const std::int64_t channels = g.in.channels;
  for_each_place(g, in, pixels, [&](std::int64_t pixel, const WindowPlace& place, const T* image) {
    T* __restrict result = out + pixel * channels;
    std::fill_n(result, channels, lowest);
    for_each_tap(g, place, image, [&](std::int64_t, const T* __restrict from) {
      for (std::int64_t c = 0; c < channels; ++c) result[c] = std::max(result[c], from[c]);
    });
  });
}

}  // namespace tilewave::kernels
