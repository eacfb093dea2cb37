#include "quant/scheme.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>

#include "base/error.h"

using namespace tilewave::quant;
using tilewave::InputError;

namespace {
Scheme parse(const std::string& yaml) {
  return parse_scheme(yaml, "s.yaml");
}
}  // namespace

TEST_CASE("every key of a scheme is read and absent keys keep their defaults") {
  CHECK(parse("") == Scheme{});
  CHECK(parse("weight_bits: 4\n").weight_bits == 4);
  const Scheme scheme = parse(
      "weight_bits: 16\nactivation_bits: 5\nactivation_signed: false\ngranularity: per_tensor\n"
      "observer: percentile\npercentile: 99.5\ncalibration_images: 10\nrequantize: fixed_point\n"
      "momentum: 0.5\nseed: 7\nweight_observer: mse\nweight_rounding: adaptive\n"
      "bias_correction: true\ncross_layer_equalization: true\n"
      "accumulator_bits: 12\noverflow: saturate\n");
  Scheme expected;
  expected.weight_bits = 16;
  expected.activation_bits = 5;
  expected.activation_signed = false;
  expected.granularity = Granularity::per_tensor;
  expected.observer = ObserverKind::percentile;
  expected.percentile = 99.5;
  expected.momentum = 0.5;
  expected.weight_observer = WeightObserver::mse;
  expected.weight_rounding = WeightRounding::adaptive;
  expected.bias_correction = true;
  expected.cross_layer_equalization = true;
  expected.seed = 7;
  expected.calibration_images = 10;
  expected.requantize = RequantizeMode::fixed_point;
  expected.accumulator_bits = 12;
  expected.overflow = Overflow::saturate;
  CHECK(scheme == expected);
}

TEST_CASE("accumulators that a scheme leaves to the chip are null or absent") {
  CHECK(parse("accumulator_bits: null\noverflow: null\n") == Scheme{});
  CHECK(parse("overflow: wrap\n").overflow == Overflow::wrap);
  CHECK_FALSE(parse("overflow: wrap\n").accumulator_bits.has_value());
}

TEST_CASE("layers have keys of their own and the scheme's for the rest") {
  const Scheme scheme = parse(
      "weight_bits: 4\nactivation_symmetric: true\nlayers:\n  conv1: {weight_bits: 8}\n"
      "  fc.1:\n    activation_bits: 6\n    granularity: per_tensor\n  fc2:\n");
  CHECK(scheme.activation_format("conv1") == Format{8, true, true});
  CHECK(scheme.activation_format("fc.1") == Format{6, true, true});
  CHECK(scheme.weight_format("conv1") == Format{8, true, true});
  CHECK(scheme.weight_format("fc.1") == Format{4, true, true});
  CHECK(scheme.weight_format("another") == Format{4, true, true});
  CHECK(scheme.granularity_of("conv1") == Granularity::per_channel);
  CHECK(scheme.granularity_of("fc.1") == Granularity::per_tensor);
  CHECK(parse("layers: {}\nseed: null\n") == Scheme{});
}

TEST_CASE("calibration depends on the observer and the images only") {
  Scheme scheme = parse(
      "weight_bits: 3\nlayers: {a: {weight_bits: 2}}\nrequantize: fixed_point\n"
      "percentile: 99\nmomentum: 0.5\n");
  CHECK(calibration_part(scheme) == Scheme{});
  for (const char* key : {"observer: percentile\npercentile: 98",
                          "observer: moving_average\n"
                          "momentum: 0.25",
                          "seed: 3", "calibration_images: 9", "weight_rounding: adaptive",
                          "bias_correction: true", "cross_layer_equalization: true"}) {
    scheme = parse(key);
    CHECK(calibration_part(scheme) == scheme);
    CHECK(calibration_part(scheme) != Scheme{});
  }
}

TEST_CASE("a scheme file is read as its text is") {
  const std::string path = TILEWAVE_BINARY_DIR "/scheme_test.yaml";
  std::ofstream(path) << "requantize: fixed_point\n";
  CHECK(load_scheme(path).requantize == RequantizeMode::fixed_point);
  std::ofstream(path) << "bits: 3\n";
  CHECK_THROWS_WITH(load_scheme(path), Catch::StartsWith(path + ":1: bits: unknown key"));
  std::remove(path.c_str());
  CHECK_THROWS_AS(load_scheme(path), InputError);
}

