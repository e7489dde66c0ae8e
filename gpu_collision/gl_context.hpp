// The one OpenGL context: off-screen through EGL (surfaceless or device platform), or the one a window made current.
// Loads every GL entry point. No GL type appears in a header.   Tested in tests/gpu_collision/gl_context_test.cpp
#pragma once

#include <memory>
#include <string>

namespace trocar {

struct GlInfo {
  std::string vendor, renderer, version;
  int major = 0, minor = 0;
  bool compatibility_profile = false;
  bool software = false;  // llvmpipe, softpipe, swrast
};

class GlContext {
 public:
  virtual ~GlContext() = default;
  virtual const GlInfo& info() const = 0;
  virtual void make_current() = 0;
  // True from the moment when the driver says that this context, which must be current, was lost (GPU reset, driver
  // update): nothing in it works again. Drivers that cannot tell: false.
  bool lost();

 private:
  bool lost_ = false;
};

using GlLoader = void (*(*)(const char*))();

// Off-screen context: the compatibility profile when the driver has it, else core. nullptr, with the reason in `why`,
// when this machine offers no OpenGL.
std::unique_ptr<GlContext> make_offscreen_context(std::string& why);
// Adopts the context a window library has made current on this thread (its lifetime stays with the window).
std::unique_ptr<GlContext> adopt_current_context(GlLoader loader, std::string& why);

}  // namespace trocar
