#include "base/error.h"

#include <catch2/catch.hpp>

using tilewave::InputError;
using tilewave::InternalError;

TEST_CASE("an input error says where, what and what is allowed in one line") {
  CHECK(std::string(InputError("chip.yaml:3: array.rows", "is 0", "1 to 65536").what()) ==
        "chip.yaml:3: array.rows: is 0 (1 to 65536)");
  CHECK(std::string(InputError("a.onnx", "is empty").what()) == "a.onnx: is empty");
}

TEST_CASE("a failed check throws an internal error that prints both operands") {
  CHECK_NOTHROW([] { TILEWAVE_CHECK(2 + 2, ==, 4, "sums"); }());
  CHECK_THROWS_AS([] { TILEWAVE_CHECK(2 + 2, ==, 5, "sums"); }(), InternalError);
  CHECK_THROWS_WITH([] { TILEWAVE_CHECK(2 + 2, ==, 5, "sums"); }(),
                    Catch::Contains("sums") && Catch::Contains("4 and 5"));
}
