#pragma once

#include <cstdint>
#include <vector>

#include "sim/systemc/clocked_matrix_unit.h"
#include "sim/systemc/pe_array.h"

namespace tilewave::sim::systemc {

/// Weight-stationary, every processing element's registers, every clock; input-stationary with the
/// operands exchanged: activations of pixels are shifted in from above and stay, and columns of
/// weights enter from the left.
class PeMatrixUnit final : public ClockedMatrixUnit {
 public:
  PeMatrixUnit(const sc_core::sc_module_name& name, Shared& shared, const MatrixUnitPorts& ports);

  const ArrayRegisters* registers() const override { return &array_; }

 private:
  void begin_shift_in(const Work& work) override;
  void begin_rows(const Work& multiply) override;
  void take_row() override;
  bool next_row_is_ready() const override {
    return holds_inputs() || ClockedMatrixUnit::next_row_is_ready();
  }
  void next_cycle() override;
  void clock_array() override;
  bool array_is_moving() const override { return shifting_ != nullptr || !array_.is_quiet(); }

  bool holds_inputs() const { return dataflow() == Dataflow::input_stationary; }
  void continue_shift_in();
  void load();
  PeArray::Values top_row();
  void collect_sums();
  void collect(const PeArray::Entry& entry, std::int64_t column);

  PeArray array_;
  std::vector<std::int16_t> values_;  ///< of the row that enters

  const Operation* shifting_ = nullptr;  ///< its tile, or the activations of its pixels
  Cycles shift_cycle_ = 0;               ///< of the shift-in, from 0 on
  Cycles chain_begin_ = 0;               ///< in which the first row enters the array
  Cycles shift_cycles_ = 0;              ///< of the shift-in in all
  std::vector<std::int16_t> loaded_;     ///< activations on their way in, [rows][cols]
};

}  // namespace tilewave::sim::systemc
