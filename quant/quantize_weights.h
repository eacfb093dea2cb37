#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quant/format.h"
#include "quant/input_moments.h"
#include "quant/requantize.h"
#include "quant/scheme.h"

namespace tilewave::quant {

/// A Conv's or Dense's constants as integers; see quantizer.h for the rules.
struct QuantizedWeights {
  std::vector<std::int16_t> weight;
  std::vector<std::int32_t> bias;
  std::vector<float> scale;  ///< [out]
};

/// How a layer's weights and bias become integers.
struct WeightRule {
  Format format;
  Granularity granularity = Granularity::per_channel;
  WeightObserver observer = WeightObserver::min_max;
  WeightRounding rounding = WeightRounding::nearest;
  bool bias_correction = false;
  const InputMoments* moments = nullptr;  ///< needed by `adaptive` and by bias_correction
};

/// weight is [out][anything], with out = bias.size().
QuantizedWeights quantize_weights(const std::vector<float>& weight, std::vector<float> bias,
                                  float input_scale, const WeightRule& rule);

/// multiplier[n] = input_scale * weight_scale[n] / output.scale, in fp32 and in this order (float
/// mode) or in double (fixed_point mode). Throws InputError with `where` if it is not finite.
Requantizer make_requantizer(float input_scale, const std::vector<float>& weight_scale,
                             const Quantization& output, RequantizeMode mode, std::int32_t low,
                             std::int32_t high, const std::string& where);

}  // namespace tilewave::quant
