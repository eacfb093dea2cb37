#include "sim/engine.h"

#include "base/error.h"

namespace tilewave::sim {

CycleClasses& CycleClasses::operator+=(const CycleClasses& other) {
  active += other.active;
  weight_stall += other.weight_stall;
  weight_shift += other.weight_shift;
  input_stall += other.input_stall;
  raw_stall += other.raw_stall;
  accumulator_stall += other.accumulator_stall;
  idle += other.idle;
  drain += other.drain;
  return *this;
}

Waiting& Waiting::operator+=(const Waiting& other) {
  weight_stall += other.weight_stall;
  weight_shift += other.weight_shift;
  input_stall += other.input_stall;
  raw_stall += other.raw_stall;
  accumulator_stall += other.accumulator_stall;
  return *this;
}

BytesMoved& BytesMoved::operator+=(const BytesMoved& other) {
  host_in += other.host_in;
  host_out += other.host_out;
  weights += other.weights;
  unified_buffer_read += other.unified_buffer_read;
  unified_buffer_write += other.unified_buffer_write;
  accumulator_read += other.accumulator_read;
  accumulator_write += other.accumulator_write;
  return *this;
}

RunCounters& RunCounters::operator+=(const RunCounters& other) {
  classes += other.classes;
  waiting += other.waiting;
  bytes += other.bytes;
  useful_macs += other.useful_macs;
  vector_operations += other.vector_operations;
  tiles += other.tiles;
  instructions += other.instructions;
  return *this;
}

void check_no_registers_needed(const RunOptions& options, const std::string& engine) {
  if (!options.faults.any() && !options.waveform) return;
  throw InputError(options.waveform ? "vcd" : "fault",
                   "engine " + engine + " does not model the array's registers",
                   "--engine systemc --matrix-unit pe does");
}

}  // namespace tilewave::sim
