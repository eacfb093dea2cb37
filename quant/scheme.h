#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "quant/format.h"
#include "quant/overflow.h"
#include "quant/requantize_mode.h"

namespace tilewave::yaml {
struct Node;
}

namespace tilewave::quant {

enum class Granularity { per_tensor, per_channel };
enum class ObserverKind { min_max, moving_average, percentile, mse, entropy };
enum class WeightObserver { min_max, mse };
enum class WeightRounding { nearest, adaptive };

/// The values' names in YAML and in reports.
std::string name_of(Granularity granularity);
std::string name_of(ObserverKind observer);
std::string name_of(WeightObserver observer);
std::string name_of(WeightRounding rounding);
std::string name_of(RequantizeMode mode);
std::string name_of(Overflow overflow);

/// What a layer has of its own; the rest is the scheme's.
struct LayerScheme {
  std::optional<int> weight_bits;
  std::optional<int> activation_bits;  ///< of the tensor that the layer makes
  std::optional<Granularity> granularity;
  bool operator==(const LayerScheme&) const = default;
};

/// How a network is quantized. Read from YAML (all keys optional) or filled in from Python. The
/// keys are described in docs/quantization.md.
struct Scheme {
  int weight_bits = 8;                                 ///< 2 to 8, or 16
  int activation_bits = 8;                             ///< 2 to 8, or 16
  bool activation_signed = true;                       ///< unsigned ones have at most 8 bits
  bool activation_symmetric = false;                   ///< zero_point 0; signed ones only
  Granularity granularity = Granularity::per_channel;  ///< of the weights' scales
  WeightObserver weight_observer = WeightObserver::min_max;
  WeightRounding weight_rounding = WeightRounding::nearest;
  bool bias_correction = false;
  bool cross_layer_equalization = false;
  ObserverKind observer = ObserverKind::min_max;
  double percentile = 99.99;  ///< of the percentile observer, per cent
  double momentum = 0.99;     ///< of the moving_average observer, in [0, 1)
  std::int64_t calibration_images = 1000;
  std::optional<std::int64_t> seed;  ///< of a random subset; without it the first images are used
  RequantizeMode requantize = RequantizeMode::float_multiplier;
  std::optional<int> accumulator_bits;        ///< 12 to 32; nothing: as the chip's precision says
  std::optional<Overflow> overflow;           ///< likewise
  std::map<std::string, LayerScheme> layers;  ///< by node

  // Those of one layer (a node of the network).
  Format weight_format(const std::string& layer) const;
  Format activation_format(const std::string& layer) const;  ///< of the tensor that it makes
  Granularity granularity_of(const std::string& layer) const;
  bool operator==(const Scheme&) const = default;
};

/// The keys that calibration depends on, every other at its default: schemes for which these are
/// equal can share a Calibration.
Scheme calibration_part(const Scheme& scheme);

/// Throws InputError naming the field unless every field is in its range.
void validate(const Scheme& scheme);

/// Reads a scheme file. Unknown keys, wrong types and values are InputErrors with file, line, key.
Scheme load_scheme(const std::string& path);
Scheme parse_scheme(const std::string& yaml, const std::string& where);
/// The same from a part of another file.
Scheme parse_scheme(const yaml::Node& document, const std::string& where);

}  // namespace tilewave::quant
