#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "sim/engine.h"
#include "sim/isa/fits.h"
#include "sim/isa/place.h"
#include "sim/isa/sum_bounds.h"
#include "sim/systemc/accelerator.h"
#include "sim/systemc/context.h"
#include "sim/systemc/waveform.h"

namespace tilewave::sim {
namespace {

using namespace systemc;

/// Cycles that the kernel runs before it comes back to ask whether it should go on: so many that
/// asking costs nothing, so few that they take some tenths of a second with every multiplier of the
/// array modelled.
Cycles chunk_cycles(const Array& array) {
  constexpr std::int64_t kMultiplierCycles = std::int64_t{1} << 32;
  return std::clamp<Cycles>(kMultiplierCycles / (array.rows * array.cols), 1, 1 << 16);
}

/// Tells the user of launches that are over; may throw, which ends the run.
class Progress {
 public:
  explicit Progress(const RunOptions& options) : report_(options.progress) {}
  void operator()(std::int64_t launches_done) {
    while (report_ && reported_ < launches_done) report_(++reported_);
  }

 private:
  const std::function<void(std::int64_t)>& report_;
  std::int64_t reported_ = 0;
};

void throw_stuck(const Shared& shared, const Accelerator& accelerator) {
  TILEWAVE_CHECK(accelerator.sequencer.has_issued_all(), ==, false,
                 "a unit waits for what nothing will do");
  const Operation& op = *accelerator.sequencer.next().operation;
  throw InputError(place_of(shared.program, op), "waits forever for a place in its unit's queue",
                   "a larger sequencer.queue_depth or weight_memory.fifo_tiles");
}

void run_to_end(Shared& shared, Accelerator& accelerator, Progress& progress, Waveform* waveform,
                const std::stop_token& stop) {
  const Cycles chunk_size = chunk_cycles(shared.chip.array);
  while (!accelerator.has_finished()) {
    check_stop(stop);
    const auto look = waveform != nullptr ? waveform->next_stop(current_cycle()) : std::nullopt;
    if (look) {
      const Cycles to = std::min(*look, current_cycle() + chunk_size);
      sc_core::sc_start(time_to(to), sc_core::SC_RUN_TO_TIME);
    } else {
      sc_core::sc_time chunk = time_to(current_cycle() + chunk_size);
      if (sc_core::sc_pending_activity_at_future_time()) {
        chunk += sc_core::sc_time_to_pending_activity();
      }
      sc_core::sc_start(chunk, sc_core::SC_EXIT_ON_STARVATION);
    }
    if (shared.error) std::rethrow_exception(shared.error);
    progress(accelerator.launches_done());
    if (!sc_core::sc_pending_activity() && !accelerator.has_finished()) {
      throw_stuck(shared, accelerator);
    }
    if (look && !accelerator.has_finished()) waveform->look(current_cycle());
  }
}

class SystemcEngine final : public Engine {
 public:
  explicit SystemcEngine(MatrixUnit matrix_unit) : matrix_unit_(matrix_unit) {}

  RunResult time(const Chip& chip, const Program& program, std::int64_t launches,
                 const RunOptions& options) const override {
    return simulate(chip, program, {}, launches, options);
  }

  RunResult run(const Chip& chip, const Program& program, const std::vector<std::int16_t>& inputs,
                const RunOptions& options) const override {
    const std::int64_t image_elements = program.input.layout.shape.elements();
    const auto images = static_cast<std::int64_t>(inputs.size()) / image_elements;
    TILEWAVE_CHECK(images * image_elements, ==, static_cast<std::int64_t>(inputs.size()),
                   "inputs are whole images");
    RunResult result = simulate(chip, program, inputs, ceil_div(images, program.batch), options);
    result.outputs.resize(
        static_cast<std::size_t>(images * program.output.layout.shape.elements()));
    return result;
  }

 private:
  RunResult simulate(const Chip& chip, const Program& program,
                     const std::vector<std::int16_t>& inputs, std::int64_t launches,
                     const RunOptions& options) const {
    check_fits(chip, program);
    check_probes(chip, program, !inputs.empty(), options);
    ArrayFaults faults(chip, program, options.faults);
    const InstructionStream stream(program, launches);
    Recorder recorder(program, !inputs.empty(), options.trace);
    HostMemory host(program, inputs, launches);
    Shared shared{chip,     program, !inputs.empty(),
                  recorder, nullptr, options.faults.any() ? &faults : nullptr};
    if (shared.with_values) shared.overflowing = overflowing(shared);
    if (launches > 0) {
      Progress progress(options);
      const Context context(options.stop);
      Accelerator accelerator("tpu", shared, matrix_unit_, stream, host);
      std::optional<Waveform> waveform;
      if (options.waveform) waveform.emplace(*options.waveform, chip, program, accelerator);
      run_to_end(shared, accelerator, progress, waveform ? &*waveform : nullptr, options.stop);
      accelerator.monitor.finish();
      if (waveform) waveform->finish(recorder.cycles());
    }
    RunResult result = recorder.take();
    result.outputs = host.take_outputs();
    result.faults = faults.counts();
    return result;
  }

  /// Nothing is proven of registers that are broken.
  static std::vector<char> overflowing(const Shared& shared) {
    if (shared.faults != nullptr) {
      return std::vector<char>(shared.program.instructions.size(), char{1});
    }
    std::vector<char> all =
        may_overflow(shared.chip, shared.program, decode_program(shared.program, 0));
    const bool any = std::find(all.begin(), all.end(), char{1}) != all.end();
    return any ? all : std::vector<char>{};
  }

  void check_probes(const Chip& chip, const Program& program, bool with_values,
                    const RunOptions& options) const {
    if (matrix_unit_ == MatrixUnit::tile) return check_no_registers_needed(options, "systemc/tile");
    if (options.waveform) shown_registers(chip, program, *options.waveform);
    check_faults(chip, program, options.faults);
    if (options.faults.any() && !with_values) {
      throw InputError("fault", "changes nothing in a run without values", "a run with values");
    }
  }

  MatrixUnit matrix_unit_;
};

}  // namespace

std::unique_ptr<Engine> make_systemc(MatrixUnit matrix_unit) {
  return std::make_unique<SystemcEngine>(matrix_unit);
}

}  // namespace tilewave::sim
