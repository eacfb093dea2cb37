#pragma once

#include <cstdint>
#include <vector>

#include "sim/systemc/block.h"
#include "sim/systemc/unified_buffer.h"

namespace tilewave::sim::systemc {

/// The systolic data setup: gathers the rows of a multiply from the unified buffer (im2col on the
/// fly) and hands them to the array. The skew is in the array's edge, see PeArray.
class SystolicDataSetup final : public sc_core::sc_module {
 public:
  SystolicDataSetup(const sc_core::sc_module_name& name, Shared& shared, UnifiedBuffer& buffer)
      : sc_core::sc_module(name), shared_(shared), buffer_(buffer) {}

  /// Takes up a multiply: rows are gathered for it from now on.
  void begin(const Operation& multiply);
  /// Row `row` of the multiply, one value per row of its tile. Occupies the buffer's port and the
  /// gathering.
  void gather(std::int64_t row, std::int16_t* values);
  /// First cycle in which the next row can be gathered.
  Cycles ready_at() const { return ready_at_; }
  /// Cycles from one row to the next.
  Cycles interval() const;

 private:
  /// Where element k of a row lies, relative to the output pixel's place in the source.
  struct Place {
    std::int64_t dy, dx;
    std::int64_t offset;        ///< of the plane and the channel in it
    std::int64_t pixel_stride;  ///< elements from one pixel of the plane to the next
  };

  Shared& shared_;
  UnifiedBuffer& buffer_;
  const Operation* multiply_ = nullptr;
  std::vector<Place> places_;
  Cycles ready_at_ = 0;
};

}  // namespace tilewave::sim::systemc
