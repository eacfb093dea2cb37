#pragma once

#include <memory>
#include <vector>

#include "sim/systemc/accumulators.h"
#include "sim/systemc/activation_unit.h"
#include "sim/systemc/host_interface.h"
#include "sim/systemc/matrix_unit.h"
#include "sim/systemc/monitor.h"
#include "sim/systemc/sequencer.h"
#include "sim/systemc/weight_fetcher.h"

namespace tilewave::sim::systemc {

/// The blocks of the TPU's diagram, connected.
class Accelerator final : public sc_core::sc_module {
 public:
  Accelerator(const sc_core::sc_module_name& name, Shared& shared, MatrixUnit matrix_unit,
              const InstructionStream& stream, HostMemory& host);

  bool has_finished() const { return scoreboard.first_unfinished() == stream_.size(); }
  std::int64_t launches_done() const {
    return stream_.launches_before(scoreboard.first_unfinished());
  }

 private:
  const InstructionStream& stream_;

 public:
  Scoreboard scoreboard;
  UnitQueues queues;
  Sequencer sequencer;
  UnifiedBuffer unified_buffer;
  HostInterface host_interface;
  WeightFifo weight_fifo;
  WeightFetcher weight_fetcher;
  SystolicDataSetup data_setup;
  Accumulators accumulators;
  std::unique_ptr<MatrixUnitBase> matrix;
  ActivationUnit activation;
  Monitor monitor;
};

}  // namespace tilewave::sim::systemc
