#include "flow/trace.h"

#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/compiled.h"
#include "python/src/interruptible.h"
#include "python/src/simulated.h"
#include "sim/report/occupancy.h"
#include "sim/report/trace.h"

namespace py = pybind11;

namespace tilewave::python {
namespace {

using Steps = std::vector<sim::OccupancyStep>;

py::array slices(const py::object& self) {
  const auto& trace = self.cast<const Simulated&>().report.result.trace;
  return view_of(trace.data(), {static_cast<py::ssize_t>(trace.size())}, self);
}

py::array array_of(const Steps& steps) {
  return py::array_t<sim::OccupancyStep>(static_cast<py::ssize_t>(steps.size()), steps.data());
}

/// (unified buffer in bytes, weight FIFO in tiles)
py::tuple occupancy(const Simulated& run, const Compiled& compiled) {
  const auto [buffer, fifo] = [&] {
    const py::gil_scoped_release release;
    const sim::DecodedLaunches launches = {sim::decode_program(compiled.program, 0),
                                           sim::decode_program(compiled.program, 1)};
    const std::vector<sim::Slice>& trace = run.report.result.trace;
    return std::pair(sim::unified_buffer_occupancy(launches, trace),
                     sim::weight_fifo_occupancy(compiled.chip.array.dataflow, launches, trace));
  }();
  return py::make_tuple(array_of(buffer), array_of(fifo));
}

std::string save_trace(const std::shared_ptr<Compiled>& compiled, std::int64_t launches,
                       const std::string& path) {
  return interruptible([&](const std::stop_token& stop) {
    OutputFile file(path);
    const std::string part = flow::write_trace(compiled->program, compiled->chip, launches, stop,
                                               [&](std::string_view text) { file.write(text); });
    file.commit();
    return part;
  });
}

}  // namespace

void bind_trace(py::module_& module) {
  using sim::OccupancyStep;
  using sim::Slice;
  py::list units;
  for (int unit = 0; unit < sim::kUnits; ++unit) {
    units.append(std::string(sim::unit_name(static_cast<sim::Unit>(unit))));
  }
  module.attr("unit_names") = py::tuple(units);
  PYBIND11_NUMPY_DTYPE(Slice, unit, launch, instruction, start, end, done);
  PYBIND11_NUMPY_DTYPE(OccupancyStep, cycle, value);
  module.def("slices", &slices, py::arg("result"));
  module.def("occupancy", &occupancy, py::arg("result"), py::arg("program"));
  module.def("save_trace", &save_trace, py::arg("program"), py::arg("launches"), py::arg("path"));
}

}  // namespace tilewave::python
