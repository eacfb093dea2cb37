#include "sim/systemc/accelerator.h"

#include <algorithm>

#include "sim/systemc/os_matrix_unit.h"
#include "sim/systemc/pe_matrix_unit.h"
#include "sim/systemc/tile_matrix_unit.h"

namespace tilewave::sim::systemc {
namespace {

/// As much of a memory as the program uses, which is often little of what the chip has.
Bytes buffer_bytes(const InstructionStream& stream, const Program& program) {
  Bytes most = 0;
  const auto both_parities = std::min<std::int64_t>(
      stream.size(), 2 * static_cast<std::int64_t>(program.instructions.size()));
  for (std::int64_t i = 0; i < both_parities; ++i) {
    const Operation& op = *stream.at(i).operation;
    for (const Span& span : op.reads) most = std::max(most, span.end);
    for (const Span& span : op.writes) most = std::max(most, span.end);
  }
  return most;
}

std::int64_t accumulator_rows(const InstructionStream& stream, const Program& program) {
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(program.instructions.size()); ++i) {
    most = std::max(most, stream.at(i).operation->accumulators.end);
  }
  return most;
}

std::unique_ptr<MatrixUnitBase> make_matrix_unit(MatrixUnit kind, Shared& shared,
                                                 const MatrixUnitPorts& ports) {
  constexpr const char* kName = "matrix_unit";
  if (kind == MatrixUnit::tile) return std::make_unique<TileMatrixUnit>(kName, shared, ports);
  if (shared.chip.array.dataflow == Dataflow::output_stationary) {
    return std::make_unique<OsMatrixUnit>(kName, shared, ports);
  }
  return std::make_unique<PeMatrixUnit>(kName, shared, ports);
}

}  // namespace

Accelerator::Accelerator(const sc_core::sc_module_name& name, Shared& shared,
                         MatrixUnit matrix_unit, const InstructionStream& stream, HostMemory& host)
    : sc_core::sc_module(name),
      stream_(stream),
      scoreboard(shared.program, stream),
      queues(shared.chip.sequencer.queue_depth),
      sequencer("sequencer", shared, stream, scoreboard, queues),
      unified_buffer("unified_buffer", shared, buffer_bytes(stream, shared.program)),
      host_interface("host_interface", shared, queues, scoreboard, unified_buffer, host),
      weight_fifo("weight_fifo", shared.chip.weight_memory.fifo_tiles),
      weight_fetcher("weight_fetcher", shared, queues.weights, weight_fifo),
      data_setup("systolic_data_setup", shared, unified_buffer),
      accumulators("accumulators", shared, accumulator_rows(stream, shared.program)),
      matrix(make_matrix_unit(matrix_unit, shared,
                              {queues.matrix, scoreboard, weight_fifo, data_setup, accumulators})),
      activation("activation_unit", shared, queues.activation, scoreboard, unified_buffer,
                 accumulators),
      monitor("monitor", shared, stream, scoreboard, sequencer, weight_fifo, *matrix) {}

}  // namespace tilewave::sim::systemc
