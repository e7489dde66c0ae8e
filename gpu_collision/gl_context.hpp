// Owns the one OpenGL context: off-screen through EGL (surfaceless or device platform), or the one that a window made
// current. Loads every GL entry point. No GL type appears in a header.   Tested in
// tests/gpu_collision/gl_context_test.cpp
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

namespace gl {
class Submissions;
}

class GlContext {
 public:
  GlContext();  // a derived class makes the OpenGL context
  virtual ~GlContext();
  virtual const GlInfo& info() const = 0;  // read when the context was made
  virtual void make_current() = 0;         // on this thread; no effect for a window's context
  // Leaves this thread without a context, so that another thread can make this one current. A window's context stays.
  virtual void leave() {}
  // Returns true once the driver has reported that this context, which must be current, is lost (GPU reset, driver
  // update): nothing in it works again. Always false for a driver without this report.
  bool lost();
  // Other code, for instance a renderer, also uses this context: from now on every query restores the state that it
  // changes, and ignores errors that were there before. Always so in the context of a window.
  void share() { shared_ = true; }
  bool shared() const { return shared_; }                   // share() was called
  gl::Submissions& submissions() { return *submissions_; }  // of all its queries

 private:
  bool lost_ = false, shared_ = false;
  std::unique_ptr<gl::Submissions> submissions_;
};

using GlLoader = void (*(*)(const char*))();

// Makes an off-screen context of the newest available version from 4.5, 4.3, 3.3; at each version the compatibility
// profile is preferred to core. Threads may call it at the same time. Returns nullptr, with the reason in `why`, when
// this machine offers no OpenGL. This function, and make_current() of its contexts, throw RunError in a process that
// was forked after its parent used OpenGL: the driver's threads do not exist there, and its locks may be held for ever.
std::unique_ptr<GlContext> make_offscreen_context(std::string& why);
// Returns whether this process was forked after its parent made an off-screen context.
bool gl_was_forked();
// Adopts the context that a window library has made current on this thread (the window still owns it). Returns nullptr,
// with the reason in `why`, when none is current.
std::unique_ptr<GlContext> adopt_current_context(GlLoader loader, std::string& why);

}  // namespace trocar
