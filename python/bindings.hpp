// The parts of the Python module; each adds its classes and functions.
#pragma once

#include <pybind11/pybind11.h>

namespace trocar::python {

void bind_mesh(pybind11::module_& module);
void bind_query(pybind11::module_& module);
void bind_session(pybind11::module_& module);
void bind_recording(pybind11::module_& module);

}  // namespace trocar::python
