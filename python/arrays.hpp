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

using FloatArray = py::array_t<float, py::array::c_style | py::array::forcecast>;
using DoubleArray = py::array_t<double, py::array::c_style | py::array::forcecast>;
using IndexArray = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;

// A C-contiguous array of the wanted type is used as it is; other numbers are converted to a copy. Throw InputError
// with `name` for what is not a list of real numbers: complex numbers, text, objects; for indices also fractions.
FloatArray floats_of(const py::handle& value, const char* name);
DoubleArray doubles_of(const py::handle& value, const char* name);
IndexArray indices_of(const py::handle& value, const char* name);

// The shape of an array as text: "(4, 2)".
std::string shape_text(const py::array& array);

// Return the rows of an array of shape (n, 3). Throw InputError with `name` for another shape, and for the first vertex
// with a coordinate that is not finite or farther than kLargestCoordinate from the origin.
std::span<const glm::vec3> positions_of(const FloatArray& array, const char* name);
void require_positions(std::span<const glm::vec3> positions, const char* name);
std::span<const glm::uvec3> faces_of(const IndexArray& array, const char* name);
// Returns the three numbers of a sequence, as doubles. Throws InputError for another length, or a value that is not
// finite or farther than kLargestCoordinate from 0.
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
