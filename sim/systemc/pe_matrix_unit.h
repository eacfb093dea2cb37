#pragma once

#include <cstdint>
#include <vector>

#include "sim/systemc/matrix_unit.h"
#include "sim/systemc/pe_array.h"

namespace tilewave::sim::systemc {

/// Every processing element's registers, every clock. On the first edge of a cycle the unit puts a
/// pass of a row at the array's edge; on the second the array computes. The clock stands still
/// while nothing moves in the array.
class PeMatrixUnit final : public MatrixUnitBase {
 public:
  PeMatrixUnit(const sc_core::sc_module_name& name, Shared& shared, const MatrixUnitPorts& ports);
  SC_HAS_PROCESS(PeMatrixUnit);

 private:
  void begin_shift_in(const Tile& tile) override;
  void begin_rows(const Work& multiply) override;
  void progress() override;
  void arm() override;

  void next_cycle();
  void continue_shift_in();
  void continue_rows();
  void take_row();
  void clock_array_once();
  void collect_sums();
  bool is_moving() const { return is_shifting_ || multiply_ != nullptr || !array_.is_quiet(); }

  sc_core::sc_event clock_edge_;
  PeArray array_;
  Cycles cycle_ = -1;  ///< that the state below belongs to

  bool is_shifting_ = false;
  std::int64_t rows_to_shift_ = 0;

  const Operation* multiply_ = nullptr;  ///< whose rows enter
  std::int64_t row_ = 0;
  std::vector<std::int16_t> values_;      ///< of the row
  int pass_ = 0;                          ///< that enters in this cycle; beyond the last: none does
  std::int64_t multiplies_complete_ = 0;  ///< in the last clock
};

}  // namespace tilewave::sim::systemc
