// Passes arrays between numpy and C++: inputs as spans without a copy, outputs as new arrays.
// Tested in tests/python/module_test.py
#pragma once

#include <pybind11/numpy.h>

#include <cstring>
#include <glm/glm.hpp>
#include <span>
#include <string>
#include <vector>

namespace trocar::python {

namespace py = pybind11;

// C-contiguous arrays of these types are used as they are; others are converted to a copy.
using FloatArray = py::array_t<float, py::array::c_style | py::array::forcecast>;
using IndexArray = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;

// The shape of an array as text: "(4, 2)".
std::string shape_text(const py::array& array);

// Returns the rows of an array of shape (n, 3). Throws ValueError with `name` for another shape.
std::span<const glm::vec3> positions_of(const FloatArray& array, const char* name);
std::span<const glm::uvec3> faces_of(const IndexArray& array, const char* name);
// Returns the three numbers of a sequence, as doubles. Throws ValueError for another length or a value that is not
// finite.
glm::dvec3 point_of(const py::handle& value, const char* name);

// Returns a new array of shape (n, 3).
py::array_t<float> copied(std::span<const glm::vec3> rows);
py::array_t<std::uint32_t> copied(std::span<const glm::uvec3> rows);
// Returns a new array of shape (n).
template <typename T>
py::array_t<T> copied_flat(std::span<const T> values) {
  py::array_t<T> array(static_cast<py::ssize_t>(values.size()));
  if (!values.empty()) std::memcpy(array.mutable_data(), values.data(), values.size_bytes());
  return array;
}
// Returns a read-only view of shape (n, 3) of data that `owner` keeps alive.
py::array viewed(std::span<const glm::vec3> rows, const py::handle& owner);
py::array viewed(std::span<const glm::uvec3> rows, const py::handle& owner);

}  // namespace trocar::python
