#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "quant/format.h"

namespace tilewave::flow {

/// The index of each image's largest output, the first of equals. outputs: [images][classes].
std::vector<std::int64_t> classes_of(std::span<const float> outputs, std::int64_t classes);
std::vector<std::int64_t> classes_of(std::span<const std::int16_t> outputs, std::int64_t classes);

/// Share of images whose class is the label's; nothing if there are no labels.
std::optional<double> accuracy(std::span<const std::int64_t> classes,
                               std::span<const std::uint8_t> labels);
/// Share of images with the same class in both, of equally many.
double agreement(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

/// Largest absolute difference of two equally long sets of outputs.
double largest_difference(std::span<const float> a, std::span<const float> b);

std::vector<float> dequantized(std::span<const std::int16_t> values, const quant::Quantization& q);

}  // namespace tilewave::flow
