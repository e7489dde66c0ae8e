// Collects the sources of all shaders that are compiled during its lifetime, and checks them with glslangValidator, the
// reference compiler of Khronos: drivers differ in what they accept. One object at a time.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "tests/gpu_collision/gl_hooks.hpp"

namespace trocar {

class ShaderSources {
 public:
  ShaderSources();
  ~ShaderSources();
  ShaderSources(const ShaderSources&) = delete;
  ShaderSources& operator=(const ShaderSources&) = delete;

  // Returns what the compiler says about the sources, written to `folder`; empty when it accepts all without a warning.
  std::string complaints(const std::filesystem::path& folder) const;

  std::set<std::pair<std::string, std::string>> sources;  // stage as a file name's ending, text

 private:
  static void collect(const char* name, void (*function)(), int count, ...);

  GlHooks hooks_{collect};
};

}  // namespace trocar
