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

NarrowSum narrow_sum(const Product& product, const sim::Chip& chip) {
  const std::size_t count = product.x.size();
  std::int64_t entry = product.bias;
  for (std::size_t k = 0; k < count; ++k) {
    entry -= std::int64_t{product.zero_point} * product.weight[k];
  }
  entry = limited(entry, chip.precision);
  NarrowSum result;
  const auto add = [&](std::int64_t a, std::int64_t b) {
    const std::int64_t sum = limited(a + b, chip.precision);
    if (sum != a + b) ++result.overflows;
    return sum;
  };
  const std::size_t height = chip.array.dataflow == sim::Dataflow::output_stationary
                                 ? count
                                 : static_cast<std::size_t>(chip.array.rows);
  for (std::size_t first = 0; first < count; first += height) {
    const std::size_t end = std::min(count, first + height);
    std::int64_t sum = 0;
    for (std::size_t k = first; k < end; ++k) {
      sum = add(sum, std::int64_t{product.x[k]} * product.weight[k]);
    }
    entry = add(entry, sum);
  }
  result.value = static_cast<std::int32_t>(entry);
  return result;
}

}  // namespace tilewave::test
