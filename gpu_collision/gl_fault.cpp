#include "gpu_collision/gl_fault.hpp"

#include <glad/gl.h>

namespace trocar::gl {
namespace {

// A lost context may repeat its error without end.
constexpr int kMostErrors = 16;

TouchFault fault_of(GLenum error) {
  if (error == GL_NO_ERROR) return TouchFault::None;
  if (error == GL_CONTEXT_LOST) return TouchFault::LostContext;
  return error == GL_OUT_OF_MEMORY ? TouchFault::OutOfMemory : TouchFault::DriverError;
}

}  // namespace

bool FaultWatch::begin() {
  for (int i = 0; i < kMostErrors && context_.shared() && !any(); ++i) {
    const TouchFault fault = fault_of(glGetError());
    if (fault == TouchFault::LostContext) raise(fault);
    if (fault == TouchFault::None) break;
  }
  return !any();
}

bool FaultWatch::check() {
  if (!any() && context_.lost()) raise(TouchFault::LostContext);
  for (int i = 0; i < kMostErrors; ++i) {
    const TouchFault fault = fault_of(glGetError());
    if (fault == TouchFault::None) break;
    raise(fault);
  }
  return !any();
}

}  // namespace trocar::gl
