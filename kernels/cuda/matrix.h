#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "kernels/cuda/window_places.h"

// How the matrices of a product lie in the GPU's memory, so that cuBLAS has its fastest kernels for
// them, and has any at all for int8: rows of 16 bytes or a multiple, at least 32 rows, 16 or a
// multiple of output channels.

namespace tilewave::kernels::gpu {

inline constexpr std::int64_t kRowBytes = 16;
inline constexpr std::int64_t kRowMultiple = 32;
inline constexpr std::int64_t kChannelMultiple = 16;

/// Values of T that a row is a multiple of.
template <typename T>
inline constexpr std::int64_t kVector = kRowBytes / std::int64_t{sizeof(T)};

template <typename T>
struct alignas(kRowBytes) Vector {
  T values[kVector<T>];
};

/// im2col: out[group][row][tap][channel of the group], rows filled up with zeros to whole vectors.
/// Element i is a vector.
template <typename T>
struct Im2col {
  WindowPlaces window;
  const T* in;
  T* out;
  std::uint32_t rows;         ///< output pixels of all images
  std::uint32_t padded_rows;  ///< from one group to the next
  std::uint32_t channels;     ///< of a group
  std::uint32_t vectors;      ///< in a row
  T padding;                  ///< at places outside of the input

  TILEWAVE_HOST_DEVICE void operator()(std::uint32_t i) const {
    const std::uint32_t first = i % vectors * static_cast<std::uint32_t>(kVector<T>);
    const std::uint32_t row = i / vectors % rows;
    const std::uint32_t group = i / vectors / rows;
    const auto place = window.place(row);
    const std::int64_t first_channel = std::int64_t{group} * channels;
    const auto width = static_cast<std::uint32_t>(window.kernel_width);
    std::uint32_t channel = first % channels;
    std::uint32_t tap = first / channels;
    Vector<T> vector;
    if (channels % kVector<T> == 0) {  // all of one tap, and aligned
      const std::int64_t from = under(place, tap, width);
      if (from >= 0) {
        vector = *reinterpret_cast<const Vector<T>*>(in + from + first_channel + channel);
      } else {
        for (T& value : vector.values) value = padding;
      }
    } else {
      std::int64_t from = under(place, tap, width);
      for (T& value : vector.values) {
        value = tap >= static_cast<std::uint32_t>(window.taps()) ? T{}
                : from >= 0 ? in[from + first_channel + channel]
                            : padding;
        if (++channel < channels) continue;
        channel = 0;
        from = under(place, ++tap, width);
      }
    }
    const std::int64_t to = (std::int64_t{group} * padded_rows + row) * vectors + i % vectors;
    reinterpret_cast<Vector<T>*>(out)[to] = vector;
  }

 private:
  TILEWAVE_HOST_DEVICE std::int64_t under(const WindowPlaces::Place& place, std::uint32_t tap,
                                          std::uint32_t width) const {
    return window.under(place, static_cast<std::int32_t>(tap / width),
                        static_cast<std::int32_t>(tap % width));
  }
};

/// Where a product leaves its sums: [group][padded row][padded channel of the group].
struct SumPlaces {
  std::uint32_t channels;         ///< of all groups
  std::uint32_t group_channels;   ///< of one
  std::uint32_t padded_channels;  ///< likewise
  std::uint32_t padded_rows;

  /// The sum of element `i` of the NHWC result.
  TILEWAVE_HOST_DEVICE std::int64_t of(std::uint32_t i) const {
    const std::uint32_t row = i / channels;
    const std::uint32_t channel = i % channels;
    if (group_channels == channels) return std::int64_t{row} * padded_channels + channel;
    const std::uint32_t group = channel / group_channels;
    return (std::int64_t{group} * padded_rows + row) * padded_channels + channel % group_channels;
  }
};

}  // namespace tilewave::kernels::gpu
