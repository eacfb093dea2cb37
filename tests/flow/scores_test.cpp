#include "flow/scores.h"

#include <catch2/catch.hpp>

#include "base/error.h"

using namespace tilewave::flow;

TEST_CASE("an image's class is its first largest output") {
  const std::vector<float> outputs = {1, 3, 2, 5, 5, 4, -2, -3, -1};
  CHECK(classes_of(outputs, 3) == std::vector<std::int64_t>{1, 0, 2});
  const std::vector<std::int16_t> integers = {-128, 127, 7, 7};
  CHECK(classes_of(integers, 2) == std::vector<std::int64_t>{1, 0});
}

TEST_CASE("outputs that are not whole images are refused") {
  const std::vector<float> outputs = {1, 2, 3, 4};
  CHECK_THROWS_AS(classes_of(outputs, 3), tilewave::InternalError);
}

TEST_CASE("accuracy counts the images whose class is the label's") {
  const std::vector<std::int64_t> classes = {0, 1, 2, 3};
  CHECK(accuracy(classes, std::vector<std::uint8_t>{0, 1, 2, 0}) == 0.75);
  CHECK(accuracy(classes, std::vector<std::uint8_t>{}) == std::nullopt);
}

TEST_CASE("agreement counts the images with the same class") {
  const std::vector<std::int64_t> a = {0, 1, 2, 3};
  const std::vector<std::int64_t> b = {0, 9, 2, 9};
  CHECK(agreement(a, b) == 0.5);
}

TEST_CASE("the largest difference is of absolute values") {
  CHECK(largest_difference(std::vector<float>{1, 2}, std::vector<float>{1.5F, -1}) == 3);
}

TEST_CASE("integers become real values by scale and zero point") {
  tilewave::quant::Quantization q;
  q.scale = 0.5F;
  q.zero_point = 2;
  CHECK(dequantized(std::vector<std::int16_t>{2, 4, -2}, q) == std::vector<float>{0, 1, -2});
}
