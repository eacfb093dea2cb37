#include "flow/trace.h"

#include "sim/engine.h"
#include "sim/report/trace.h"

namespace tilewave::flow {

std::string write_trace(const sim::Program& program, const sim::Chip& chip, std::int64_t launches,
                        const std::stop_token& stop,
                        const std::function<void(std::string_view)>& write) {
  const sim::TraceExtent extent = sim::trace_extent(program, launches);
  sim::RunOptions options;
  options.trace = true;
  options.stop = stop;
  // What comes later changes nothing of the launches before it.
  const sim::RunResult run = sim::make_timeline()->time(chip, program, extent.launches, options);
  sim::write_trace(chip, program, run, extent, write);
  return extent.is_whole() ? "" : sim::extent_text(extent);
}

}  // namespace tilewave::flow
