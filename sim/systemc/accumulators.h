#pragma once

#include <cstdint>
#include <vector>

#include "sim/systemc/block.h"

namespace tilewave::sim::systemc {

/// The accumulators: an adder and a memory of 32-bit entries under every column of the array.
class Accumulators final : public sc_core::sc_module {
 public:
  /// `rows`: of which the program makes use.
  Accumulators(const sc_core::sc_module_name& name, Shared& shared, std::int64_t rows);

  /// Before the sums of a multiply for a row come in: its entries start from the bias, unless the
  /// multiply adds to what is there.
  void begin_row(const Operation& multiply, std::int64_t row);
  /// A sum of the multiply that has left the array is added to its entry.
  void add(const Operation& multiply, std::int64_t row, std::int64_t column, std::int32_t sum);
  /// The first `columns` entries of a row.
  const std::int32_t* read(const Operation& activate, std::int64_t row);

 private:
  Shared& shared_;
  std::int64_t columns_;
  std::vector<std::int32_t> entries_;
  std::vector<std::int64_t> columns_written_;  ///< by row
};

}  // namespace tilewave::sim::systemc
