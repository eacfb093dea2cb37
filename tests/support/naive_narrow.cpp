#include "tests/support/naive_narrow.h"

#include <algorithm>

namespace tilewave::test {
namespace {

std::int64_t limited(std::int64_t value, const sim::Precision& precision) {
  const std::int64_t span = std::int64_t{1} << precision.accumulator_bits;
  if (precision.overflow == sim::Overflow::saturate) {
    return std::min(std::max(value, -span / 2), span / 2 - 1);
  }
  while (value >= span / 2) value -= span;
  while (value < -span / 2) value += span;
  return value;
}

}  // namespace

std::vector<std::int64_t> narrow_sums(const quant::QDense& dense, std::int32_t zero_point,
                                      const std::vector<std::int16_t>& image,
                                      const sim::Chip& chip) {
  std::vector<std::int64_t> sums;
  const std::size_t count = image.size();
  for (std::size_t n = 0; n < dense.bias.size(); ++n) {
    const std::int16_t* weight = dense.weight.data() + n * count;
    std::int64_t entry = dense.bias[n];
    for (std::size_t k = 0; k < count; ++k) entry -= std::int64_t{zero_point} * weight[k];
    entry = limited(entry, chip.precision);
    const std::size_t height = chip.array.dataflow == sim::Dataflow::output_stationary
                                   ? count
                                   : static_cast<std::size_t>(chip.array.rows);
    for (std::size_t first = 0; first < count; first += height) {
      const std::size_t end = std::min(count, first + height);
      std::int64_t sum = 0;
      for (std::size_t k = first; k < end; ++k) {
        sum = limited(sum + std::int64_t{image[k]} * weight[k], chip.precision);
      }
      entry = limited(entry + sum, chip.precision);
    }
    sums.push_back(entry);
  }
  return sums;
}

}  // namespace tilewave::test
