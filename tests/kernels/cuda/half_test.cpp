#include "kernels/cuda/half.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using tilewave::kernels::gpu::Half;
using tilewave::kernels::gpu::to_float;
using tilewave::kernels::gpu::to_half;

namespace {

/// From the definition: sign, 5 bits of exponent with bias 15, 10 bits of fraction.
double value_of(unsigned bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 0x1fU);
  const int fraction = static_cast<int>(bits & 0x3ffU);
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

}  // namespace

TEST_CASE("every half that is a number has the value that IEEE 754 gives it, and comes back") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7c00U) == 0x7c00U) continue;
    const float value = to_float(Half{static_cast<std::uint16_t>(bits)});
    REQUIRE(double{value} == value_of(bits));
    REQUIRE(to_half(value).bits == bits);
  }
}

TEST_CASE("a float becomes the nearest half, the even one of two") {
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const double low = value_of(bits);
    const double high = value_of(bits + 1);
    const auto middle = static_cast<float>((low + high) / 2);  // exact: one more bit
    REQUIRE(to_half(middle).bits == bits + bits % 2);
    REQUIRE(to_half(-middle).bits == (0x8000U | (bits + bits % 2)));
    REQUIRE(to_half(std::nextafterf(middle, 0)).bits == bits);
    REQUIRE(to_half(std::nextafterf(middle, 1e9F)).bits == bits + 1);
  }
}

TEST_CASE("what a half cannot hold becomes an infinity, and NaN stays NaN") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(to_half(65519.99F).bits == 0x7bff);  // 65504, the largest
  CHECK(to_half(65520.0F).bits == 0x7c00);
  CHECK(to_half(-1e30F).bits == 0xfc00);
  CHECK(to_float(to_half(kInfinity)) == kInfinity);
  CHECK(to_float(to_half(-kInfinity)) == -kInfinity);
  CHECK(std::isnan(to_float(to_half(std::nanf("")))));
}
