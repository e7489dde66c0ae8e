// The Python module `trocar._trocar`: meshes, touch queries, sessions, recordings, scores. The package python/trocar
// re-exports it and adds the environments. Long calls release Python's global lock. Guide: docs/python.md. Tested in
// tests/python
#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/error.hpp"
#include "geometry/tool_volume.hpp"
#include "python/bindings.hpp"
#include "sim/support/process.hpp"

namespace trocar::python {
namespace {

static_assert(sizeof(glm::vec3) == 3 * sizeof(float) && sizeof(glm::uvec3) == 3 * sizeof(std::uint32_t));

// False for a NaN.
bool in_range(double coordinate) { return std::abs(coordinate) <= kLargestCoordinate; }

// Returns the numbers of `value`; their kind is one of numpy's letters in `kinds`.
template <typename Array>
Array numbers_of(const py::handle& value, const char* name, std::string_view kinds, const char* wanted) {
  const auto any = py::array::ensure(value);
  if (any && (any.size() == 0 || kinds.find(any.dtype().kind()) != std::string_view::npos))
    if (auto numbers = Array::ensure(any)) return numbers;
  PyErr_Clear();
  const py::object got = any ? py::object(any.dtype()) : py::type::of(value).attr("__name__");
  throw InputError(
      fmt::format("{}: an array of {} is needed, not of {}", name, wanted, py::str(got).cast<std::string>()));
}

template <typename Row, typename Array>
std::span<const Row> rows_of(const Array& array, const char* name) {
  if (array.ndim() != 2 || array.shape(1) != 3)
    throw InputError(fmt::format("{}: an array of shape (n, 3) is needed, not {}", name, shape_text(array)));
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

// Doubles beyond the floats become infinite.
FloatArray floats_of(const py::handle& value, const char* name) {
  const auto any = py::array::ensure(value);
  if (any && any.dtype().is(py::dtype::of<float>())) return numbers_of<FloatArray>(any, name, "f", "real numbers");
  const DoubleArray numbers = doubles_of(value, name);
  FloatArray floats(std::vector<py::ssize_t>(numbers.shape(), numbers.shape() + numbers.ndim()));
  constexpr double kMost = std::numeric_limits<float>::max();
  std::transform(numbers.data(), numbers.data() + numbers.size(), floats.mutable_data(), [](double number) {
    return std::abs(number) > kMost ? std::copysign(INFINITY, static_cast<float>(std::copysign(1.0, number)))
                                    : static_cast<float>(number);
  });
  return floats;
}
DoubleArray doubles_of(const py::handle& value, const char* name) {
  return numbers_of<DoubleArray>(value, name, "fiu", "real numbers");
}
IndexArray indices_of(const py::handle& value, const char* name) {
  const auto any = py::array::ensure(value);
  if (any && any.dtype().is(py::dtype::of<std::uint32_t>())) return numbers_of<IndexArray>(any, name, "u", "indices");
  using Wide = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;
  const auto wide = numbers_of<Wide>(value, name, "iu", "whole numbers");
  constexpr std::int64_t kMost = 0xffffffff;
  const std::int64_t* const end = wide.data() + wide.size();
  const std::int64_t* const wrong =
      std::find_if(wide.data(), end, [](std::int64_t number) { return number < 0 || number > kMost; });
  if (wrong != end) throw InputError(fmt::format("{}: {} is not an index; number the vertices from 0", name, *wrong));
  return IndexArray::ensure(wide);
}

std::span<const glm::vec3> positions_of(const FloatArray& array, const char* name) {
  const auto rows = rows_of<glm::vec3>(array, name);
  require_positions(rows, name);
  return rows;
}

void require_positions(std::span<const glm::vec3> positions, const char* name) {
  const auto wrong = std::ranges::find_if(
      positions, [](const glm::vec3& p) { return !in_range(p.x) || !in_range(p.y) || !in_range(p.z); });
  if (wrong == positions.end()) return;
  throw InputError(fmt::format("{}: vertex {} is at ({}, {}, {}); a coordinate must be a number between -{} and {} m",
                               name, wrong - positions.begin(), wrong->x, wrong->y, wrong->z, kLargestCoordinate,
                               kLargestCoordinate));
}

std::span<const glm::uvec3> faces_of(const IndexArray& array, const char* name) {
  return rows_of<glm::uvec3>(array, name);
}

glm::dvec3 point_of(const py::handle& value, const char* name) {
  const DoubleArray numbers = doubles_of(value, name);
  if (numbers.ndim() != 1 || numbers.shape(0) != 3)
    throw InputError(fmt::format("{}: three numbers are needed, in metres", name));
  const glm::dvec3 point(numbers.at(0), numbers.at(1), numbers.at(2));
  for (int axis = 0; axis < 3; ++axis) {
    if (!std::isfinite(point[axis])) throw InputError(fmt::format("{}: a coordinate is not a finite number", name));
    if (!in_range(point[axis]))
      throw InputError(fmt::format("{}: a coordinate is {} m; it must lie between -{} and {}", name, point[axis],
                                   kLargestCoordinate, kLargestCoordinate));
  }
  return point;
}

py::array_t<float> copied(std::span<const glm::vec3> rows) { return copied_rows<float>(rows); }
py::array_t<std::uint32_t> copied(std::span<const glm::uvec3> rows) { return copied_rows<std::uint32_t>(rows); }
py::array viewed(std::span<const glm::vec3> rows, const py::handle& owner) { return viewed_rows<float>(rows, owner); }
py::array viewed(std::span<const glm::uvec3> rows, const py::handle& owner) {
  return viewed_rows<std::uint32_t>(rows, owner);
}

}  // namespace trocar::python

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
