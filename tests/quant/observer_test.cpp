#include "quant/observer.h"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "quant/requantize.h"

using namespace tilewave::quant;
using tilewave::InputError;

namespace {

Scheme percentile_scheme(double percentile) {
  Scheme scheme;
  scheme.observer = ObserverKind::percentile;
  scheme.percentile = percentile;
  return scheme;
}

/// NumPy's percentile with method "inverted_cdf" (the smallest value with at least that share of
/// all values at or below it), for a share of numerator / 256.
float exact_percentile(std::vector<float> values, std::size_t numerator) {
  std::sort(values.begin(), values.end());
  const std::size_t rank = (values.size() * numerator + 255) / 256;
  return values[rank - 1];
}

float any_value() {
  const int kind = *rc::gen::inRange(0, 10);
  const auto mantissa = static_cast<float>(*rc::gen::inRange(-1000000, 1000000));
  if (kind == 0) return 0;
  return std::ldexp(mantissa, *rc::gen::inRange(kind == 1 ? -160 : -20, kind == 1 ? 100 : -10));
}

}  // namespace

TEST_CASE("the min-max observer keeps the extremes and contains 0") {
  const auto observer = make_observer(Scheme{}, "x");
  CHECK(observer->range({}).low == 0);
  CHECK(observer->range({}).high == 0);
  observer->observe(std::vector<float>{2, 3});
  CHECK(observer->range({}).low == 0);
  CHECK(observer->range({}).high == 3);
  observer->observe(std::vector<float>{-1.5F, 1});
  CHECK(observer->range({}).low == -1.5F);
  CHECK(observer->range({}).high == 3);
}

TEST_CASE("the moving average begins at the first image and moves by 1 - momentum") {
  Scheme scheme;
  scheme.observer = ObserverKind::moving_average;
  scheme.momentum = 0.75;
  const auto observer = make_observer(scheme, "x");
  CHECK(observer->range({}).high == 0);
  observer->observe(std::vector<float>{4, -8});
  CHECK(observer->range({}).low == -8);
  CHECK(observer->range({}).high == 4);
  observer->observe(std::vector<float>{8, 2});
  CHECK(observer->range({}).low == -6);  // 0.75 * -8 + 0.25 * 0
  CHECK(observer->range({}).high == 5);  // 0.75 * 4 + 0.25 * 8
}

TEST_CASE("observers that search find a range for nothing, zeros and one value") {
  for (const auto kind : {ObserverKind::mse, ObserverKind::entropy}) {
    Scheme scheme;
    scheme.observer = kind;
    for (const int bits : {2, 8, 16}) {
      const Format format{bits, true, false};
      const auto observer = make_observer(scheme, "x");
      CHECK(observer->range(format).high == 0);
      observer->observe(std::vector<float>{0, 0});
      CHECK(observer->range(format).low == 0);
      CHECK(observer->range(format).high == 0);
      observer->observe(std::vector<float>{3});
      CHECK(observer->range(format).low == 0);
      CHECK(observer->range(format).high > 2.9F);
      CHECK(observer->range(format).high <= 3);
    }
  }
}

TEST_CASE("observers refuse NaN and infinities by the tensor's name") {
  const float infinity = std::numeric_limits<float>::infinity();
  Scheme entropy;
  entropy.observer = ObserverKind::entropy;
  Scheme moving_average;
  moving_average.observer = ObserverKind::moving_average;
  for (const Scheme& scheme : {Scheme{}, entropy, moving_average, percentile_scheme(99)}) {
    const auto observer = make_observer(scheme, "conv1");
    observer->observe(std::vector<float>{1});
    CHECK_THROWS_WITH(observer->observe(std::vector<float>{0, std::nanf("")}),
                      "conv1: has NaN among its values (finite values only)");
    CHECK_THROWS_WITH(observer->observe(std::vector<float>{infinity}),
                      "conv1: has an infinity among its values (finite values only)");
    CHECK_THROWS_AS(observer->observe(std::vector<float>{-infinity}), InputError);
    CHECK(observer->range({}).high == 1);
  }
}

