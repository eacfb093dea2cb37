#include "flow/diagnose.h"

#include <pybind11/stl.h>

#include <memory>

#include "base/error.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/interruptible.h"

namespace py = pybind11;

namespace tilewave::python {
namespace {

std::shared_ptr<sim::Diagnosis> diagnose(const models::Graph& graph,
                                         const quant::QuantizedGraph& quantized,
                                         const std::string& data, const py::object& images,
                                         const py::object& labels, const sim::Chip& chip,
                                         std::int64_t batch, std::optional<std::int64_t> threads) {
  if (batch < 1) throw InputError("batch", std::to_string(batch), "1 or more");
  flow::DiagnoseOptions options;
  options.batch = batch;
  options.threads = threads_in(threads);
  models::ImagesView view = images_in(images, graph.nodes().front().shape, "images");
  view.labels = labels_in(labels, view.count, "labels");
  return interruptible([&](const std::stop_token& stop) {
    options.stop = stop;
    const flow::Workload workload{graph, {data, copy_of(view), {}}, quantized};
    return std::make_shared<sim::Diagnosis>(flow::diagnose(workload, chip, options));
  });
}

}  // namespace

void bind_diagnose(py::module_& module) {
  py::class_<sim::Diagnosis, std::shared_ptr<sim::Diagnosis>>(module, "Diagnosis")
      .def("to_json", [](const sim::Diagnosis& d) { return sim::to_json(d); })
      .def("to_csv", [](const sim::Diagnosis& d) { return sim::to_csv(d); })
      .def("to_text", [](const sim::Diagnosis& d) { return sim::to_text(d, {}); });
  module.def("diagnose", &diagnose, py::arg("graph"), py::arg("quantized"), py::arg("data"),
             py::arg("images"), py::arg("labels"), py::arg("chip"), py::arg("batch"),
             py::arg("threads"));
}

}  // namespace tilewave::python
