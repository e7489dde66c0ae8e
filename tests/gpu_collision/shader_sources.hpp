// Collects the sources of all shaders that are compiled during its lifetime, and checks them with glslangValidator, the
// reference compiler of Khronos: drivers differ in what they accept. One object at a time.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include "tests/gpu_collision/gl_hooks.hpp"

namespace trocar {

class ShaderSources {
 public:
  ShaderSources() { collected_ = &sources; }
  ~ShaderSources() { collected_ = nullptr; }
  ShaderSources(const ShaderSources&) = delete;
  ShaderSources& operator=(const ShaderSources&) = delete;

  // Returns what the compiler says about the sources, written to `folder`; empty when it accepts all without a warning.
  std::string complaints(const std::filesystem::path& folder) const {
    std::string text;
    int number = 0;
    for (const auto& [stage, source] : sources) {
      const auto file = folder / ("shader" + std::to_string(number++) + "." + stage), output = folder / "output";
      std::ofstream(file) << source;
      // The compiler prints the file's name, and an "ERROR:" or "WARNING:" for every finding.
      const int status = std::system(("glslangValidator " + file.string() + " > " + output.string() + " 2>&1").c_str());
      std::ifstream in(output);
      const std::string said{std::istreambuf_iterator<char>(in), {}};
      if (status != 0 || said.find("WARNING:") != said.npos) text += said;
    }
    return text;
  }

  std::set<std::pair<std::string, std::string>> sources;  // stage as a file name's ending, text

 private:
  static const char* stage_of(GLuint shader) {
    GLint type = 0;
    glad_glGetShaderiv(shader, GL_SHADER_TYPE, &type);
    return type == GL_COMPUTE_SHADER    ? "comp"
           : type == GL_VERTEX_SHADER   ? "vert"
           : type == GL_GEOMETRY_SHADER ? "geom"
                                        : "frag";
  }

  static void collect(const char* name, GLADapiproc, int count, ...) {
    if (std::string(name) != "glShaderSource") return;
    std::va_list arguments;
    va_start(arguments, count);
    const auto shader = va_arg(arguments, GLuint);
    const auto parts = va_arg(arguments, GLsizei);
    const auto* texts = va_arg(arguments, const GLchar* const*);
    const auto* lengths = va_arg(arguments, const GLint*);
    va_end(arguments);
    std::string source;
    for (GLsizei k = 0; k < parts; ++k)
      source += lengths && lengths[k] >= 0 ? std::string(texts[k], static_cast<std::size_t>(lengths[k])) : texts[k];
    collected_->emplace(stage_of(shader), std::move(source));
  }

  static inline std::set<std::pair<std::string, std::string>>* collected_ = nullptr;
  GlHooks hooks_{collect};
};

}  // namespace trocar
