#pragma once

#include <memory>
#include <span>
#include <string>

#include "quant/scheme.h"

namespace tilewave::quant {

/// Watches the real values that a tensor takes during calibration and proposes a range.
/// Memory does not grow with the number of values seen.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The values of one image. Throws InputError (with the name given at construction) on NaN and
  /// infinities, which no scale can hold.
  virtual void observe(std::span<const float> values) = 0;
  struct Range {
    float low = 0;
    float high = 0;
  };
  /// The range for values of `format`, widened to contain 0. Before any value: [0, 0].
  virtual Range range(const Format& format) const = 0;
};

/// min_max: the extremes. moving_average: the extremes of the first image, then for each image
/// momentum * so far + (1 - momentum) * extremes of the image, in double. percentile: leaves out
/// (100 - percentile) per cent of the values at each end; never inside of the exact percentile, and
/// outside by less than 2^-12 of the largest magnitude seen. mse, entropy: range_search.h over a
/// histogram. `name`: the tensor, for errors.
std::unique_ptr<Observer> make_observer(const Scheme& scheme, const std::string& name);

/// Scale and zero_point for the range, widened to contain 0, which is one of the quantized values
/// exactly: symmetric signed formats centre on it, others round the zero_point (half to even). A
/// range of one point gets scale 1; a scale is never below the smallest normal fp32 value.
Quantization choose_quantization(Observer::Range range, Format format);

}  // namespace tilewave::quant
