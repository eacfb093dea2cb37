#include "sim/chip/chip.h"

#include <cmath>

#include "base/error.h"
#include "quant/scheme.h"

namespace tilewave::sim {
namespace {

/// ceil(a * b / c) of factors whose product does not fit 64 bits.
std::int64_t ceil_product(std::int64_t a, std::int64_t b, std::int64_t c) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>((static_cast<Wide>(a) * b + c - 1) / c);
}

}  // namespace

std::int64_t Chip::clock_hz() const {
  return std::llround(clock_mhz * 1e6);
}

Cycles Chip::transfer_cycles(Bytes bytes, Bandwidth bandwidth) const {
  return bandwidth ? ceil_product(bytes, clock_hz(), *bandwidth) : 0;
}

Cycles Chip::latency_cycles(double nanoseconds) const {
  // A decimal figure as 0.3 is no exact double: in whole picoseconds it is an exact number again.
  constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;
  return ceil_product(std::llround(nanoseconds * 1000), clock_hz(), kPicosecondsPerSecond);
}

double Chip::seconds(Cycles cycles) const {
  return static_cast<double>(cycles) / static_cast<double>(clock_hz());
}

Chip with_scheme(Chip chip, const quant::Scheme& scheme) {
  if (scheme.accumulator_bits) chip.precision.accumulator_bits = *scheme.accumulator_bits;
  if (scheme.overflow) chip.precision.overflow = *scheme.overflow;
  return chip;
}

}  // namespace tilewave::sim
