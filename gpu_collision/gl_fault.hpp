// Collects the driver faults of one query object: errors, a lost context, a failed fence, a failed allocation. Nothing
// here throws or allocates.   Tested in tests/gpu_collision/gpu_fault_test.cpp
#pragma once

#include <chrono>

#include "geometry/touch.hpp"
#include "gpu_collision/gl_context.hpp"

namespace trocar::gl {

// A driver resets a hanging GPU after two to ten seconds; a later answer is useless.
constexpr std::chrono::seconds kLongestWait{5};

class FaultWatch {
 public:
  // `context` must outlive it and be current at every call.
  explicit FaultWatch(GlContext& context) : context_(context) {}

  // Call this before our commands: in a shared context it discards the errors that other code left. Returns true if no
  // fault is known.
  bool begin();
  // Call this after our commands: it reads the driver's errors. Returns true if no fault is known.
  bool check();
  // Call this after commands whose errors the next check() of this object can still read: it does so now only in a
  // shared context, where other code could read them first.
  void end() {
    if (context_.shared()) check();
  }
  void raise(TouchFault fault) {
    if (fault_ == TouchFault::None) fault_ = fault;
  }
  bool any() const { return fault_ != TouchFault::None; }
  TouchFault fault() const { return fault_; }  // the first one

 private:
  GlContext& context_;
  TouchFault fault_ = TouchFault::None;
};

}  // namespace trocar::gl
