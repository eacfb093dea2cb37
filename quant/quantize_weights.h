#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quant/format.h"
#include "quant/requantize.h"
#include "quant/scheme.h"

namespace tilewave::quant {

/// A Conv's or Dense's constants as integers; see quantizer.h for the rules.
struct QuantizedWeights {
  std::vector<std::int16_t> weight;
  std::vector<std::int32_t> bias;
  std::vector<float> scale;  ///< [out]
};

/// weight is [out][anything], with out = bias.size().
QuantizedWeights quantize_weights(const std::vector<float>& weight, const std::vector<float>& bias,
                                  float input_scale, const Format& format, Granularity granularity);

/// multiplier[n] = input_scale * weight_scale[n] / output.scale, in fp32 and in this order (float
/// mode) or in double (fixed_point mode). Throws InputError with `where` if it is not finite.
Requantizer make_requantizer(float input_scale, const std::vector<float>& weight_scale,
                             const Quantization& output, RequantizeMode mode, std::int32_t low,
                             std::int32_t high, const std::string& where);

}  // namespace tilewave::quant
