// What the driver does wrong, gathered for one query object: its errors, a lost context, a fence that fails, memory
// that it does not give. Nothing here throws or allocates.   Tested in tests/gpu_collision/gpu_fault_test.cpp
#pragma once

#include <chrono>

#include "geometry/touch_fault.hpp"
#include "gpu_collision/gl_context.hpp"

namespace trocar::gl {

// A driver resets a GPU that hangs after two to ten seconds; a later answer is of no use.
constexpr std::chrono::seconds kLongestWait{5};

class FaultWatch {
 public:
  // `context` outlives it and is current whenever it is used.
  explicit FaultWatch(GlContext& context) : context_(context) {}

  // Before our commands: forgets what errors others left. True while no fault is known.
  bool begin();
  // After our commands: asks the driver. True while all is well.
  bool check();
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
