#include "flow/scores.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "quant/requantize.h"

namespace tilewave::flow {
namespace {

template <typename T>
std::vector<std::int64_t> largest_of_rows(std::span<const T> outputs, std::int64_t classes) {
  TILEWAVE_CHECK(classes, >, 0, "outputs have classes");
  const auto width = static_cast<std::size_t>(classes);
  TILEWAVE_CHECK(outputs.size() % width, ==, std::size_t{0}, "outputs are whole images");
  std::vector<std::int64_t> result;
  result.reserve(outputs.size() / width);
  for (std::size_t first = 0; first < outputs.size(); first += width) {
    const auto row = outputs.subspan(first, width);
    result.push_back(std::max_element(row.begin(), row.end()) - row.begin());
  }
  return result;
}

}  // namespace

std::vector<std::int64_t> classes_of(std::span<const float> outputs, std::int64_t classes) {
  return largest_of_rows(outputs, classes);
}

std::vector<std::int64_t> classes_of(std::span<const std::int16_t> outputs, std::int64_t classes) {
  return largest_of_rows(outputs, classes);
}

std::optional<double> accuracy(std::span<const std::int64_t> classes,
                               std::span<const std::uint8_t> labels) {
  if (labels.empty() || classes.empty()) return std::nullopt;
  TILEWAVE_CHECK(labels.size(), >=, classes.size(), "every image has a label");
  std::int64_t right = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) right += classes[i] == labels[i];
  return static_cast<double>(right) / static_cast<double>(classes.size());
}

double agreement(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  TILEWAVE_CHECK(a.size(), ==, b.size(), "as many images in both");
  if (a.empty()) return 1;
  std::int64_t same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
  return static_cast<double>(same) / static_cast<double>(a.size());
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  TILEWAVE_CHECK(a.size(), ==, b.size(), "as many outputs in both");
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

std::vector<float> dequantized(std::span<const std::int16_t> values, const quant::Quantization& q) {
  std::vector<float> real(values.size());
  std::transform(values.begin(), values.end(), real.begin(),
                 [&](std::int16_t value) { return quant::dequantize(value, q); });
  return real;
}

}  // namespace tilewave::flow
