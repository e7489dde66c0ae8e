// Installs a hook that sees every OpenGL call before it is made, through the loader. One object at a time.
#pragma once

namespace trocar {

// name of the function, the function, number of its arguments, the arguments
using GlHook = void (*)(const char* name, void (*function)(), int count, ...);

class GlHooks {
 public:
  explicit GlHooks(GlHook before);
  ~GlHooks();
  GlHooks(const GlHooks&) = delete;
  GlHooks& operator=(const GlHooks&) = delete;
};

}  // namespace trocar
