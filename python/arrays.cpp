#include "python/arrays.hpp"

#include <cmath>

namespace trocar::python {
namespace {

static_assert(sizeof(glm::vec3) == 3 * sizeof(float) && sizeof(glm::uvec3) == 3 * sizeof(std::uint32_t));

template <typename Row, typename Array>
std::span<const Row> rows_of(const Array& array, const char* name) {
  if (array.ndim() != 2 || array.shape(1) != 3)
    throw py::value_error(std::string(name) + ": an array of shape (n, 3) is needed, not " + shape_text(array));
  return {reinterpret_cast<const Row*>(array.data()), static_cast<std::size_t>(array.shape(0))};
}

template <typename Number, typename Row>
py::array_t<Number> copied_rows(std::span<const Row> rows) {
  py::array_t<Number> array({static_cast<py::ssize_t>(rows.size()), py::ssize_t{3}});
  if (!rows.empty()) std::memcpy(array.mutable_data(), rows.data(), rows.size_bytes());
  return array;
}

template <typename Number, typename Row>
py::array viewed_rows(std::span<const Row> rows, const py::handle& owner) {
  py::array array(py::dtype::of<Number>(), {static_cast<py::ssize_t>(rows.size()), py::ssize_t{3}}, rows.data(), owner);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

}  // namespace

std::string shape_text(const py::array& array) {
  return py::str(py::reinterpret_borrow<py::object>(array).attr("shape")).cast<std::string>();
}

std::span<const glm::vec3> positions_of(const FloatArray& array, const char* name) {
  return rows_of<glm::vec3>(array, name);
}
std::span<const glm::uvec3> faces_of(const IndexArray& array, const char* name) {
  return rows_of<glm::uvec3>(array, name);
}

glm::dvec3 point_of(const py::handle& value, const char* name) {
  const auto numbers = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(value);
  if (!numbers || numbers.ndim() != 1 || numbers.shape(0) != 3) {
    PyErr_Clear();
    throw py::value_error(std::string(name) + ": three numbers are needed, in metres");
  }
  const glm::dvec3 point(numbers.at(0), numbers.at(1), numbers.at(2));
  for (int axis = 0; axis < 3; ++axis)
    if (!std::isfinite(point[axis])) throw py::value_error(std::string(name) + ": a coordinate is not a finite number");
  return point;
}

py::array_t<float> copied(std::span<const glm::vec3> rows) { return copied_rows<float>(rows); }
py::array_t<std::uint32_t> copied(std::span<const glm::uvec3> rows) { return copied_rows<std::uint32_t>(rows); }
py::array viewed(std::span<const glm::vec3> rows, const py::handle& owner) { return viewed_rows<float>(rows, owner); }
py::array viewed(std::span<const glm::uvec3> rows, const py::handle& owner) {
  return viewed_rows<std::uint32_t>(rows, owner);
}

}  // namespace trocar::python
