#pragma once

#include "base/units.h"
#include "sim/systemc/block.h"
#include "sim/systemc/element_memory.h"

namespace tilewave::sim::systemc {

/// The unified buffer: what it holds, and how long one of its ports takes for a row. Every block
/// has a port of its own, so that there is nothing to arbitrate.
class UnifiedBuffer final : public sc_core::sc_module {
 public:
  UnifiedBuffer(const sc_core::sc_module_name& name, const Shared& shared, Bytes bytes)
      : sc_core::sc_module(name),
        memory(bytes, shared.program.activation_format),
        row_bytes_(shared.chip.unified_buffer.row_bytes) {}

  Cycles port_cycles(Bytes bytes) const { return ceil_div(bytes, row_bytes_); }

  ElementMemory memory;

 private:
  Bytes row_bytes_;
};

}  // namespace tilewave::sim::systemc
