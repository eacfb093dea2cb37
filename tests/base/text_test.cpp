#include "base/text.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <cmath>

using namespace tilewave;

TEST_CASE("the nearest name is the one with the fewest letters changed") {
  CHECK(nearest("rowz", {"cols", "rows"}) == "rows");
  CHECK(nearest("clokc_mhz", {"name", "clock_mhz"}) == "clock_mhz");
  CHECK(nearest("capacity_mib", {"capacity_kib", "capacity_mib"}) == "capacity_mib");
  CHECK(nearest("b", {"ab", "cb"}) == "ab");
  CHECK(nearest("rows", {"ross", "rowsa"}) == "ross");   // one replaced, one inserted: the first
  CHECK(nearest("roows", {"roxys", "rows"}) == "rows");  // two replaced, one removed
  CHECK(nearest("rws", {"rat", "rows"}) == "rows");      // two replaced, one inserted
  CHECK(nearest("kitten", {"sitting", "bitter"}) == "bitter");
}

TEST_CASE("a name that is far from all has no nearest name") {
  CHECK(nearest("bandwidth", {"rows", "cols"}).empty());
  CHECK(nearest("ab", {"xy"}).empty());
  CHECK(nearest("rows", {}).empty());
  CHECK(nearest(std::string(1 << 20, 'x'), {"rows"}).empty());
}

TEST_CASE("a suggestion names the nearest candidate or all of them") {
  CHECK(suggestion("rowz", {"cols", "rows"}) == "did you mean rows?");
  CHECK(suggestion("bandwidth", {"cols", "rows"}) == "one of cols, rows");
  CHECK(suggestion("x", {}).empty());
}

TEST_CASE("an excerpt is short and on one line") {
  CHECK(excerpt("rows") == "rows");
  CHECK(excerpt("a\nb\x7f") == "a b ");
  CHECK(excerpt(std::string(41, 'x')) == std::string(40, 'x') + "...");
  // Two bytes each, the 20th at bytes 39 and 40.
  const std::string twenty_umlauts = [] {
    std::string text = "x";
    for (int i = 0; i < 20; ++i) text += "\xc3\xa4";
    return text;
  }();
  CHECK(excerpt(twenty_umlauts) == twenty_umlauts.substr(0, 39) + "...");
}

TEST_CASE("a number's text is the shortest that reads back") {
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(700) == "700");
  REQUIRE(rc::check([](double value) {
    RC_PRE(std::isfinite(value));
    RC_ASSERT(std::stod(number_text(value)) == value);
  }));
}
