#include "sim/report/style.h"

#include <catch2/catch.hpp>

using namespace tilewave::sim;

TEST_CASE("large numbers are grouped by thousands") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-123456) == "-123,456");
  CHECK(grouped(1234567) == "1,234,567");
}

TEST_CASE("amounts take the prefix that leaves one to three digits") {
  CHECK(with_prefix(0, "s") == "0.00 s");
  CHECK(with_prefix(0.00123, "s") == "1.23 ms");
  CHECK(with_prefix(34e9, "B/s") == "34.0 GB/s");
  CHECK(with_prefix(999.96, "B") == "1.00 kB");
  CHECK(with_prefix(1e-15, "J") == "0.00 pJ");
}

TEST_CASE("a bar is as long as its share") {
  const Style plain;
  CHECK(plain.bar(0, 4) == "    ");
  CHECK(plain.bar(0.001, 4) == "#   ");
  CHECK(plain.bar(0.5, 4) == "##  ");
  CHECK(plain.bar(1, 4) == "####");
  const Style blocks{.colour = false, .blocks = true};
  CHECK(blocks.bar(0, 4) == "    ");
  CHECK(blocks.bar(0.001, 4) == "▏   ");
  CHECK(blocks.bar(0.40625, 4) == "█▋  ");
  CHECK(blocks.bar(1, 4) == "████");
}

TEST_CASE("colour is an escape sequence only where the style has colour") {
  CHECK(Style{}.paint(Colour::green, "x") == "x");
  CHECK(Style{.colour = true, .blocks = false}.paint(Colour::green, "x") == "\x1b[32mx\x1b[0m");
}

TEST_CASE("long names are shortened in the middle") {
  CHECK(shortened("conv", 4) == "conv");
  CHECK(shortened("convolution", 7) == "con~ion");
  CHECK(shortened("convolution", 8) == "conv~ion");
}
