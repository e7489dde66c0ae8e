#include "gpu_collision/gl_objects.hpp"

#include <glad/gl.h>

#include <string>

#include "geometry/error.hpp"

namespace trocar::gl {

bool at_least(const GlInfo& info, int major, int minor) {
  return info.major > major || (info.major == major && info.minor >= minor);
}

void require_version(const GlContext& context, std::string_view backend, int major, int minor) {
  const GlInfo& info = context.info();
  if (at_least(info, major, minor)) return;
  throw InputError("backend " + std::string(backend) + ": this context is OpenGL " + std::to_string(info.major) + "." +
                   std::to_string(info.minor) + ", " + std::to_string(major) + "." + std::to_string(minor) +
                   " is needed");
}

bool has_extension(std::string_view name) {
  if (glGetStringi == nullptr) return false;
  GLint count = 0;
  glGetIntegerv(GL_NUM_EXTENSIONS, &count);
  for (GLint i = 0; i < count; ++i) {
    const auto* text = reinterpret_cast<const char*>(glGetStringi(GL_EXTENSIONS, static_cast<GLuint>(i)));
    if (text && name == text) return true;
  }
  return false;
}

void delete_buffer(Name name) { glDeleteBuffers(1, &name); }
void delete_program(Name name) { glDeleteProgram(name); }
void delete_vertex_array(Name name) { glDeleteVertexArrays(1, &name); }

Buffer make_buffer() {
  GLuint name = 0;
  glGenBuffers(1, &name);
  return Buffer(name);
}

VertexArray make_vertex_array() {
  GLuint name = 0;
  glGenVertexArrays(1, &name);
  return VertexArray(name);
}

namespace {

std::string shader_log(GLuint shader) {
  std::string log(4096, '\0');
  GLsizei length = 0;
  glGetShaderInfoLog(shader, static_cast<GLsizei>(log.size()), &length, log.data());
  log.resize(static_cast<std::size_t>(length));
  return log;
}

std::string program_log(GLuint program) {
  std::string log(4096, '\0');
  GLsizei length = 0;
  glGetProgramInfoLog(program, static_cast<GLsizei>(log.size()), &length, log.data());
  log.resize(static_cast<std::size_t>(length));
  return log;
}

void attach_stage(GLuint program, std::string_view label, const ShaderStage& stage) {
  const GLuint shader = glCreateShader(stage.type);
  const GLchar* text = stage.source.data();
  const auto length = static_cast<GLint>(stage.source.size());
  glShaderSource(shader, 1, &text, &length);
  glCompileShader(shader);
  GLint compiled = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
  if (!compiled) {
    const std::string log = shader_log(shader);
    glDeleteShader(shader);
    throw RunError("shader " + std::string(label) + ": " + log);
  }
  glAttachShader(program, shader);
  glDeleteShader(shader);  // exists until the program is deleted
}

}  // namespace

Program make_program(std::string_view label, std::span<const ShaderStage> stages,
                     std::span<const char* const> varyings) {
  Program program(glCreateProgram());
  for (const ShaderStage& stage : stages) attach_stage(program.name(), label, stage);
  if (!varyings.empty()) {
    glTransformFeedbackVaryings(program.name(), static_cast<GLsizei>(varyings.size()), varyings.data(),
                                GL_INTERLEAVED_ATTRIBS);
  }
  glLinkProgram(program.name());
  GLint linked = 0;
  glGetProgramiv(program.name(), GL_LINK_STATUS, &linked);
  if (!linked) throw RunError("shader " + std::string(label) + ": " + program_log(program.name()));
  return program;
}

#ifndef __EMSCRIPTEN__  // OpenGL ES has no GPU timers
Timer::Timer() { glGenQueries(static_cast<GLsizei>(queries_.size()), queries_.data()); }

Timer::~Timer() { glDeleteQueries(static_cast<GLsizei>(queries_.size()), queries_.data()); }

void Timer::begin() {
  // When all slots are in flight, the timer skips this frame instead of waiting.
  running_ = next_ - oldest_ < kDepth;
  if (running_) glBeginQuery(GL_TIME_ELAPSED, queries_[next_ % kDepth]);
}

void Timer::end() {
  if (!running_) return;
  glEndQuery(GL_TIME_ELAPSED);
  ++next_;
  running_ = false;
}

double Timer::latest_ms() {
  while (oldest_ != next_) {
    const GLuint query = queries_[oldest_ % kDepth];
    GLint available = 0;
    glGetQueryObjectiv(query, GL_QUERY_RESULT_AVAILABLE, &available);
    if (!available) break;
    GLuint64 nanoseconds = 0;
    glGetQueryObjectui64v(query, GL_QUERY_RESULT, &nanoseconds);
    latest_ms_ = static_cast<double>(nanoseconds) * 1e-6;
    ++oldest_;
  }
  return latest_ms_;
}
#endif

}  // namespace trocar::gl
