#include <memory>

#include "flow/scores.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/simulated.h"
#include "python/src/text.h"
#include "sim/report/report.h"

namespace py = pybind11;

namespace tilewave::python {
namespace {

using Holder = std::shared_ptr<Simulated>;

template <typename T>
py::array narrowed(const std::vector<std::int16_t>& values, ArrayShape shape) {
  py::array_t<T> array(std::move(shape));
  std::transform(values.begin(), values.end(), array.mutable_data(),
                 [](std::int16_t value) { return static_cast<T>(value); });
  return array;
}

ArrayShape outputs_shape(const Simulated& run) {
  const auto images = static_cast<py::ssize_t>(run.report.images);
  return {images, static_cast<py::ssize_t>(run.report.result.outputs.size()) / images};
}

/// [images, outputs] in the narrowest type that holds them; None without values.
py::object outputs(const py::object& self) {
  const auto& run = self.cast<const Simulated&>();
  const auto& values = run.report.result.outputs;
  if (values.empty()) return py::none();
  if (run.output.format.bytes() == 2) return view_of(values.data(), outputs_shape(run), self);
  if (run.output.format.is_signed) return narrowed<std::int8_t>(values, outputs_shape(run));
  return narrowed<std::uint8_t>(values, outputs_shape(run));
}

/// [images]: the first of an image's largest outputs.
py::object classes(const Simulated& run) {
  const auto& values = run.report.result.outputs;
  if (values.empty()) return py::none();
  const auto all = flow::classes_of(values, outputs_shape(run)[1]);
  return py::array_t<std::int64_t>(static_cast<py::ssize_t>(all.size()), all.data());
}

}  // namespace

void bind_result(py::module_& module) {
  py::class_<Simulated, Holder>(module, "Result")
      .def_property_readonly("cycles",
                             [](const Simulated& run) { return run.report.result.cycles; })
      .def_property_readonly("output_scale", [](const Simulated& run) { return run.output.scale; })
      .def_property_readonly("output_zero_point",
                             [](const Simulated& run) { return run.output.zero_point; })
      .def("outputs", &outputs)
      .def("classes", &classes)
      .def("to_json", [](const Simulated& run) { return sim::to_json(run.report); })
      .def("to_csv", [](const Simulated& run) { return text_of(sim::to_csv(run.report)); })
      .def("to_text", [](const Simulated& run) { return text_of(sim::to_text(run.report, {})); });
}

}  // namespace tilewave::python
