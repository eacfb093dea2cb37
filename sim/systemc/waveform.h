#pragma once

#include <optional>

#include "sim/systemc/accelerator.h"
#include "sim/systemc/vcd_writer.h"
#include "sim/waveform.h"

namespace tilewave::sim::systemc {

/// The waveform of a run: looks at the accelerator between calls of the kernel, one cycle after the
/// other in its window.
class Waveform {
 public:
  /// `accelerator` must have a matrix unit with registers and outlive this.
  Waveform(const WaveformOptions& options, const Chip& chip, const Program& program,
           const Accelerator& accelerator);

  /// At the latest before which cycle, after `now`, the kernel must stop for a look; nothing once
  /// the window is over.
  std::optional<Cycles> next_stop(Cycles now) const;
  /// Everything before the first edge of `now` has happened.
  void look(Cycles now);
  /// The run has taken `cycles`. InputError if the window began later.
  void finish(Cycles cycles);

 private:
  void add_registers(const Chip& chip, const Program& program, const WaveformOptions& options,
                     const ArrayRegisters& registers);
  void add_matrix_unit(const MatrixUnitBase& matrix);
  void add_blocks(const Accelerator& accelerator);

  Cycles from_, to_;
  VcdWriter file_;
};

}  // namespace tilewave::sim::systemc
