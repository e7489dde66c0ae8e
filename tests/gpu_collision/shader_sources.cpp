#include "tests/gpu_collision/shader_sources.hpp"

#include <glad/gl.h>

#include <cstdarg>
#include <cstdlib>
#include <fstream>

namespace trocar {
namespace {

std::set<std::pair<std::string, std::string>>* collected = nullptr;

const char* stage_of(GLuint shader) {
  GLint type = 0;
  glad_glGetShaderiv(shader, GL_SHADER_TYPE, &type);
  return type == GL_COMPUTE_SHADER    ? "comp"
         : type == GL_VERTEX_SHADER   ? "vert"
         : type == GL_GEOMETRY_SHADER ? "geom"
                                      : "frag";
}

}  // namespace

ShaderSources::ShaderSources() { collected = &sources; }
ShaderSources::~ShaderSources() { collected = nullptr; }

std::string ShaderSources::complaints(const std::filesystem::path& folder) const {
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

void ShaderSources::collect(const char* name, void (*)(), int count, ...) {
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
  collected->emplace(stage_of(shader), std::move(source));
}

}  // namespace trocar
