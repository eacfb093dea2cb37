#include "quant/quantize_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/error.h"
#include "quant/adaptive_rounding.h"
#include "quant/observer.h"
#include "quant/range_search.h"

namespace tilewave::quant {
namespace {

float largest_magnitude(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

float scale_for(float largest, const Format& format) {
  return choose_quantization({-largest, largest}, format).scale;
}

/// The sum of (value - dequantize(quantize(value)))^2 in double, for a symmetric format.
double squared_error(std::span<const float> values, float scale, const Format& format) {
  // Adding and taking away 1.5 * 2^23 rounds to an integer, and clamping to integers may come
  // first.
  constexpr float kShifter = 12582912.0F;
  const auto most = static_cast<float>(format.qmax());
  double sum = 0;
  for (const float value : values) {
    float x = value / scale;
    x = x < most ? x : most;
    x = x > -most ? x : -most;
    const double error = double{value} - double{scale} * double{(x + kShifter) - kShifter};
    sum += error * error;
  }
  return sum;
}

/// The scale for the values: for their largest magnitude, or for the share i / kRangeCandidates of
/// it with the least sum of squared errors, the largest of equals.
float scale_for(std::span<const float> values, const WeightRule& rule) {
  const float largest = largest_magnitude(values);
  if (rule.observer == WeightObserver::min_max) return scale_for(largest, rule.format);
  float best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int i = kRangeCandidates; i > 0; --i) {
    const float share = static_cast<float>(i) / kRangeCandidates;
    const float scale = scale_for(largest * share, rule.format);
    const double error = squared_error(values, scale, rule.format);
    if (error >= least) continue;
    least = error;
    best = scale;
  }
  return best;
}

/// One scale per output channel, before the bias is looked at.
std::vector<float> weight_scales(std::span<const float> weight, std::size_t channels,
                                 const WeightRule& rule) {
  std::vector<float> scales(channels, scale_for(weight, rule));
  if (rule.granularity == Granularity::per_tensor) return scales;
  const std::size_t size = weight.size() / channels;
  for (std::size_t n = 0; n < channels; ++n) {
    const auto own = weight.subspan(n * size, size);
    if (largest_magnitude(own) > 0) scales[n] = scale_for(own, rule);
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

/// Adds to each bias what the weights' rounding takes from the mean of the output.
void correct_bias(std::span<const float> weight, const QuantizedWeights& rounded,
                  const InputMoments& moments, std::vector<float>& bias) {
  const auto k = static_cast<std::size_t>(moments.k);
  const std::size_t of_group = bias.size() / static_cast<std::size_t>(moments.groups);
  for (std::size_t n = 0; n < bias.size(); ++n) {
    const double* mean = moments.mean.data() + n / of_group * k;
    double missing = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const double held = double{rounded.scale[n]} * rounded.weight[n * k + i];
      missing += (double{weight[n * k + i]} - held) * mean[i];
    }
    bias[n] = static_cast<float>(bias[n] + missing);
  }
}

}  // namespace

QuantizedWeights quantize_weights(const std::vector<float>& weight, std::vector<float> bias,
                                  float input_scale, const WeightRule& rule) {
  const std::size_t channels = bias.size();
  QuantizedWeights result;
  result.scale = weight_scales(weight, channels, rule);
  widen_for_bias(result.scale, bias, input_scale, rule.granularity);
  result.weight.resize(weight.size());
  const std::size_t size = weight.size() / channels;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const Quantization q{rule.format, result.scale[i / size], 0};
    result.weight[i] = static_cast<std::int16_t>(quantize(weight[i], q));
  }
  if (rule.rounding == WeightRounding::adaptive) {
    round_adaptively(weight, result.scale, rule.format, *rule.moments, rule.bias_correction,
                     result.weight);
  }
  if (rule.bias_correction) correct_bias(weight, result, *rule.moments, bias);
  for (std::size_t n = 0; n < channels; ++n) {
    result.bias.push_back(quantize_bias(
        bias[n], static_cast<double>(input_scale) * static_cast<double>(result.scale[n])));
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
