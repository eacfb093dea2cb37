#include <cstring>

#include "base/error.h"
#include "python/src/bindings.h"

namespace py = pybind11;

namespace tilewave::python {
namespace {

/// Messages quote what users wrote, which need not be UTF-8.
void raise(PyObject* type, const std::exception& error) {
  const char* text = error.what();
  const auto message = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text, static_cast<py::ssize_t>(std::strlen(text)), "replace"));
  PyErr_SetObject(type, message.ptr());
}

}  // namespace

void bind_errors(py::module_& module) {
  // The module keeps them alive.
  static PyObject* const kInput =
      py::exception<InputError>(module, "InputError", PyExc_ValueError).ptr();
  static PyObject* const kWork = py::exception<WorkError>(module, "WorkError", PyExc_OSError).ptr();
  static PyObject* const kInternal =
      py::exception<InternalError>(module, "InternalError", PyExc_RuntimeError).ptr();
  py::register_exception_translator([](std::exception_ptr caught) {
    try {
      std::rethrow_exception(caught);
    } catch (const InputError& error) {
      raise(kInput, error);
    } catch (const WorkError& error) {
      raise(kWork, error);
    } catch (const InternalError& error) {
      raise(kInternal, error);
    }
  });
}

}  // namespace tilewave::python
