#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/systemc/matrix_unit.h"

namespace tilewave::sim::systemc {

/// A whole tile at a time: the sums of a multiply are worked out when it starts and go to the
/// accumulators when its last result leaves the array, whatever the dataflow.
class TileMatrixUnit final : public MatrixUnitBase {
 public:
  TileMatrixUnit(const sc_core::sc_module_name& name, Shared& shared, const MatrixUnitPorts& ports)
      : MatrixUnitBase(name, shared, ports) {}

 private:
  struct Sums {
    const Operation* multiply;
    Cycles complete;
    std::vector<std::int32_t> values;  ///< [pixels][columns of the tile]
  };
  void begin_shift_in(const Work& work) override;
  void begin_rows(const Work& multiply) override;
  void progress() override;
  void arm() override;
  Cycles travel() const;
  std::vector<std::int16_t> gather(const Operation& op);
  std::vector<std::int32_t> multiply_tile(const Operation& op);
  void add_products(const Operation& op, std::int32_t* sums, const std::int16_t* weights,
                    std::int32_t activation);
  void write_sums(const Sums& sums);

  std::optional<Cycles> shift_end_, rows_end_;
  std::vector<std::int16_t> loaded_;  ///< activations that have been shifted in: the shadow plane
  std::vector<std::int16_t> activations_;  ///< of the multiply, [pixels][rows of the tile]
  std::deque<Sums> in_array_;
};

}  // namespace tilewave::sim::systemc
