#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/workers.h"
#include "kernels/cpu/window.h"

namespace tilewave::kernels {

/// A convolution and the max pooling that is done with it, for one image. A Dense is one of a
/// single pixel. Unit: the rows of the convolution's output that become one row of the result.
struct Convolution {
  WindowGeometry geometry;
  std::int64_t groups = 1;
  models::Window pool = {};  ///< as is_fusible says; 1 x 1: none
  models::Shape out;         ///< after pooling

  std::int64_t group_channels() const { return geometry.in.channels / groups; }
  std::int64_t k() const { return geometry.taps() * group_channels(); }
  /// Pixels that the convolution makes for one unit.
  std::int64_t unit_pixels() const { return pool.kernel_height * geometry.out.width; }
  bool is_padded() const {
    const models::Window& w = geometry.window;
    return w.pad_top + w.pad_left + w.pad_bottom + w.pad_right != 0;
  }
  /// Of a row of the input as it is read: of a copy with its padding, or where it lies.
  std::int64_t row_elements() const {
    const models::Window& w = geometry.window;
    return (geometry.in.width + w.pad_left + w.pad_right) * geometry.in.channels;
  }
  /// Input rows under one unit.
  std::int64_t unit_rows() const {
    const models::Window& w = geometry.window;
    return (pool.kernel_height - 1) * w.stride_height + (w.kernel_height - 1) * w.dilation_height +
           1;
  }
};

/// Windows side by side without padding: each output pixel of the convolution goes into one result
/// at most, and none is made twice.
bool is_fusible(const models::Window& pool);

/// From an output pixel's first place to the runs of neighbouring factors of one group.
struct Runs {
  std::int64_t length = 0;
  std::vector<std::int64_t> offsets;
};
Runs runs_of(const Convolution& convolution);

/// How many units are made together: few enough for what is between two layers to stay in the
/// first caches.
std::int64_t units_per_chunk(const Convolution& convolution);

/// What a thread needs to find a chunk's factors; sized once, for the largest layer.
template <typename T>
struct Band {
  std::vector<T> padded;       ///< input rows with their padding
  std::vector<const T*> rows;  ///< per output pixel, its first place in the input

  void reserve(const Convolution& c) {
    const auto units = static_cast<std::size_t>(units_per_chunk(c));
    // One value more: kernels that work in pairs read it.
    const auto size = units * static_cast<std::size_t>(c.unit_rows() * c.row_elements()) + 1;
    if (c.is_padded() && padded.size() < size) padded.resize(size);
    const std::size_t pixels = units * static_cast<std::size_t>(c.unit_pixels());
    if (rows.size() < pixels) rows.resize(pixels);
  }

  /// The rows of the units of a chunk, counted through all images of `in`; padded places hold
  /// `padding`.
  std::span<const T* const> find(const Convolution& c, const T* in, Range units, T padding) {
    const WindowGeometry& g = c.geometry;
    const std::int64_t step = g.window.stride_width * g.in.channels;
    const T** row = rows.data();
    T* copy = padded.data();
    for (std::int64_t unit = units.first; unit < units.end; ++unit) {
      const T* image = in + unit / c.out.height * g.in.elements();
      const std::int64_t first_out = unit % c.out.height * c.pool.kernel_height;
      const std::int64_t first_in = first_out * g.window.stride_height - g.window.pad_top;
      const T* band = image + first_in * c.row_elements();
      if (c.is_padded()) {
        band = copy;
        copy = copy_rows(c, image, first_in, padding, copy);
      }
      for (std::int64_t y = 0; y < c.pool.kernel_height; ++y) {
        const T* place = band + y * g.window.stride_height * c.row_elements();
        for (std::int64_t x = 0; x < g.out.width; ++x) *row++ = place + x * step;
      }
    }
    return {rows.data(), row};
  }

 private:
  /// A unit's input rows from `first` on; returns where the next ones go.
  static T* copy_rows(const Convolution& c, const T* image, std::int64_t first, T padding, T* to) {
    const WindowGeometry& g = c.geometry;
    const std::int64_t width = g.in.width * g.in.channels;
    const std::int64_t left = g.window.pad_left * g.in.channels;
    for (std::int64_t y = first; y < first + c.unit_rows(); ++y, to += c.row_elements()) {
      if (y < 0 || y >= g.in.height) {
        std::fill_n(to, c.row_elements(), padding);
        continue;
      }
      std::fill_n(to, left, padding);
      std::copy_n(image + y * width, width, to + left);
      std::fill(to + left + width, to + c.row_elements(), padding);
    }
    return to;
  }
};

/// The largest of the convolution's values in each of a unit's windows: values[pixel][channel],
/// `stride` apart, of one unit; afterwards result x is at the window's first pixel, which
/// `done(x, values)` gets. `take_larger(from, into)` takes the larger of each channel.
template <typename T, typename TakeLarger, typename Done>
void pool_unit(const Convolution& c, T* values, std::int64_t stride, const TakeLarger& take_larger,
               const Done& done) {
  for (std::int64_t x = 0; x < c.out.width; ++x) {
    T* into = values + x * c.pool.kernel_width * stride;
    for (std::int64_t row = 0; row < c.pool.kernel_height; ++row) {
      for (std::int64_t column = 0; column < c.pool.kernel_width; ++column) {
        const T* from = into + (row * c.geometry.out.width + column) * stride;
        if (from != into) take_larger(from, into);
      }
    }
    done(x, into);
  }
}

}  // namespace tilewave::kernels
