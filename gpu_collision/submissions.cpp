#include "gpu_collision/submissions.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <chrono>

namespace trocar::gl {
namespace {

// Polls first, because a blocking wait can put the thread to sleep for longer than the GPU needs.
GLenum wait_for(GLsync sync) {
  constexpr int kPolls = 1000;  // a few hundred microseconds
  GLenum state = glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, 0);
  for (int i = 0; i < kPolls && state == GL_TIMEOUT_EXPIRED; ++i) state = glClientWaitSync(sync, 0, 0);
  if (state != GL_TIMEOUT_EXPIRED) return state;
  return glClientWaitSync(sync, 0, static_cast<GLuint64>(std::chrono::nanoseconds(kLongestWait).count()));
}

}  // namespace

void Submissions::drop_oldest() {
  glDeleteSync(static_cast<GLsync>(fences_[0].sync));
  std::copy(fences_.begin() + 1, fences_.end(), fences_.begin());
  --placed_;
}

void Submissions::mark(FaultWatch& fault) {
  if (finished(newest_) || (placed_ > 0 && fences_[placed_ - 1].last == newest_)) return;
  if (placed_ == kFences) drop_oldest();
  glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
  void* sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  if (sync == nullptr) return fault.raise(TouchFault::DriverError);
  fences_[placed_++] = {sync, newest_};
}

bool Submissions::wait(std::uint64_t submission, FaultWatch& fault) {
  if (fault.any()) return false;
  if (submission > failed_after_ && submission <= failed_) fault.raise(error_);
  if (finished(submission)) return !fault.any();
  const auto covers = [&](const Fence& fence) { return fence.sync != nullptr && fence.last >= submission; };
  if (placed_ == 0 || !covers(fences_[placed_ - 1])) mark(fault);
  if (fault.any()) return false;
  const Fence& fence = *std::find_if(fences_.begin(), fences_.begin() + static_cast<std::ptrdiff_t>(placed_), covers);
  const GLenum state = wait_for(static_cast<GLsync>(fence.sync));
  if (state != GL_ALREADY_SIGNALED && state != GL_CONDITION_SATISFIED) {
    fault.raise(state == GL_TIMEOUT_EXPIRED ? TouchFault::TimedOut : TouchFault::DriverError);
    return false;
  }
  const std::uint64_t finished_before = finished_;
  finished_ = fence.last;
  while (placed_ > 0 && fences_[0].last <= finished_) drop_oldest();
  if (fault.check()) return true;
  error_ = fault.fault();
  failed_after_ = finished_before;
  failed_ = finished_;
  return false;
}

}  // namespace trocar::gl
