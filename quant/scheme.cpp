#include "quant/scheme.h"

#include "base/error.h"

namespace tilewave::quant {
namespace {

void check_bits(const std::string& key, int bits) {
  if ((bits >= 2 && bits <= 8) || bits == 16) return;
  throw InputError("scheme: " + key, "is " + std::to_string(bits), "2 to 8, or 16");
}

}  // namespace

void validate(const Scheme& scheme) {
  check_bits("weight_bits", scheme.weight_bits);
  check_bits("activation_bits", scheme.activation_bits);
  if (scheme.activation_bits > 8 && !scheme.activation_signed) {
    throw InputError("scheme: activation_signed", "is false with activation_bits 16",
                     "unsigned activations have 2 to 8 bits");
  }
  if (!(scheme.percentile > 50 && scheme.percentile <= 100)) {
    throw InputError("scheme: percentile", "is " + detail::printed(scheme.percentile),
                     "above 50, at most 100");
  }
  if (scheme.calibration_images < 1) {
    throw InputError("scheme: calibration_images",
                     "is " + std::to_string(scheme.calibration_images), "1 or more");
  }
}

}  // namespace tilewave::quant
