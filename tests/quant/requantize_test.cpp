#include "quant/requantize.h"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

using namespace tilewave::quant;

namespace {

__extension__ using Wide = __int128;

constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Quantization s8(float scale, std::int32_t zero_point) {
  return {Format{8, true, false}, scale, zero_point};
}

/// Any 32-bit value, with those at the edges as likely as the rest.
rc::Gen<std::int32_t> any_int32() {
  return rc::gen::oneOf(
      rc::gen::arbitrary<std::int32_t>(), rc::gen::inRange<std::int32_t>(kMin, kMax),
      rc::gen::element(+kMin, kMin + 1, -(1 << 30), -(1 << 24) - 1, -3, -2, -1, 0, 1, 2, 3, 127,
                       128, (1 << 24) + 1, 1 << 30, kMax - 1, +kMax));
}

Wide floor_div(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/// a / b for b > 0, ties away from zero, by floor division of the magnitude.
Wide nearest_away(Wide a, Wide b) {
  const Wide magnitude = a < 0 ? -a : a;
  const Wide rounded = floor_div(2 * magnitude + b, 2 * b);
  return a < 0 ? -rounded : rounded;
}

/// a / b for b > 0, ties towards plus infinity.
Wide nearest_up(Wide a, Wide b) {
  return floor_div(2 * a + b, 2 * b);
}

std::int32_t saturated(Wide x) {
  return static_cast<std::int32_t>(std::clamp<Wide>(x, kMin, kMax));
}

std::int32_t expected_fixed_point(std::int32_t acc, FixedPointMultiplier m) {
  const Wide shifted = saturated(Wide{acc} << std::max(m.exponent, 0));
  const Wide high = saturated(nearest_up(shifted * m.q31, Wide{1} << 31));
  return saturated(nearest_away(high, Wide{1} << std::max(-m.exponent, 0)));
}

}  // namespace

TEST_CASE("quantize rounds half to even before it adds the zero point") {
  const Quantization q = s8(0.5F, 3);
  CHECK(quantize(0.25F, q) == 3);    // 0.25 / 0.5 = 0.5, a tie: to 0; 0 + 3
  CHECK(quantize(0.75F, q) == 5);    // 1.5, a tie: to 2
  CHECK(quantize(1.25F, q) == 5);    // 2.5, a tie: to 2
  CHECK(quantize(-0.25F, q) == 3);   // -0.5, a tie: to 0
  CHECK(quantize(-0.75F, q) == 1);   // -1.5, a tie: to -2
  CHECK(quantize(-1.25F, q) == 1);   // -2.5, a tie: to -2
  CHECK(quantize(0.2501F, q) == 4);  // 0.5002: to 1
}

TEST_CASE("quantize divides by the scale and does not multiply by its reciprocal") {
  // Near the ties k + 0.5 the two differ; IEEE division is that in double, rounded to fp32.
  for (int k = 0; k < 120; ++k) {
    const float scale = 0.3F;
    const float x = (static_cast<float>(k) + 0.5F) * scale;
    const double quotient = static_cast<float>(static_cast<double>(x) / static_cast<double>(scale));
    CHECK(quantize(x, s8(scale, 0)) == static_cast<int>(std::nearbyint(quotient)));
  }
}

TEST_CASE("quantize clamps what lies outside of the format, infinities too") {
  CHECK(quantize(1e30F, s8(1, 0)) == 127);
  CHECK(quantize(-1e30F, s8(1, 0)) == -128);
  CHECK(quantize(kInfinity, s8(1e-38F, -128)) == 127);
  CHECK(quantize(-kInfinity, s8(1, 5)) == -128);
  CHECK(quantize(-200, {Format{8, true, true}, 1, 0}) == -127);
  CHECK(quantize(-200, {Format{8, false, false}, 1, 10}) == 0);
  CHECK(quantize(300, {Format{8, false, false}, 1, 10}) == 255);
  CHECK(quantize(9, {Format{2, true, true}, 1, 0}) == 1);
  CHECK(quantize(1e9F, {Format{16, true, false}, 1, 0}) == 32767);
  CHECK_NOTHROW(quantize(std::numeric_limits<float>::quiet_NaN(), s8(1, 0)));
}

TEST_CASE("dequantize undoes quantize for every value of a format") {
  const Quantization q = s8(0.037F, -17);
  for (std::int32_t v = -128; v <= 127; ++v) CHECK(quantize(dequantize(v, q), q) == v);
}

TEST_CASE("float requantization rounds half to even and then adds the zero point") {
  CHECK(requantize_float(1, 0.5F, 0, -128, 127) == 0);        // 0.5 to 0
  CHECK(requantize_float(3, 0.5F, 0, -128, 127) == 2);        // 1.5 to 2
  CHECK(requantize_float(5, 0.5F, 0, -128, 127) == 2);        // 2.5 to 2
  CHECK(requantize_float(-1, 0.5F, 0, -128, 127) == 0);       // -0.5 to 0
  CHECK(requantize_float(-3, 0.5F, 0, -128, 127) == -2);      // -1.5 to -2
  CHECK(requantize_float(5, 0.5F, 1, -128, 127) == 3);        // 2.5 to 2, + 1; not round(3.5) = 4
  CHECK(requantize_float(-100, 1.0F, -10, -10, 127) == -10);  // -110: a fused ReLU's low
  CHECK(requantize_float(kMax, 1.0F, 0, -128, 127) == 127);
  CHECK(requantize_float(kMin, 1.0F, 0, -128, 127) == -128);
}

TEST_CASE("float requantization takes the accumulator to fp32 first") {
  // 2^24 + 1 is a tie between 2^24 and 2^24 + 2 in fp32: to 2^24 (even). 2^24 * 2^-20 = 16.
  // 2^24 + 3 goes to 2^24 + 4; times 0.5 is 2^23 + 2 (exact: 8388610).
  CHECK(requantize_float((1 << 24) + 1, std::ldexp(1.0F, -20), 0, -128, 127) == 16);
  CHECK(requantize_float((1 << 24) + 3, 0.5F, 0, kMin, kMax) == 8388610);
}

TEST_CASE("float requantization is defined for extreme multipliers") {
  CHECK(requantize_float(1, kInfinity, 0, -128, 127) == 127);
  CHECK(requantize_float(-1, kInfinity, 0, -128, 127) == -128);
  CHECK(requantize_float(0, kInfinity, 0, -128, 127) == -128);  // 0 * inf is NaN: low
  CHECK(requantize_float(kMax, 1e-45F, 7, -128, 127) == 7);
  CHECK(requantize_float(kMax, 1.0F, kMax, kMin, kMax) == kMax);
}

TEST_CASE("float requantization equals one in double with a rounded product") {
  REQUIRE(rc::check([] {
    const auto acc = *any_int32();
    const auto multiplier =
        std::ldexp(1.0F + static_cast<float>(*rc::gen::inRange(0, 1 << 23)) * std::ldexp(1.0F, -23),
                   *rc::gen::inRange(-40, 2));
    const auto zero_point = *rc::gen::inRange(-128, 128);
    // acc rounded to fp32 and its product with an fp32 value are exact in double (48 bits).
    const double product = static_cast<double>(static_cast<float>(static_cast<double>(acc))) *
                           static_cast<double>(multiplier);
    const double rounded = std::nearbyint(static_cast<double>(static_cast<float>(product)));
    const double expected = std::clamp(rounded + zero_point, -128.0, 127.0);
    RC_ASSERT(requantize_float(acc, multiplier, zero_point, -128, 127) ==
              static_cast<std::int32_t>(expected));
  }));
}

TEST_CASE("the high multiply rounds ties towards plus infinity") {
  const auto multiply = saturating_rounding_doubling_high_multiply;
  // ab / 2^31 with b = 2^30 is a / 2.
  CHECK(multiply(1, 1 << 30) == 1);    // 0.5 to 1
  CHECK(multiply(3, 1 << 30) == 2);    // 1.5 to 2
  CHECK(multiply(-1, 1 << 30) == 0);   // -0.5 to 0
  CHECK(multiply(-3, 1 << 30) == -1);  // -1.5 to -1
  CHECK(multiply(5, 1 << 30) == 3);    // 2.5 to 3
  CHECK(multiply(1, (1 << 30) - 1) == 0);
  CHECK(multiply(-1, (1 << 30) - 1) == 0);
  CHECK(multiply(kMin, kMin) == kMax);      // 2^62 / 2^31 = 2^31 saturates
  CHECK(multiply(kMin, kMax) == -kMax);     // -2^31 (2^31 - 1) / 2^31
  CHECK(multiply(kMax, kMax) == kMax - 1);  // 2^31 - 2 + 2^-31
}

TEST_CASE("the rounding shift right rounds ties away from zero") {
  CHECK(rounding_shift_right(1, 1) == 1);    // 0.5 to 1
  CHECK(rounding_shift_right(-1, 1) == -1);  // -0.5 to -1
  CHECK(rounding_shift_right(3, 1) == 2);    // 1.5 to 2
  CHECK(rounding_shift_right(-3, 1) == -2);  // -1.5 to -2
  CHECK(rounding_shift_right(6, 2) == 2);    // 1.5 to 2
  CHECK(rounding_shift_right(5, 2) == 1);    // 1.25 to 1
  CHECK(rounding_shift_right(-7, 0) == -7);
  CHECK(rounding_shift_right(kMax, 31) == 1);   // just below 1
  CHECK(rounding_shift_right(kMin, 31) == -1);  // exactly -1
  CHECK(rounding_shift_right(1 << 30, 31) == 1);
  CHECK(rounding_shift_right(-(1 << 30), 31) == -1);
  CHECK(rounding_shift_right((1 << 30) - 1, 31) == 0);
  CHECK_THROWS(rounding_shift_right(1, 32));
  CHECK_THROWS(rounding_shift_right(1, -1));
}

TEST_CASE("a single rounding takes ties towards plus infinity and forgets no fraction") {
  const FixedPointMultiplier half{1 << 30, 0};           // 1/2
  const FixedPointMultiplier eighth{1 << 30, -2};        // 1/8
  CHECK(multiply_by_fixed_point_once(3, half) == 2);     // 1.5: up to 2
  CHECK(multiply_by_fixed_point_once(-3, half) == -1);   // -1.5: up to -1
  CHECK(multiply_by_fixed_point_once(4, eighth) == 1);   // 0.5: up to 1
  CHECK(multiply_by_fixed_point_once(-4, eighth) == 0);  // -0.5: up to 0
  CHECK(multiply_by_fixed_point_once(3, eighth) == 0);   // 0.375
  // Rounding twice: 3 * 1/2 = 1.5, up to 2; 2 / 4 = 0.5, away from zero to 1.
  CHECK(multiply_by_fixed_point(3, eighth) == 1);
  // -4 * 1/2 = -2; -2 / 4 = -0.5, away from zero to -1.
  CHECK(multiply_by_fixed_point(-4, eighth) == -1);
  CHECK(multiply_by_fixed_point_once(kMax, {1 << 30, 2}) == kMax);  // 2^32 - 2 saturates
  CHECK(multiply_by_fixed_point_once(kMin, {kMax, 31}) == kMin);
  CHECK(multiply_by_fixed_point_once(-5, {1 << 30, 31}) == kMin);  // -5 * 2^30
  CHECK(multiply_by_fixed_point_once(kMin, {1 << 30, -31}) == 0);  // -2^31 * 2^-32 = -0.5: up to 0
  CHECK(multiply_by_fixed_point_once(kMax, {kMax, -31}) == 1);     // 1 - 2^-30
}

TEST_CASE("the fixed-point functions equal their definition in 128-bit integers") {
  REQUIRE(rc::check([] {
    const auto a = *any_int32();
    const auto b = *any_int32();
    RC_ASSERT(saturating_rounding_doubling_high_multiply(a, b) ==
              saturated(nearest_up(Wide{a} * b, Wide{1} << 31)));
    const int shift = *rc::gen::inRange(0, 32);
    RC_ASSERT(rounding_shift_right(a, shift) == saturated(nearest_away(a, Wide{1} << shift)));
    const FixedPointMultiplier m{*rc::gen::inRange(1 << 30, kMax), *rc::gen::inRange(-31, 31)};
    RC_ASSERT(multiply_by_fixed_point(a, m) == expected_fixed_point(a, m));
    RC_ASSERT(multiply_by_fixed_point_once(a, m) ==
              saturated(nearest_up(Wide{a} * m.q31, Wide{1} << (31 - m.exponent))));
    const auto zero_point = *rc::gen::inRange(-128, 128);
    RC_ASSERT(requantize_fixed_point(a, m, RequantizeMode::fixed_point, zero_point, -128, 127) ==
              static_cast<std::int32_t>(std::clamp<std::int64_t>(
                  std::int64_t{expected_fixed_point(a, m)} + zero_point, -128, 127)));
  }));
}

TEST_CASE("fixed-point multipliers of powers of two are exact") {
  CHECK(to_fixed_point(1.0) == FixedPointMultiplier{1 << 30, 1});
  CHECK(to_fixed_point(0.5) == FixedPointMultiplier{1 << 30, 0});
  CHECK(to_fixed_point(0.75) == FixedPointMultiplier{3 << 29, 0});
  CHECK(to_fixed_point(std::ldexp(1.0, -10)) == FixedPointMultiplier{1 << 30, -9});
  CHECK(multiply_by_fixed_point(100, to_fixed_point(1.0)) == 100);
  CHECK(multiply_by_fixed_point(-100, to_fixed_point(4.0)) == -400);
}

TEST_CASE("a fixed-point multiplier that rounds up to a power of two stays in its range") {
  // 1 - 2^-40 rounds to 2^31 / 2^31: kept as 2^30 with the next exponent.
  CHECK(to_fixed_point(1.0 - std::ldexp(1.0, -40)) == FixedPointMultiplier{1 << 30, 1});
}

TEST_CASE("fixed-point multipliers beyond both ends are zero or saturate") {
  CHECK(to_fixed_point(std::ldexp(1.0, -32)) == FixedPointMultiplier{1 << 30, -31});
  CHECK(to_fixed_point(std::ldexp(1.0, -33)).q31 == 0);
  CHECK(to_fixed_point(0).q31 == 0);
  CHECK(to_fixed_point(-1).q31 == 0);
  CHECK(to_fixed_point(std::nan("")).q31 == 0);
  CHECK(multiply_by_fixed_point(kMin, to_fixed_point(1e-300)) == 0);
  CHECK(to_fixed_point(std::ldexp(1.0, 29)) == FixedPointMultiplier{1 << 30, 30});
  CHECK(to_fixed_point(std::ldexp(1.0, 31)) == FixedPointMultiplier{kMax, 30});
  CHECK(to_fixed_point(HUGE_VAL) == FixedPointMultiplier{kMax, 30});
  CHECK(requantize_fixed_point(1, to_fixed_point(1e300), RequantizeMode::fixed_point, 0, -128,
                               127) == 127);
  CHECK(requantize_fixed_point(kMin, to_fixed_point(1e300), RequantizeMode::fixed_point, 0, -128,
                               127) == -128);
  CHECK(requantize_fixed_point(kMax, to_fixed_point(1.0), RequantizeMode::fixed_point, kMax, kMin,
                               kMax) == kMax);
}

TEST_CASE("a fixed-point multiplier is within half a unit of the real one") {
  REQUIRE(rc::check([] {
    const double fraction = 0.5 + *rc::gen::inRange(0, kMax) * std::ldexp(1.0, -32);
    const double multiplier = std::ldexp(fraction, *rc::gen::inRange(-31, 30));
    const auto m = to_fixed_point(multiplier);
    RC_ASSERT(m.q31 >= 1 << 30);
    const long double got = std::ldexp(static_cast<long double>(m.q31), m.exponent - 31);
    RC_ASSERT(std::abs(got - static_cast<long double>(multiplier)) <=
              std::ldexp(0.5L, m.exponent - 31));
  }));
}

TEST_CASE("a row is requantized as its elements are") {
  REQUIRE(rc::check([] {
    const auto acc =
        *rc::gen::container<std::vector<std::int32_t>>(*rc::gen::inRange(0, 40), any_int32());
    Requantizer r;
    r.mode = *rc::gen::element(RequantizeMode::float_multiplier, RequantizeMode::fixed_point,
                               RequantizeMode::fixed_point_single_rounding);
    for (std::size_t n = 0; n < acc.size(); ++n) {
      // Powers of two make ties frequent.
      const double real = *rc::gen::element(1.0, 1.37) * std::ldexp(1.0, *rc::gen::inRange(-33, 3));
      r.multiplier.push_back(static_cast<float>(real));
      r.fixed_point.push_back(to_fixed_point(real));
    }
    const int limit = *rc::gen::element(2, 128, 32768);
    r.zero_point = *rc::gen::inRange(-limit, limit);
    r.low = *rc::gen::element(-limit, r.zero_point);
    r.high = limit - 1;
    std::vector<std::int16_t> out(acc.size());
    requantize_row(acc.data(), static_cast<std::int64_t>(acc.size()), r, out.data());
    for (std::size_t n = 0; n < acc.size(); ++n) RC_ASSERT(out[n] == r.apply(acc[n], n));
  }));
}

TEST_CASE("a row is requantized as its elements are for any zero point and multiplier") {
  Requantizer r;
  r.multiplier = {kInfinity, kInfinity, 1e-45F, 1.0F};
  const std::vector<std::int32_t> acc = {0, -5, kMin, 77};
  for (const std::int32_t zero_point : {0, kMin, kMax, 1 << 23}) {
    r.zero_point = zero_point;
    std::vector<std::int16_t> out(acc.size());
    requantize_row(acc.data(), 4, r, out.data());
    for (std::size_t n = 0; n < acc.size(); ++n) CHECK(out[n] == r.apply(acc[n], n));
  }
}
