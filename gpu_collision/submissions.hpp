// Numbers the submissions of all queries of one OpenGL context, so that one fence, one wait and one look at the
// driver's errors serve all organs of a frame: the first query that waits also waits for the others. Allocates nothing.
// Tested in tests/gpu_collision/submissions_test.cpp
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gpu_collision/gl_fault.hpp"

namespace trocar::gl {

class Submissions {
 public:
  // Call after the commands of a submission; returns its number, 1, 2, ...
  std::uint64_t add() { return ++newest_; }
  bool finished(std::uint64_t submission) const { return submission <= finished_; }
  // Adds a fence after all submissions so far unless one is there, so that a later wait() for them does not also wait
  // for what follows. Makes what they wrote visible in mapped memory.
  void mark(FaultWatch& fault);
  // Waits, kLongestWait at most, until this submission is finished, and reads the driver's errors. Returns false, and
  // raises a fault, when it does not finish or when there was an error.
  bool wait(std::uint64_t submission, FaultWatch& fault);

 private:
  struct Fence {
    void* sync = nullptr;
    std::uint64_t last = 0;  // the newest submission before it
  };
  static constexpr std::size_t kFences = 4;
  void drop_oldest();

  std::uint64_t newest_ = 0, finished_ = 0;
  // The last error came from one of these submissions, perhaps not from that of the query which read it.
  TouchFault error_ = TouchFault::None;
  std::uint64_t failed_after_ = 0, failed_ = 0;  // failed_after_ + 1 .. failed_
  std::array<Fence, kFences> fences_;            // placed and not yet awaited, oldest first; deleted with the context
  std::size_t placed_ = 0;
};

}  // namespace trocar::gl
