#pragma once

#include <cstdint>
#include <vector>

#include "sim/isa/table_fields.h"

namespace tilewave::sim {

/// A tile as assembly text has it: with its weights, in rows.
struct TileText {
  std::int64_t useful = -1;  ///< negative: all of them
  std::vector<std::vector<std::int16_t>> weights;
};

void fields(auto& visit, Is<TileText> auto& t) {
  visit("useful", t.useful);
  visit("weights", t.weights);
}

}  // namespace tilewave::sim
