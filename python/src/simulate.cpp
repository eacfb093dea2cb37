#include <pybind11/stl.h>

#include <memory>

#include "base/error.h"
#include "flow/run.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/compiled.h"
#include "python/src/interruptible.h"
#include "python/src/simulated.h"

namespace py = pybind11;

namespace tilewave::python {
namespace {

/// How to simulate, as Python says it.
flow::EngineChoice choice(const std::string& engine, const std::optional<std::string>& unit) {
  return {engine, unit.value_or("")};
}

std::shared_ptr<Simulated> simulate(const std::shared_ptr<Compiled>& compiled,
                                    const py::object& images, const py::object& labels,
                                    const std::string& data, std::int64_t launches,
                                    const std::string& engine,
                                    const std::optional<std::string>& matrix_unit,
                                    std::optional<std::int64_t> threads, bool trace) {
  if (launches < 1) throw InputError("launches", std::to_string(launches), "1 or more");
  flow::ExecuteOptions options;
  options.launches = launches;
  options.values = !images.is_none();
  options.engine = choice(engine, matrix_unit);
  options.threads = threads_in(threads);
  options.trace = trace;
  models::ImagesView view;
  if (options.values) {
    view = images_in(images, compiled->program.input.layout.shape, "images");
    view.labels = labels_in(labels, view.count, "labels");
  }
  return interruptible([&](const std::stop_token& stop) {
    options.stop = stop;
    auto run = std::make_shared<Simulated>();
    run->report = flow::execute(compiled->program, compiled->chip, options.values ? &view : nullptr,
                                data, options);
    run->report.scheme = compiled->scheme;
    run->output = compiled->program.output.quantization;
    return run;
  });
}

std::shared_ptr<Simulated> run(const models::Graph& graph, const quant::QuantizedGraph& quantized,
                               const std::string& data, const py::object& test_images,
                               const py::object& test_labels, const sim::Chip& chip,
                               std::optional<std::int64_t> images, std::int64_t batch,
                               const std::string& engine,
                               const std::optional<std::string>& matrix_unit,
                               std::optional<std::int64_t> threads, bool reference) {
  if (batch < 1) throw InputError("batch", std::to_string(batch), "1 or more");
  flow::RunOptions options;
  options.images = images;
  options.batch = batch;
  options.engine = choice(engine, matrix_unit);
  options.threads = threads_in(threads);
  options.reference = reference;
  models::ImagesView view = images_in(test_images, graph.nodes().front().shape, "test images");
  view.labels = labels_in(test_labels, view.count, "test labels");
  return interruptible([&](const std::stop_token& stop) {
    options.stop = stop;
    const flow::Workload workload{graph, {data, copy_of(view), {}}, quantized};
    return std::make_shared<Simulated>(
        Simulated{flow::run(workload, chip, options), quantized.output().quantization});
  });
}

}  // namespace

void bind_simulate(py::module_& module) {
  module.def("simulate", &simulate, py::arg("program"), py::arg("images"), py::arg("labels"),
             py::arg("data"), py::arg("launches"), py::arg("engine"), py::arg("matrix_unit"),
             py::arg("threads"), py::arg("trace"));
  module.def("run", &run, py::arg("graph"), py::arg("quantized"), py::arg("data"),
             py::arg("test_images"), py::arg("test_labels"), py::arg("chip"), py::arg("images"),
             py::arg("batch"), py::arg("engine"), py::arg("matrix_unit"), py::arg("threads"),
             py::arg("reference"));
  module.attr("engine_names") = flow::engine_names();
  module.attr("matrix_unit_names") = flow::matrix_unit_names();
}

}  // namespace tilewave::python
