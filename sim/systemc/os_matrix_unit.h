#pragma once

#include <cstdint>
#include <vector>

#include "sim/systemc/clocked_matrix_unit.h"
#include "sim/systemc/os_array.h"

namespace tilewave::sim::systemc {

/// Output-stationary, every processing element's registers, every clock.
class OsMatrixUnit final : public ClockedMatrixUnit {
 public:
  OsMatrixUnit(const sc_core::sc_module_name& name, Shared& shared, const MatrixUnitPorts& ports);

  const ArrayRegisters* registers() const override { return &array_; }

 private:
  void begin_shift_in(const Work& /*work*/) override {}  // nothing ever is
  void begin_rows(const Work& multiply) override;
  void take_row() override;
  void next_cycle() override {}
  void clock_array() override;
  bool array_is_moving() const override { return !array_.is_quiet(); }

  OsArray array_;
  std::vector<std::int16_t> activations_;  ///< one per pixel, of the step that enters
};

}  // namespace tilewave::sim::systemc
