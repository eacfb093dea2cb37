#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/isa/program.h"
#include "tests/support/hand_program.h"

// One 4 x 4 multiply on a 4 x 4 array on which nothing but the array takes time.

namespace tilewave::test {

using Matrix = std::array<std::array<std::int16_t, 4>, 4>;

inline constexpr Matrix kActivations = {
    {{1, 2, 3, 4}, {5, 6, 7, 8}, {-1, -2, -3, -4}, {0, 1, 0, -1}}};
inline constexpr Matrix kWeights = {{{1, 0, 2, -1}, {0, 1, 2, 0}, {3, 0, 1, 1}, {0, -2, 1, 2}}};
/// Of an activation row, at a row of the array and a column: the products of the rows down to it
/// added up, by hand.
inline constexpr std::array<Matrix, 4> kSums = {{
    // 1 2 3 4
    {{{1, 0, 2, -1}, {1, 2, 6, -1}, {10, 2, 9, 2}, {10, -6, 13, 10}}},
    // 5 6 7 8
    {{{5, 0, 10, -5}, {5, 6, 22, -5}, {26, 6, 29, 2}, {26, -10, 37, 18}}},
    // -1 -2 -3 -4
    {{{-1, 0, -2, 1}, {-1, -2, -6, 1}, {-10, -2, -9, -2}, {-10, 6, -13, -10}}},
    // 0 1 0 -1
    {{{0, 0, 0, 0}, {0, 1, 2, 0}, {0, 1, 2, 0}, {0, 3, 1, -2}}},
}};

inline std::vector<std::int16_t> flat(const Matrix& matrix) {
  std::vector<std::int16_t> values;
  for (const auto& row : matrix) values.insert(values.end(), row.begin(), row.end());
  return values;
}

/// Outputs are the sums, as they are.
inline sim::Program small_multiply(sim::Dataflow dataflow = sim::Dataflow::weight_stationary) {
  sim::Program program = tile_chain(4, 4, 4, 1);
  program.dataflow = dataflow;
  program.weights = flat(kWeights);
  program.columns[0].requantizer.multiplier.assign(4, 1.0F);
  return program;
}

inline sim::Chip small_chip(sim::Dataflow dataflow = sim::Dataflow::weight_stationary) {
  sim::Chip chip = frictionless_chip(4, 4);
  chip.array.dataflow = dataflow;
  return chip;
}

}  // namespace tilewave::test
