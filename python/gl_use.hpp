// Makes the OpenGL context of an object current for the time of one call. Between calls no context is current, so any
// thread may use the object or destroy it, one at a time. Raises RunError in a process that was forked after the first
// use of OpenGL. Tested in tests/python/session_test.py and tests/python/gymnasium_test.py
#pragma once

#include "app/compare/backends.hpp"

namespace trocar::python {

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

}  // namespace trocar::python
