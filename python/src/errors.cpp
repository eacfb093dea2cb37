#include "base/error.h"
#include "python/src/bindings.h"

namespace py = pybind11;

namespace tilewave::python {

void bind_errors(py::module_& module) {
  py::register_exception<InputError>(module, "InputError", PyExc_ValueError);
  py::register_exception<WorkError>(module, "WorkError", PyExc_OSError);
  py::register_exception<InternalError>(module, "InternalError", PyExc_RuntimeError);
}

}  // namespace tilewave::python
