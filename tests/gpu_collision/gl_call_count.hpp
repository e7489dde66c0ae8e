// Counts OpenGL calls through the loader's hooks. One object at a time.
#pragma once

#include <map>
#include <string>

#include "tests/gpu_collision/gl_hooks.hpp"

namespace trocar {

// Counts the calls of its lifetime by name.
class CallCount {
 public:
  CallCount() { counts_ = &by_name; }
  ~CallCount() { counts_ = nullptr; }
  CallCount(const CallCount&) = delete;
  CallCount& operator=(const CallCount&) = delete;

  // A driver may be asked many times whether it has finished: that is one wait.
  int total() const {
    int sum = 0;
    for (const auto& [name, count] : by_name) sum += name == "glClientWaitSync" ? 1 : count;
    return sum;
  }
  // Calls that read state, without the two that report errors and a lost context.
  int reads() const {
    int sum = 0;
    for (const auto& [name, count] : by_name)
      if (name.starts_with("glGet") && name != "glGetError" && name != "glGetGraphicsResetStatus") sum += count;
    return sum;
  }

  std::map<std::string, int> by_name;

 private:
  static void count_call(const char* name, void (*)(), int, ...) { ++(*counts_)[name]; }

  static inline std::map<std::string, int>* counts_ = nullptr;
  GlHooks hooks_{count_call};
};

}  // namespace trocar
