#include "sim/chip/chip.h"

#include <pybind11/stl.h>

#include "python/src/bindings.h"
#include "sim/report/figures.h"

namespace py = pybind11;

namespace tilewave::python {

void bind_chip(py::module_& module) {
  using sim::Chip;
  py::class_<Chip>(module, "Chip")
      .def_readonly("name", &Chip::name)
      .def_readonly("clock_mhz", &Chip::clock_mhz)
      .def_property_readonly("rows", [](const Chip& chip) { return chip.array.rows; })
      .def_property_readonly("cols", [](const Chip& chip) { return chip.array.cols; })
      .def_property_readonly("peak_tops", &sim::peak_tops)
      .def("to_yaml", [](const Chip& chip) { return sim::to_yaml(chip); })
      .def("to_json", [](const Chip& chip) { return sim::to_json(chip); })
      .def("with_keys", &sim::with_keys, py::arg("keys"))
      .def("__eq__", [](const Chip& a, const Chip& b) { return a == b; });
  module.def("load_chip", &sim::load_chip, py::arg("name_or_path"));
  module.def("parse_chip",
             py::overload_cast<const std::string&, const std::string&>(&sim::parse_chip),
             py::arg("yaml"), py::arg("where"));
  module.def("chip_names", &sim::chip_names);
  module.def("chip_schema", &sim::json_schema);
}

}  // namespace tilewave::python
