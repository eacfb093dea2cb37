#include "python/src/bindings.h"
#include "sim/report/report.h"

PYBIND11_MODULE(_core, module) {
  using namespace tilewave::python;
  module.doc() = "The C++ side of tilewave. Use the package, which checks and documents.";
  module.attr("version") = tilewave::sim::version();
  bind_errors(module);
  bind_chip(module);
  bind_graph(module);
  bind_datasets(module);
  bind_quantize(module);
  bind_program(module);
  bind_result(module);
  bind_simulate(module);
  bind_operators(module);
  bind_trace(module);
  bind_diagnose(module);
  bind_reference(module);
  bind_experiment(module);
}