TEST_CASE("a wrong scheme is refused with file, line, key and what is allowed") {
  const auto refused = [](const std::string& yaml, const std::string& error) {
    CHECK_THROWS_AS(parse(yaml), InputError);
    CHECK_THROWS_WITH(parse(yaml), Catch::StartsWith(error));
  };
  refused("weight_bits: 8\nactivation_bits: 9", "s.yaml:2: activation_bits: is 9 (2 to 8, or 16)");
  refused("weight_bits: 1", "s.yaml:1: weight_bits: is 1 (2 to 8, or 16)");
  refused("weight_bits: 99999999999", "s.yaml:1: weight_bits");
  refused("weight_bits: eight", "s.yaml:1: weight_bits: eight is not a whole number");
  refused("activation_signed: false\nactivation_bits: 16",
          "s.yaml:1: activation_signed: is false with activation_bits 16");
  refused("percentile: 50", "s.yaml:1: percentile: is 50 (above 50, at most 100)");
  refused("percentile: 100.5", "s.yaml:1: percentile: is 100.5");
  refused("accumulator_bits: 11", "s.yaml:1: accumulator_bits: is 11 (12 to 32)");
  refused("accumulator_bits: 33", "s.yaml:1: accumulator_bits: is 33 (12 to 32)");
  refused("accumulator_bits: wide", "s.yaml:1: accumulator_bits: wide is not a whole number");
  refused("overflow: clip", "s.yaml:1: overflow: clip is not allowed (one of wrap, saturate)");
  refused("calibration_images: 0", "s.yaml:1: calibration_images: is 0 (1 or more)");
  refused("activation_signed: false\nactivation_symmetric: true",
          "s.yaml:2: activation_symmetric: is true with activation_signed false (symmetric");
  refused("momentum: 1", "s.yaml:1: momentum: is 1 (0 or more, below 1)");
  refused("seed: -1", "s.yaml:1: seed: is -1 (0 or more)");
  refused("layers:\n  a:\n    weight_bits: 9", "s.yaml:3: layers.a.weight_bits: is 9 (2 to 8");
  refused("layers: {a: {bits: 9}}", "s.yaml:1: layers.a.bits: unknown key");
  refused("layers: {a: 4}", "s.yaml:1: layers.a: 4 is not a mapping");
  refused("layers: [a]", "s.yaml:1: layers");
  refused("activation_signed: false\nlayers: {a: {activation_bits: 16}}",
          "s.yaml:1: activation_signed: is false with layers.a.activation_bits 16");
  refused("- 1", "s.yaml:1:");
  CHECK_THROWS_WITH(
      parse("granularity: per_chanel"),
      Catch::StartsWith("s.yaml:1: granularity: per_chanel") && Catch::Contains("per_channel"));
  CHECK_THROWS_WITH(parse("\nrequantise: float"),
                    Catch::StartsWith("s.yaml:2: requantise") && Catch::Contains("requantize"));
}

TEST_CASE("a scheme made in code is checked by the same rules") {
  CHECK_NOTHROW(validate(Scheme{}));
  Scheme scheme;
  scheme.weight_bits = 12;
  CHECK_THROWS_WITH(validate(scheme), "scheme: weight_bits: is 12 (2 to 8, or 16)");
  scheme = {};
  scheme.layers["fc"].activation_bits = 1;
  CHECK_THROWS_WITH(validate(scheme), "scheme: layers.fc.activation_bits: is 1 (2 to 8, or 16)");
  scheme = {};
  scheme.percentile = std::stod("nan");
  CHECK_THROWS_AS(validate(scheme), InputError);
}

TEST_CASE("a name of a scheme's value is what YAML calls it") {
  for (const auto value : {Granularity::per_tensor, Granularity::per_channel}) {
    CHECK(parse("granularity: " + name_of(value)).granularity == value);
  }
  for (const auto value : {ObserverKind::min_max, ObserverKind::moving_average,
                           ObserverKind::percentile, ObserverKind::mse, ObserverKind::entropy}) {
    CHECK(parse("observer: " + name_of(value)).observer == value);
  }
  for (const auto value : {Overflow::wrap, Overflow::saturate}) {
    CHECK(parse("overflow: " + name_of(value)).overflow == value);
  }
  for (const auto value : {RequantizeMode::float_multiplier, RequantizeMode::fixed_point,
                           RequantizeMode::fixed_point_single_rounding}) {
    CHECK(parse("requantize: " + name_of(value)).requantize == value);
  }
}
