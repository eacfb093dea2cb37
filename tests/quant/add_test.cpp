#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "quant/requantize.h"

using namespace tilewave::quant;

namespace {

constexpr auto kFloat = RequantizeMode::float_multiplier;
constexpr auto kFixed = RequantizeMode::fixed_point;
constexpr auto kSingle = RequantizeMode::fixed_point_single_rounding;

Quantization s8(float scale, std::int32_t zero_point) {
  return {Format{8, true, false}, scale, zero_point};
}

}  // namespace

TEST_CASE("an addition in float mode rounds half to even") {
  const Adder adder = make_adder(s8(0.5F, 0), s8(0.5F, 10), s8(1.0F, 1), kFloat, -128, 127);
  CHECK(adder.apply(1, 10) == 1);    // 0.5 + 0 = 0.5, a tie: to 0; + 1
  CHECK(adder.apply(3, 10) == 3);    // 1.5: to 2; + 1
  CHECK(adder.apply(2, 13) == 3);    // 1 + 1.5 = 2.5: to 2; + 1
  CHECK(adder.apply(-1, 10) == 1);   // -0.5: to 0; + 1
  CHECK(adder.apply(-4, 11) == -1);  // -2 + 0.5 = -1.5: to -2; + 1
}

TEST_CASE("an addition in fixed-point mode rounds half away from zero") {
  const Adder adder = make_adder(s8(0.5F, 0), s8(0.5F, 10), s8(1.0F, 1), kFixed, -128, 127);
  CHECK(adder.apply(1, 10) == 2);    // 0.5: to 1; + 1
  CHECK(adder.apply(3, 10) == 3);    // 1.5: to 2; + 1
  CHECK(adder.apply(2, 13) == 4);    // 2.5: to 3; + 1
  CHECK(adder.apply(-1, 10) == 0);   // -0.5: to -1; + 1
  CHECK(adder.apply(-4, 11) == -1);  // -1.5: to -2; + 1
}

TEST_CASE("an addition in single-rounding mode rounds half up") {
  const Adder adder = make_adder(s8(0.5F, 0), s8(0.5F, 10), s8(1.0F, 1), kSingle, -128, 127);
  CHECK(adder.apply(1, 10) == 2);   // 0.5: to 1; + 1
  CHECK(adder.apply(3, 10) == 3);   // 1.5: to 2; + 1
  CHECK(adder.apply(-1, 10) == 1);  // -0.5: to 0; + 1
  CHECK(adder.apply(-4, 11) == 0);  // -1.5: to -1; + 1
}

TEST_CASE("an addition's fixed-point multipliers are TFLite's") {
  // Twice the larger input scale is 2: a 0.25 / 2 = 2^-3, b 1 / 2 = 2^-1, and for the output
  // 2 / (2^20 * 0.5) = 2^-18. A multiplier 2^-s is 2^30 with the exponent 1 - s.
  const Adder adder = make_adder(s8(0.25F, 0), s8(1.0F, 0), s8(0.5F, 0), kFixed, -128, 127);
  CHECK(adder.a_fixed == FixedPointMultiplier{1 << 30, -2});
  CHECK(adder.b_fixed == FixedPointMultiplier{1 << 30, 0});
  CHECK(adder.y_fixed == FixedPointMultiplier{1 << 30, -17});
  CHECK(adder.left_shift == 20);
  CHECK(adder.apply(8, 3) == 10);  // (8 * 0.25 + 3) / 0.5
  const Quantization wide{Format{16, true, false}, 1.0F, 0};
  CHECK(make_adder(wide, wide, wide, kFixed, -32768, 32767).left_shift == 15);
}

TEST_CASE("an addition clamps to its range") {
  for (const auto mode : {kFloat, kFixed, kSingle}) {
    const Adder adder = make_adder(s8(1, 0), s8(1, 0), s8(1, -20), mode, -20, 100);
    CHECK(adder.apply(-100, 3) == -20);
    CHECK(adder.apply(127, 127) == 100);
    CHECK(adder.apply(30, 12) == 22);
  }
}

TEST_CASE("an addition is defined for every input") {
  for (const auto mode : {kFloat, kFixed, kSingle}) {
    const Adder adder = make_adder(s8(1e30F, -128), s8(1e-30F, 127), s8(1, 0), mode, -128, 127);
    for (const std::int32_t a : {std::numeric_limits<std::int32_t>::min(), -1, 0,
                                 std::numeric_limits<std::int32_t>::max()}) {
      const auto y = adder.apply(a, a);
      CHECK((y >= -128 && y <= 127));
    }
  }
}

