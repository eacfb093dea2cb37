#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "models/dataset.h"
#include "tests/models/idx_bytes.h"

using namespace tilewave::models;
using tilewave::InputError;
using tilewave::test::gzip;
using tilewave::test::idx_bytes;
using Bytes = std::vector<std::uint8_t>;

namespace {

std::string error_of(const Bytes& bytes) {
  try {
    parse_idx(bytes, "f");
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("an IDX file reads the same plain and through gzip") {
  for (const bool packed : {false, true}) {
    const Bytes plain = idx_bytes({2, 3, 4}, 250);
    const Idx idx = parse_idx(packed ? gzip(plain) : plain, "f");
    CHECK(idx.dimensions == std::vector<std::int64_t>{2, 3, 4});
    REQUIRE(idx.values.size() == 24);
    CHECK(idx.values[0] == 250);
    CHECK(idx.values[6] == 0);
    CHECK(idx.values[23] == 17);
  }
}

TEST_CASE("an IDX file cut anywhere is an input error, plain and through gzip") {
  const Bytes plain = idx_bytes({5, 40});
  for (const Bytes& whole : {plain, gzip(plain)}) {
    REQUIRE(error_of(whole) == "no error");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      REQUIRE(error_of(Bytes(whole.begin(), whole.begin() + static_cast<long>(size))) !=
              "no error");
    }
  }
}

TEST_CASE("an IDX file with any bit flipped reads or is an input error") {
  const Bytes plain = idx_bytes({5, 40});
  for (const Bytes& whole : {plain, gzip(plain)}) {
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      CAPTURE(bit);
      Bytes broken = whole;
      broken[bit / 8] = static_cast<std::uint8_t>(broken[bit / 8] ^ (1u << bit % 8));
      REQUIRE_NOTHROW(error_of(broken));
    }
  }
}

TEST_CASE("a flipped bit in a gzip stream is found by its check sum") {
  Bytes packed = gzip(idx_bytes({8, 100}));
  packed[packed.size() - 5] ^= 1;  // the last byte of the CRC
  CHECK(error_of(packed) == "f: its gzip stream is damaged: incorrect data check");
}

TEST_CASE("each error of an IDX file is one clear line") {
  CHECK(error_of({}) == "f: is too short for an IDX file");
  CHECK(error_of({1, 0, 8, 1}) == "f: is not an IDX file (it starts with two bytes of 0)");
  CHECK(error_of({0, 0, 13, 1}) == "f: holds IDX type 13 (8, unsigned bytes)");
  CHECK(error_of({0, 0, 8, 0}) == "f: has 0 dimensions (1 to 4)");
  CHECK(error_of({0, 0, 8, 5}) == "f: has 5 dimensions (1 to 4)");
  CHECK(error_of({0, 0, 8, 2, 0, 0, 0, 1, 0}) ==
        "f: ends after 9 bytes (12 expected from the header)");
  CHECK(error_of(idx_bytes({2, 0})) == "f: dimension 1 is 0 (1 or more)");
  Bytes plain = idx_bytes({2, 3});
  plain.pop_back();
  CHECK(error_of(plain) ==
        "f: its header claims 6 values, more than it holds (at most 5 can follow)");
  plain.insert(plain.end(), {1, 2});
  CHECK(error_of(plain) == "f: goes on after its last value (18 bytes expected from the header)");
  CHECK(error_of(gzip(plain)) ==
        "f: goes on after its last value (18 bytes expected from the header)");
  plain.resize(16);
  CHECK(error_of(gzip(plain)) == "f: ends after 16 bytes (18 expected from the header)");
  Bytes packed = gzip(idx_bytes({2, 3}));
  packed.push_back(0);
  CHECK(error_of(packed) == "f: has bytes after its gzip stream");
  packed.resize(packed.size() - 2);
  CHECK(error_of(packed) == "f: ends within its gzip stream");
}

TEST_CASE("an IDX header that claims much is refused before anything is allocated") {
  CHECK(error_of({0, 0, 8, 2, 0x80, 0, 0, 0, 0, 0, 2, 0}) ==
        "f: its header claims more than can be held (at most 2147483648 bytes)");
  Bytes four(20, 0xff);
  std::copy_n(Bytes{0, 0, 8, 4}.begin(), 4, four.begin());
  CHECK(error_of(four) == "f: its header claims more than can be held (at most 2147483648 bytes)");
  CHECK_THAT(error_of({0, 0, 8, 1, 0x7f, 0xff, 0xff, 0xff}),
             Catch::Contains("its header claims 2147483647 values, more than it holds"));
  CHECK_THAT(error_of(gzip({0, 0, 8, 1, 0x7f, 0xff, 0xff, 0xff})),
             Catch::Contains("its header claims 2147483647 values, more than it holds"));
}
