#pragma once

#include <cstdint>

namespace tilewave::quant {

/// An integer format of activations or weights. Values up to 16 bits wide are held in int16_t.
struct Format {
  int bits = 8;
  bool is_signed = true;
  bool symmetric = false;  ///< leaves out the most negative value: [-127, 127] for 8 bits

  std::int32_t qmin() const {
    if (!is_signed) return 0;
    return -(std::int32_t{1} << (bits - 1)) + (symmetric ? 1 : 0);
  }
  std::int32_t qmax() const { return (std::int32_t{1} << (is_signed ? bits - 1 : bits)) - 1; }
  /// Bytes that one value takes in memory.
  int bytes() const { return bits > 8 ? 2 : 1; }
  bool operator==(const Format&) const = default;
};

/// real = scale * (q - zero_point)
struct Quantization {
  Format format;
  float scale = 1;
  std::int32_t zero_point = 0;
  bool operator==(const Quantization&) const = default;
};

}  // namespace tilewave::quant