TEST_CASE("an addition in float mode equals one in double with rounded steps") {
  REQUIRE(rc::check([] {
    const auto scale = [] { return static_cast<float>(*rc::gen::inRange(1, 5000)) * 1e-3F; };
    const Quantization a = s8(scale(), *rc::gen::inRange(-128, 128));
    const Quantization b = s8(scale(), *rc::gen::inRange(-128, 128));
    const Quantization y = s8(scale(), *rc::gen::inRange(-128, 128));
    const int qa = *rc::gen::inRange(-128, 128);
    const int qb = *rc::gen::inRange(-128, 128);
    // Quotient, products and sum of fp32 values, each taken in double and rounded to fp32: the
    // double result is wide enough (53 >= 2 * 24 + 2 bits) for that to be the fp32 operation.
    const auto rounded = [](double v) { return static_cast<double>(static_cast<float>(v)); };
    const double ma = rounded(static_cast<double>(a.scale) / static_cast<double>(y.scale));
    const double mb = rounded(static_cast<double>(b.scale) / static_cast<double>(y.scale));
    const double sum =
        rounded(rounded((qa - a.zero_point) * ma) + rounded((qb - b.zero_point) * mb));
    const double expected = std::clamp(std::nearbyint(sum) + y.zero_point, -128.0, 127.0);
    RC_ASSERT(make_adder(a, b, y, kFloat, -128, 127).apply(qa, qb) == static_cast<int>(expected));
  }));
}

TEST_CASE("an addition in fixed-point mode is the real sum to within its own precision") {
  REQUIRE(rc::check([] {
    const auto scale = [] { return static_cast<float>(*rc::gen::inRange(100, 5000)) * 1e-3F; };
    const Quantization a = s8(scale(), *rc::gen::inRange(-128, 128));
    const Quantization b = s8(scale(), *rc::gen::inRange(-128, 128));
    const Quantization y = s8(scale(), *rc::gen::inRange(-128, 128));
    const int qa = *rc::gen::inRange(-128, 128);
    const int qb = *rc::gen::inRange(-128, 128);
    const double sum = (static_cast<double>(a.scale) * (qa - a.zero_point) +
                        static_cast<double>(b.scale) * (qb - b.zero_point)) /
                           static_cast<double>(y.scale) +
                       y.zero_point;
    // Half a unit of rounding, and 2^-20 of the inputs' unit (at most 50 of the output's).
    const double got = make_adder(a, b, y, kFixed, -1000000, 1000000).apply(qa, qb);
    RC_ASSERT(std::abs(got - sum) <= 0.5 + 1e-3);
  }));
}

TEST_CASE("an average rounds half to even in float mode and half away in fixed-point mode") {
  CHECK(rounded_average(1, 2, kFloat) == 0);    // 0.5
  CHECK(rounded_average(3, 2, kFloat) == 2);    // 1.5
  CHECK(rounded_average(5, 2, kFloat) == 2);    // 2.5
  CHECK(rounded_average(-1, 2, kFloat) == 0);   // -0.5
  CHECK(rounded_average(-3, 2, kFloat) == -2);  // -1.5
  CHECK(rounded_average(-5, 2, kFloat) == -2);  // -2.5
  CHECK(rounded_average(10, 4, kFloat) == 2);   // 2.5
  CHECK(rounded_average(1, 2, kFixed) == 1);    // 0.5
  CHECK(rounded_average(5, 2, kFixed) == 3);    // 2.5
  CHECK(rounded_average(-1, 2, kFixed) == -1);  // -0.5
  CHECK(rounded_average(-5, 2, kFixed) == -3);  // -2.5
  CHECK(rounded_average(-7, 4, kFixed) == -2);  // -1.75
  CHECK(rounded_average(7, 3, kFloat) == 2);    // 2.33
  CHECK(rounded_average(-8, 3, kFloat) == -3);  // -2.67
  CHECK(rounded_average(4, 9, kFixed) == 0);    // 0.44
  CHECK_THROWS(rounded_average(1, 0, kFloat));
}

TEST_CASE("an average equals the rounded quotient in long double") {
  REQUIRE(rc::check([] {
    const auto sum =
        *rc::gen::oneOf(rc::gen::arbitrary<std::int32_t>(), rc::gen::inRange(-1000, 1000),
                        rc::gen::element(std::numeric_limits<std::int32_t>::min(),
                                         std::numeric_limits<std::int32_t>::max()));
    const auto count = *rc::gen::oneOf(rc::gen::inRange(1, 50), rc::gen::inRange(1, 1 << 30));
    // A quotient of 32-bit integers that is no tie is at least 2^-32 away from one, and a tie is
    // exact: long double (64 bits) keeps both.
    const long double quotient = static_cast<long double>(sum) / static_cast<long double>(count);
    RC_ASSERT(rounded_average(sum, count, kFloat) ==
              static_cast<std::int32_t>(std::nearbyint(quotient)));
    RC_ASSERT(rounded_average(sum, count, kFixed) ==
              static_cast<std::int32_t>(std::round(quotient)));
  }));
}
