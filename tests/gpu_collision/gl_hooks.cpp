#include "tests/gpu_collision/gl_hooks.hpp"

#include <glad/gl.h>

namespace trocar {
namespace {

void ignore(void*, const char*, GLADapiproc, int, ...) {}

}  // namespace

GlHooks::GlHooks(GlHook before) {
  gladSetGLPreCallback(before);
  gladSetGLPostCallback(ignore);
  gladInstallGLDebug();
  // The loader also wraps functions that the context lacks: code that asks whether they are there must see that.
  if (glad_glGetGraphicsResetStatus == nullptr) glad_debug_glGetGraphicsResetStatus = nullptr;
  if (glad_glGetStringi == nullptr) glad_debug_glGetStringi = nullptr;
}

GlHooks::~GlHooks() { gladUninstallGLDebug(); }

}  // namespace trocar
