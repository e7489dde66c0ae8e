// Provides a framebuffer of one pixel, never shown, into which `select` and `occlusion` draw. Off-screen contexts have
// no framebuffer of their own, and the framebuffer of a window may be hidden or larger than needed. Tested through
// tests/gpu_collision/drawn_query_test.cpp
#pragma once

#include "gpu_collision/gl_objects.hpp"

namespace trocar::gl {

void delete_framebuffer(Name name);
void delete_renderbuffer(Name name);

class OnePixelTarget {
 public:
  // Throws RunError when the driver rejects the framebuffer. Leaves the bindings unchanged.
  OnePixelTarget();
  Name framebuffer() const { return framebuffer_.name(); }

 private:
  Owned<delete_framebuffer> framebuffer_;
  Owned<delete_renderbuffer> colour_;
};

}  // namespace trocar::gl
