#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace tilewave::python {

/// As Python's str. The names in a program from a file may hold any bytes: what is not UTF-8
/// becomes U+FFFD, as in the JSON.
inline pybind11::str text_of(const std::string& bytes) {
  PyObject* text =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
  if (text == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::str>(text);
}

}  // namespace tilewave::python
