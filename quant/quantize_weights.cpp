#include "quant/quantize_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/error.h"
#include "quant/observer.h"

namespace tilewave::quant {
namespace {

float largest_magnitude(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// One scale per output channel, before the bias is looked at.
std::vector<float> weight_scales(std::span<const float> weight, std::size_t channels,
                                 const Format& format, Granularity granularity) {
  const auto scale_for = [&](float largest) {
    return choose_quantization({-largest, largest}, format).scale;
  };
  std::vector<float> scales(channels, scale_for(largest_magnitude(weight)));
  if (granularity == Granularity::per_tensor) return scales;
  const std::size_t size = weight.size() / channels;
  for (std::size_t n = 0; n < channels; ++n) {
    const float largest = largest_magnitude(weight.subspan(n * size, size));
    if (largest > 0) scales[n] = scale_for(largest);
  }
  return scales;
}

/// Widens scales that would push a bias beyond the accumulator's range: a channel of very small
/// weights (as a dead channel is after folding its BatchNormalization) often has a large bias.
void widen_for_bias(std::vector<float>& scales, const std::vector<float>& bias, float input_scale,
                    Granularity granularity) {
  constexpr double kLargestBias = 1 << 30;
  for (std::size_t n = 0; n < bias.size(); ++n) {
    const double least =
        std::abs(static_cast<double>(bias[n])) / (static_cast<double>(input_scale) * kLargestBias);
    const double bounded = std::min<double>(least, std::numeric_limits<float>::max());
    scales[n] = std::max(scales[n], static_cast<float>(bounded));
  }
  if (granularity == Granularity::per_tensor) {
    std::fill(scales.begin(), scales.end(), *std::max_element(scales.begin(), scales.end()));
  }
}

std::int32_t quantize_bias(float bias, double scale) {
  const double rounded = std::nearbyint(static_cast<double>(bias) / scale);
  return static_cast<std::int32_t>(std::clamp<double>(
      rounded, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

QuantizedWeights quantize_weights(const std::vector<float>& weight, const std::vector<float>& bias,
                                  float input_scale, const Format& format,
                                  Granularity granularity) {
  const std::size_t channels = bias.size();
  QuantizedWeights result;
  result.scale = weight_scales(weight, channels, format, granularity);
  widen_for_bias(result.scale, bias, input_scale, granularity);
  result.weight.resize(weight.size());
  result.bias.resize(channels);
  const std::size_t size = weight.size() / channels;
  for (std::size_t n = 0; n < channels; ++n) {
    const Quantization q{format, result.scale[n], 0};
    for (std::size_t i = n * size; i < (n + 1) * size; ++i) {
      result.weight[i] = static_cast<std::int16_t>(quantize(weight[i], q));
    }
    result.bias[n] = quantize_bias(
        bias[n], static_cast<double>(input_scale) * static_cast<double>(result.scale[n]));
  }
  return result;
}

Requantizer make_requantizer(float input_scale, const std::vector<float>& weight_scale,
                             const Quantization& output, RequantizeMode mode, std::int32_t low,
                             std::int32_t high, const std::string& where) {
  Requantizer requantizer;
  requantizer.mode = mode;
  requantizer.zero_point = output.zero_point;
  requantizer.low = low;
  requantizer.high = high;
  for (const float scale : weight_scale) {
    const float multiplier = input_scale * scale / output.scale;
    if (!std::isfinite(multiplier)) {
      throw InputError(where,
                       "has the scales " + detail::printed(input_scale) + " (input), " +
                           detail::printed(scale) + " (weight) and " +
                           detail::printed(output.scale) + " (output)",
                       "a ratio within the range of fp32");
    }
    if (mode == RequantizeMode::float_multiplier) {
      requantizer.multiplier.push_back(multiplier);
    } else {
      requantizer.fixed_point.push_back(
          to_fixed_point(static_cast<double>(input_scale) * static_cast<double>(scale) /
                         static_cast<double>(output.scale)));
    }
  }
  return requantizer;
}

}  // namespace tilewave::quant
