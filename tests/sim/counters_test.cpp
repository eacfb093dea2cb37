#include <catch2/catch.hpp>

#include "sim/engine.h"

using tilewave::sim::RunCounters;

TEST_CASE("counters of a run add up field by field") {
  RunCounters a;
  a.classes = {1, 2, 3, 4, 5, 6, 7, 8};
  a.waiting = {9, 10, 11, 12, 13};
  a.bytes = {14, 15, 16, 17, 18, 19, 20};
  a.useful_macs = 21;
  a.vector_operations = 22;
  a.tiles = 23;
  a.instructions = 24;

  RunCounters twice = a;
  twice += a;

  RunCounters expected;
  expected.classes = {2, 4, 6, 8, 10, 12, 14, 16};
  expected.waiting = {18, 20, 22, 24, 26};
  expected.bytes = {28, 30, 32, 34, 36, 38, 40};
  expected.useful_macs = 42;
  expected.vector_operations = 44;
  expected.tiles = 46;
  expected.instructions = 48;
  CHECK(twice == expected);
  CHECK(twice.classes.total() == 72);
}
