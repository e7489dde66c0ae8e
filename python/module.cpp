// The Python module `trocar._trocar`: meshes, touch queries, sessions, recordings, scores. The package python/trocar
// re-exports it and adds the environments. Long calls release Python's global lock. Guide: docs/python.md. Tested in
// tests/python
#include <pybind11/pybind11.h>

#include "geometry/error.hpp"
#include "python/bindings.hpp"
#include "sim/support/process.hpp"

PYBIND11_MODULE(_trocar, module) {
  using namespace trocar;
  module.doc() = "Touch queries, soft tissue and surgical sessions. SI units.";
  module.attr("__version__") = kVersion;
  // The messages are those of the command line: one sentence with the file, what is wrong, and what to do.
  pybind11::register_exception<InputError>(module, "InputError", PyExc_ValueError);
  pybind11::register_exception<RunError>(module, "RunError", PyExc_RuntimeError);
  python::bind_mesh(module);
  python::bind_query(module);
  python::bind_session(module);
  python::bind_recording(module);
}
