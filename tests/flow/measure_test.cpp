#include "flow/measure.h"

#include <catch2/catch.hpp>

using namespace tilewave;
using sim::Unit;

TEST_CASE("quantiles are by nearest rank") {
  std::vector<double> values;
  for (int i = 200; i >= 1; --i) values.push_back(i);
  CHECK(flow::quantile(values, 0.5) == 100);
  CHECK(flow::quantile(values, 0.99) == 198);
  CHECK(flow::quantile(values, 1) == 200);
  CHECK(flow::quantile({3}, 0.99) == 3);
}

TEST_CASE("a launch computes from the arrival of its input to its last result") {
  sim::RunResult result;
  result.trace = {{Unit::weight_memory, 0, 0, 0, 50, 60},
                  {Unit::host_in, 0, 1, 0, 20, 20},
                  {Unit::matrix, 0, 2, 60, 100, 115},
                  {Unit::host_in, 1, 3, 20, 40, 40},  // of the next launch
                  {Unit::activation, 0, 4, 115, 120, 136},
                  {Unit::host_out, 0, 5, 136, 180, 180},
                  {Unit::matrix, 1, 6, 150, 190, 205}};
  // 136 - 20: waiting for weights counts, the transfers do not.
  CHECK(flow::compute_cycles(result) == 116);
}

TEST_CASE("transfers between a launch's work are part of it") {
  sim::RunResult result;
  result.trace = {{Unit::host_in, 0, 0, 0, 20, 20},  {Unit::matrix, 0, 1, 20, 40, 50},
                  {Unit::host_in, 0, 2, 20, 70, 70}, {Unit::host_out, 0, 3, 50, 90, 90},
                  {Unit::matrix, 0, 4, 70, 80, 95},  {Unit::host_out, 0, 5, 95, 99, 99}};
  CHECK(flow::compute_cycles(result) == 75);
  CHECK(flow::compute_cycles({}) == 0);
}
