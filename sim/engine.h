#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/units.h"
#include "sim/chip/chip.h"
#include "sim/fault.h"
#include "sim/isa/program.h"
#include "sim/waveform.h"

namespace tilewave::sim {

/// Cycles by class, as seen from the matrix unit; each cycle belongs to exactly one. See
/// docs/timing.md. active = active_useful + active_unused, in array-cycles: the share of the
/// multipliers that worked for the network, times the active cycles, is kept exactly in
/// RunCounters::useful_macs.
struct CycleClasses {
  Cycles active = 0;
  Cycles weight_stall = 0;
  Cycles weight_shift = 0;
  Cycles input_stall = 0;
  Cycles raw_stall = 0;
  Cycles accumulator_stall = 0;
  Cycles idle = 0;
  Cycles drain = 0;

  Cycles total() const {
    return active + weight_stall + weight_shift + input_stall + raw_stall + accumulator_stall +
           idle + drain;
  }
  CycleClasses& operator+=(const CycleClasses& other);
  bool operator==(const CycleClasses&) const = default;
};

/// Unmet cycles of each condition, whether or not an earlier one was unmet too.
struct Waiting {
  Cycles weight_stall = 0;
  Cycles weight_shift = 0;
  Cycles input_stall = 0;
  Cycles raw_stall = 0;
  Cycles accumulator_stall = 0;
  Waiting& operator+=(const Waiting& other);
  bool operator==(const Waiting&) const = default;
};

struct BytesMoved {
  Bytes host_in = 0, host_out = 0, weights = 0;
  Bytes unified_buffer_read = 0, unified_buffer_write = 0;
  Bytes accumulator_read = 0, accumulator_write = 0;
  BytesMoved& operator+=(const BytesMoved& other);
  bool operator==(const BytesMoved&) const = default;
};

/// Figures of a run or of one layer of it; layers add up to the run.
struct RunCounters {
  CycleClasses classes;
  Waiting waiting;
  BytesMoved bytes;
  std::int64_t useful_macs = 0;        ///< multiply-accumulates that belong to the network
  std::int64_t vector_operations = 0;  ///< elements handled by the activation unit
  std::int64_t tiles = 0;              ///< weight tiles read
  std::int64_t instructions = 0;
  RunCounters& operator+=(const RunCounters& other);
  bool operator==(const RunCounters&) const = default;
};

enum class Unit : std::uint8_t {
  host_in,
  host_out,
  weight_memory,
  weight_shift,
  matrix,
  activation
};
inline constexpr int kUnits = 6;

/// A unit's occupation by one instruction: cycles [start, end); the effect is complete at `done`
/// (usable from that cycle on).
struct Slice {
  Unit unit;
  std::int32_t launch;
  std::int32_t instruction;
  Cycles start, end, done;
  bool operator==(const Slice&) const = default;
};

/// What the matrix unit waits for: the cycle classes of docs/timing.md in which it does.
enum class StallReason : std::uint8_t {
  weight_stall,
  weight_shift,
  input_stall,
  raw_stall,
  accumulator_stall,
  idle
};
inline constexpr int kStallReasons = 6;

/// Cycles [start, end), never none, in which a multiply that enters next waits. Those of one
/// multiply follow one another, each for another reason.
struct Stall {
  StallReason reason;
  std::int32_t launch;
  std::int32_t instruction;  ///< the multiply
  Cycles start, end;
  bool operator==(const Stall&) const = default;
};

struct RunResult {
  Cycles cycles = 0;            ///< of the whole run
  Cycles first_launch_end = 0;  ///< when the first launch's last instruction has ended
  RunCounters total;
  std::vector<RunCounters> layers;  ///< one per Program::layers
  /// Additions whose result left the accumulators' width (docs/numerics.md), one count per
  /// Program::layers; those of images that fill up the last launch are among them. Empty for a run
  /// without values.
  std::vector<std::int64_t> overflows;
  /// [images][output elements], images as given; empty for a run without values.
  std::vector<std::int16_t> outputs;
  std::vector<Slice> trace;   ///< only if asked for
  std::vector<Stall> stalls;  ///< likewise, in the order of time
  FaultCounts faults;
};

struct RunOptions {
  int threads = 1;  ///< for the values; the result does not depend on it
  bool trace = false;
  std::function<void(std::int64_t launches_done)> progress;  ///< may be empty; may throw to stop
  std::stop_token stop = {};  ///< asked several times a second; then the run throws Stopped
  // What only systemc with MatrixUnit::pe has.
  FaultOptions faults = {};  ///< for runs with values
  std::optional<WaveformOptions> waveform = {};
};

/// One of the simulators of docs/timing.md. Both give the same RunResult.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Cycles only: `launches` launches of the program.
  virtual RunResult time(const Chip& chip, const Program& program, std::int64_t launches,
                         const RunOptions& options = {}) const = 0;
  /// Cycles and values. inputs: [images][height][width][channels], quantized as
  /// program.input says. The last launch is filled up with images of the zero_point.
  virtual RunResult run(const Chip& chip, const Program& program,
                        const std::vector<std::int16_t>& inputs,
                        const RunOptions& options = {}) const = 0;
};

std::unique_ptr<Engine> make_timeline();

/// Throws InputError if the options ask for what only the registers of MatrixUnit::pe can give.
void check_no_registers_needed(const RunOptions& options, const std::string& engine);

/// How the SystemC engine models the array.
enum class MatrixUnit : std::uint8_t {
  tile,  ///< a whole multiply per event
  pe     ///< the registers of every processing element, each clock
};
/// Throws InputError if this build has no SystemC.
std::unique_ptr<Engine> make_systemc(MatrixUnit matrix_unit);

}  // namespace tilewave::sim
