// Keeps an object of ours to one call at a time. Long calls release Python's global lock, so a second thread could
// enter the object meanwhile; it gets RunError. A thread that waits instead would hang while the first one needs the
// lock. GuardedClass wraps every bound method.   Tested in tests/python/threads_test.py
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <string>
#include <type_traits>
#include <utility>

#include "geometry/error.hpp"

namespace trocar::python {

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

}  // namespace trocar::python
