#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "quant/format.h"

namespace tilewave::quant {

enum class Granularity { per_tensor, per_channel };
enum class ObserverKind { min_max, percentile };
/// float_multiplier as ONNX Runtime's QLinear kernels ("float" in YAML), fixed_point as TFLite's.
enum class RequantizeMode { float_multiplier, fixed_point };
/// What an addition does whose result the accumulators' width does not hold.
enum class Overflow { wrap, saturate };

/// The values' names in YAML and in reports.
std::string name_of(Granularity granularity);
std::string name_of(ObserverKind observer);
std::string name_of(RequantizeMode mode);
std::string name_of(Overflow overflow);

/// Widths of accumulators that can be simulated.
inline constexpr int kMinAccumulatorBits = 12;
inline constexpr int kMaxAccumulatorBits = 32;

/// How a network is quantized. Read from YAML (all keys optional) or filled in from Python.
struct Scheme {
  int weight_bits = 8;                                 ///< 2 to 8, or 16
  int activation_bits = 8;                             ///< 2 to 8, or 16
  bool activation_signed = true;                       ///< unsigned ones have at most 8 bits
  Granularity granularity = Granularity::per_channel;  ///< of the weights' scales
  ObserverKind observer = ObserverKind::min_max;
  double percentile = 99.99;  ///< of the percentile observer, per cent
  std::int64_t calibration_images = 1000;
  RequantizeMode requantize = RequantizeMode::float_multiplier;
  std::optional<int> accumulator_bits;  ///< 12 to 32; nothing: as the chip's precision says
  std::optional<Overflow> overflow;     ///< likewise

  Format weight_format() const { return {weight_bits, true, true}; }
  Format activation_format() const { return {activation_bits, activation_signed, false}; }
  bool operator==(const Scheme&) const = default;
};

/// Throws InputError naming the field unless every field is in its range.
void validate(const Scheme& scheme);

/// Reads a scheme file. Unknown keys, wrong types and values are InputErrors with file, line, key.
Scheme load_scheme(const std::string& path);
Scheme parse_scheme(const std::string& yaml, const std::string& where);

}  // namespace tilewave::quant
