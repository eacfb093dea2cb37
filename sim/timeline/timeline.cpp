#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/error.h"
#include "base/parallel.h"
#include "sim/engine.h"
#include "sim/timeline/timing.h"
#include "sim/timeline/values.h"

namespace tilewave::sim {
namespace {

/// Calls fn; if it throws, no worker takes another launch.
template <typename Fn>
void stop_on_throw(Fn fn, std::atomic<std::int64_t>& next, std::int64_t launches) {
  try {
    fn();
  } catch (...) {
    next = launches;
    throw;
  }
}

/// The fast engine: cycles by the recurrence, values by executing launches on several threads.
/// Neither needs the other, since no instruction's time depends on a value.
class Timeline final : public Engine {
 public:
  RunResult time(const Chip& chip, const Program& program, std::int64_t launches,
                 const RunOptions& options) const override {
    check_no_registers_needed(options, "timeline");
    Timing timing(chip, program, options.trace);
    for (std::int64_t launch = 0; launch < launches; ++launch) {
      check_stop(options.stop);
      timing.launch();
    }
    return timing.finish();
  }

  RunResult run(const Chip& chip, const Program& program, const std::vector<std::int16_t>& inputs,
                const RunOptions& options) const override {
    const std::int64_t image_elements = program.input.layout.shape.elements();
    const auto images = static_cast<std::int64_t>(inputs.size()) / image_elements;
    TILEWAVE_CHECK(images * image_elements, ==, static_cast<std::int64_t>(inputs.size()),
                   "inputs are whole images");
    const std::int64_t launches = ceil_div(images, program.batch);
    RunResult result = time(chip, program, launches, options);
    execute(chip, program, inputs, launches, options, result);
    result.outputs.resize(
        static_cast<std::size_t>(images * program.output.layout.shape.elements()));
    return result;
  }

 private:
  /// Fills in what a run with values has.
  static void execute(const Chip& chip, const Program& program,
                      const std::vector<std::int16_t>& inputs, std::int64_t launches,
                      const RunOptions& options, RunResult& result) {
    const std::int64_t input_size = program.input.layout.shape.elements() * program.batch;
    const std::int64_t output_size = program.output.layout.shape.elements() * program.batch;
    result.outputs.resize(static_cast<std::size_t>(launches * output_size));
    result.overflows.resize(program.layers.size());
    const auto prepared = prepare_values(chip, program);
    std::atomic<std::int64_t> next{0};
    std::int64_t done = 0;
    std::mutex mutex;

    const auto work = [&](std::int64_t /*worker*/) {
      const auto machine = make_value_machine(prepared);
      std::vector<std::int16_t> last;
      for (std::int64_t launch = next++; launch < launches; launch = next++) {
        const std::int16_t* from = inputs.data() + launch * input_size;
        if ((launch + 1) * input_size > static_cast<std::int64_t>(inputs.size())) {
          last.assign(inputs.begin() + launch * input_size, inputs.end());
          last.resize(static_cast<std::size_t>(input_size),
                      static_cast<std::int16_t>(program.input.quantization.zero_point));
          from = last.data();
        }
        machine->launch(static_cast<int>(launch % 2), from,
                        result.outputs.data() + launch * output_size, options.stop);
        if (!options.progress) continue;
        const std::scoped_lock lock(mutex);
        ++done;
        stop_on_throw([&] { options.progress(done); }, next, launches);
      }
      const std::scoped_lock lock(mutex);
      for (std::size_t layer = 0; layer < result.overflows.size(); ++layer) {
        result.overflows[layer] += machine->overflows()[layer];
      }
    };
    const std::int64_t workers = std::min<std::int64_t>(std::max(options.threads, 1), launches);
    parallel_for(workers, static_cast<int>(workers), work);
  }
};

}  // namespace

std::unique_ptr<Engine> make_timeline() {
  return std::make_unique<Timeline>();
}

}  // namespace tilewave::sim
