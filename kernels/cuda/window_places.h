#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace tilewave::kernels::gpu {

/// A window and the tensors on both of its sides, as kernels take them.
struct WindowPlaces {
  std::int32_t kernel_height, kernel_width;
  std::int32_t stride_height, stride_width;
  std::int32_t dilation_height, dilation_width;
  std::int32_t pad_top, pad_left;
  std::int32_t in_height, in_width, channels;
  std::int32_t out_height, out_width;

  TILEWAVE_HOST_DEVICE std::uint32_t out_pixels() const {
    return static_cast<std::uint32_t>(out_height) * static_cast<std::uint32_t>(out_width);
  }
  TILEWAVE_HOST_DEVICE std::int64_t image_elements() const {
    return std::int64_t{in_height} * in_width * channels;
  }
  TILEWAVE_HOST_DEVICE std::int32_t taps() const { return kernel_height * kernel_width; }

  /// Where the window of an output pixel stands, pixels counted through all images.
  struct Place {
    std::int64_t image;  ///< its first element
    std::int32_t y, x;   ///< the window's first place; may be outside
  };
  TILEWAVE_HOST_DEVICE Place place(std::uint32_t row) const {
    const std::uint32_t pixel = row % out_pixels();
    const auto width = static_cast<std::uint32_t>(out_width);
    return {row / out_pixels() * image_elements(),
            static_cast<std::int32_t>(pixel / width) * stride_height - pad_top,
            static_cast<std::int32_t>(pixel % width) * stride_width - pad_left};
  }

  /// The element of the input under a tap, channel 0; negative where that is padding.
  TILEWAVE_HOST_DEVICE std::int64_t under(const Place& place, std::int32_t tap_row,
                                          std::int32_t tap_column) const {
    const std::int32_t y = place.y + tap_row * dilation_height;
    const std::int32_t x = place.x + tap_column * dilation_width;
    if (y < 0 || x < 0 || y >= in_height || x >= in_width) return -1;
    return place.image + (std::int64_t{y} * in_width + x) * channels;
  }

  /// Calls visit(tap, element of channel 0) for the taps inside the input; returns how many.
  template <typename Visit>
  TILEWAVE_HOST_DEVICE std::int32_t for_each_tap(std::uint32_t row, const Visit& visit) const {
    const Place at = place(row);
    std::int32_t inside = 0;
    for (std::int32_t r = 0; r < kernel_height; ++r) {
      for (std::int32_t c = 0; c < kernel_width; ++c) {
        const std::int64_t element = under(at, r, c);
        if (element < 0) continue;
        visit(r * kernel_width + c, element);
        ++inside;
      }
    }
    return inside;
  }
};

}  // namespace tilewave::kernels::gpu
