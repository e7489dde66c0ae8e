// GPU timers, which OpenGL ES does not have.
#include <glad/gl.h>

#include "gpu_collision/gl_objects.hpp"

namespace trocar::gl {

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

}  // namespace trocar::gl