TEST_CASE("the percentile observer is at most one bin outside of the exact percentile") {
  REQUIRE(rc::check([] {
    std::vector<float> values;
    for (int i = *rc::gen::inRange(1, 300); i > 0; --i) values.push_back(any_value());
    const auto numerator = *rc::gen::inRange<std::size_t>(129, 257);
    const auto observer =
        make_observer(percentile_scheme(static_cast<double>(numerator) * 100 / 256), "x");
    for (const float value : values) observer->observe(std::span(&value, 1));

    const float high = std::max(exact_percentile(values, numerator), 0.0F);
    std::vector<float> mirrored = values;
    for (float& value : mirrored) value = -value;
    const float low = -std::max(exact_percentile(mirrored, numerator), 0.0F);
    float largest = 0;
    for (const float value : values) largest = std::max(largest, std::abs(value));
    const auto range = observer->range({});
    RC_ASSERT(range.high >= high);
    RC_ASSERT(range.high <= high + std::ldexp(largest, -12));
    RC_ASSERT(range.low <= low);
    RC_ASSERT(range.low >= low - std::ldexp(largest, -12));
    if (numerator == 256) {
      RC_ASSERT(range.high == high);
      RC_ASSERT(range.low == low);
    }
  }));
}

TEST_CASE("the percentile observer does not depend on the order of the values") {
  REQUIRE(rc::check([] {
    std::vector<float> values;
    for (int i = *rc::gen::inRange(1, 100); i > 0; --i) values.push_back(any_value());
    const auto forward = make_observer(percentile_scheme(75), "x");
    const auto backward = make_observer(percentile_scheme(75), "x");
    forward->observe(values);
    std::reverse(values.begin(), values.end());
    backward->observe(values);
    RC_ASSERT(forward->range({}).low == backward->range({}).low);
    RC_ASSERT(forward->range({}).high == backward->range({}).high);
  }));
}

TEST_CASE("the percentile observer cuts a rare outlier off") {
  const auto observer = make_observer(percentile_scheme(99), "x");
  std::vector<float> values(999, 1.0F);
  values.push_back(1000);
  observer->observe(values);
  CHECK(observer->range({}).low == 0);
  CHECK(observer->range({}).high >= 1);
  CHECK(observer->range({}).high <= 1.25F);  // 1000 lies below 1024: bins of 1024 / 8192
}

TEST_CASE("pixels get the scale 1 / 255 and the lowest zero point") {
  const auto q = choose_quantization({0, 1}, Format{});
  CHECK(q.scale == 1.0F / 255);
  CHECK(q.zero_point == -128);
  CHECK(choose_quantization({0, 1}, Format{8, false, false}).zero_point == 0);
}

TEST_CASE("a range is widened to contain 0 and 0 is a quantized value") {
  const auto positive = choose_quantization({2, 4}, Format{});
  CHECK(positive.scale == 4.0F / 255);
  CHECK(positive.zero_point == -128);
  const auto negative = choose_quantization({-4, -2}, Format{});
  CHECK(negative.scale == 4.0F / 255);
  CHECK(negative.zero_point == 127);
  // Scale 1: the zero point is -128 + 100.5, a tie, to the even -28.
  const auto both = choose_quantization({-100.5F, 154.5F}, Format{});
  CHECK(both.scale == 1);
  CHECK(both.zero_point == -28);
}

TEST_CASE("a symmetric range is centred on 0 and leaves the lowest value out") {
  const auto q = choose_quantization({-1, 2}, Format{8, true, true});
  CHECK(q.scale == 2.0F / 127);
  CHECK(q.zero_point == 0);
  CHECK(choose_quantization({-3, 0}, Format{2, true, true}).scale == 3);
}

TEST_CASE("a scale is always a normal number") {
  for (const bool symmetric : {false, true}) {
    for (const int bits : {2, 8, 16}) {
      const Format format{bits, true, symmetric};
      CHECK(choose_quantization({0, 0}, format).scale == 1);
      const float tiny = std::numeric_limits<float>::denorm_min();
      CHECK(std::isnormal(choose_quantization({-tiny, tiny}, format).scale));
      const float huge = std::numeric_limits<float>::max();
      CHECK(std::isnormal(choose_quantization({-huge, huge}, format).scale));
      CHECK(std::isnormal(choose_quantization({0, huge}, format).scale));
    }
  }
}

TEST_CASE("both ends of a range are within half a step of a quantized value") {
  REQUIRE(rc::check([] {
    const float low = -std::abs(any_value());
    const float high = std::abs(any_value());
    const int bits = *rc::gen::element(2, 3, 8, 16);
    const auto q = choose_quantization({low, high}, Format{bits, true, false});
    for (const float end : {low, high}) {
      const double step = static_cast<double>(q.scale);
      const double error =
          std::abs(static_cast<double>(dequantize(quantize(end, q), q)) - static_cast<double>(end));
      RC_ASSERT(error <= step * 0.51);
    }
    RC_ASSERT(quantize(0, q) == q.zero_point);
  }));
}
