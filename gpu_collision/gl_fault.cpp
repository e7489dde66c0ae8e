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

namespace {

// Polls first, because a blocking wait can put the thread to sleep for longer than the GPU needs.
GLenum wait_for(GLsync sync) {
  constexpr int kPolls = 1000;  // a few hundred microseconds
  GLenum state = glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, 0);
  for (int i = 0; i < kPolls && state == GL_TIMEOUT_EXPIRED; ++i) state = glClientWaitSync(sync, 0, 0);
  if (state != GL_TIMEOUT_EXPIRED) return state;
  return glClientWaitSync(sync, 0, static_cast<GLuint64>(std::chrono::nanoseconds(kLongestWait).count()));
}

// Returns None when all commands so far are finished.
TouchFault finish_commands() {
  glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT | GL_SHADER_STORAGE_BARRIER_BIT);
  const GLsync sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  if (sync == nullptr) return TouchFault::DriverError;
  const GLenum state = wait_for(sync);
  glDeleteSync(sync);
  if (state == GL_ALREADY_SIGNALED || state == GL_CONDITION_SATISFIED) return TouchFault::None;
  return state == GL_TIMEOUT_EXPIRED ? TouchFault::TimedOut : TouchFault::DriverError;
}

}  // namespace

bool Submissions::wait(std::uint64_t submission, FaultWatch& fault) {
  if (fault.any()) return false;
  if (submission > failed_after_ && submission <= failed_) fault.raise(error_);
  if (finished(submission)) return !fault.any();
  if (const TouchFault failure = finish_commands(); failure != TouchFault::None) {
    fault.raise(failure);
    return false;
  }
  const std::uint64_t finished_before = finished_;
  finished_ = newest_;
  if (fault.check()) return true;
  error_ = fault.fault();
  failed_after_ = finished_before;
  failed_ = finished_;
  return false;
}

}  // namespace trocar::gl
