#pragma once

#include <pybind11/pybind11.h>

// One function per category; each adds its part to the module tilewave._core, which the typed layer
// in python/tilewave is written on. Users do not call it.

namespace tilewave::python {

void bind_errors(pybind11::module_& module);
void bind_chip(pybind11::module_& module);
void bind_graph(pybind11::module_& module);
void bind_datasets(pybind11::module_& module);
void bind_quantize(pybind11::module_& module);
void bind_program(pybind11::module_& module);
void bind_result(pybind11::module_& module);
void bind_trace(pybind11::module_& module);
void bind_simulate(pybind11::module_& module);
void bind_operators(pybind11::module_& module);
void bind_diagnose(pybind11::module_& module);
void bind_reference(pybind11::module_& module);
void bind_experiment(pybind11::module_& module);

}  // namespace tilewave::python
