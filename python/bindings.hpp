// What the sources of the Python module share: its parts; arrays between numpy and C++, inputs as spans without a copy,
// outputs as new arrays; objects that one call at a time may use; words as arguments.
// Tested in tests/python
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <glm/glm.hpp>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/compare/backends.hpp"
#include "geometry/error.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/support/files.hpp"

namespace trocar::python {

void bind_mesh(pybind11::module_& module);
void bind_query(pybind11::module_& module);
void bind_session(pybind11::module_& module);
void bind_recording(pybind11::module_& module);

// The base of an object that one call at a time may use. `Object::kName`: what Python calls it.
class OneAtATime {
 public:
  OneAtATime() = default;
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;

 private:
  friend class Use;
  mutable std::atomic<bool> in_use_{false};
};

// The time of one call. Throws RunError when another call is in the object.
class Use {
 public:
  Use(const OneAtATime& object, const char* name) : in_use_(object.in_use_) {
    if (in_use_.exchange(true))
      throw RunError("this " + std::string(name) + " is in use by another thread; use it from one thread at a time");
  }
  ~Use() { in_use_.store(false); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  std::atomic<bool>& in_use_;
};

// Returns the call, wrapped so that it is alone in its object.
template <typename Object, typename Result, typename... Args>
auto alone(Result (*call)(Object&, Args...)) {
  return [call](Object& object, Args... args) -> Result {
    const Use use(object, Object::kName);
    return call(object, std::forward<Args>(args)...);
  };
}
template <typename Object, typename Result, typename... Args>
auto alone(Result (Object::*call)(Args...)) {
  return [call](Object& object, Args... args) -> Result {
    const Use use(object, Object::kName);
    return (object.*call)(std::forward<Args>(args)...);
  };
}
template <typename Object, typename Result, typename... Args>
auto alone(Result (Object::*call)(Args...) const) {
  return [call](const Object& object, Args... args) -> Result {
    const Use use(object, Object::kName);
    return (object.*call)(std::forward<Args>(args)...);
  };
}
template <typename Lambda>
requires std::is_class_v<Lambda>
auto alone(Lambda lambda) { return alone(+lambda); }

// A class of the module of whose objects every method and property is alone().
template <typename Object>
class GuardedClass {
 public:
  GuardedClass(pybind11::module_& module, const char* doc) : class_(module, Object::kName, doc) {}

  template <typename Init, typename... Extra>
  GuardedClass& init(Init&& make, const Extra&... extra) {
    class_.def(std::forward<Init>(make), extra...);
    return *this;
  }
  template <typename Call, typename... Extra>
  GuardedClass& def(const char* name, Call call, const Extra&... extra) {
    class_.def(name, alone(call), extra...);
    return *this;
  }
  template <typename Call, typename... Extra>
  GuardedClass& def_property_readonly(const char* name, Call call, const Extra&... extra) {
    class_.def_property_readonly(name, alone(call), extra...);
    return *this;
  }

 private:
  pybind11::class_<Object> class_;
};

// Returns the value of a word. Throws InputError that lists the words for any other; `what` names the argument.
template <typename Value>
Value chosen(const char* what, const std::string& word, std::initializer_list<std::pair<const char*, Value>> choices) {
  std::string words;
  for (const auto& [name, value] : choices) {
    if (word == name) return value;
    words += (words.empty() ? "" : ", ") + std::string(name);
  }
  throw InputError(std::string(what) + " '" + word + "' is unknown; choose one of " + words);
}

class GlUse {
 public:
  GlUse(Backends& backends, bool uses_gl) : context_(uses_gl ? backends.context() : nullptr) {
    if (context_) context_->make_current();
  }
  ~GlUse() {
    if (context_) context_->leave();
  }
  GlUse(const GlUse&) = delete;
  GlUse& operator=(const GlUse&) = delete;

 private:
  GlContext* context_;
};

// Returns whether the backend of this name runs on OpenGL.
inline bool runs_on_gl(std::string_view name) {
  for (const BackendRow& row : backend_table())
    if (row.name == name) return row.needs != "CPU";
  return false;
}

// Throws InputError when the recording, which the call names as `argument`, would replace a file of the scene, or any
// other file unless `force`.
inline void check_recording_output(const Scene& scene, const std::string& argument, const std::filesystem::path& file,
                                   bool force) {
  refuse_same_files(files_of(scene), {{argument, file}});
  refuse_existing({{argument, file}}, force, "pass force=True");
}

namespace py = pybind11;

// Runs `work` while other threads of Python may run. It must not use Python objects.
template <typename Work>
auto unlocked(Work work) {
  const py::gil_scoped_release released;
  return work();
}

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
