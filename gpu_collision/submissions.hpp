// Numbers the submissions of all queries of one OpenGL context, so that one fence, one wait and one look at the
// driver's errors serve all organs of a frame: the first query that waits also waits for the others. Allocates nothing.
// Tested in tests/gpu_collision/submissions_test.cpp
#pragma once

#include <cstdint>

#include "gpu_collision/gl_fault.hpp"

namespace trocar::gl {

class Submissions {
 public:
  // Call after the commands of a submission; returns its number, 1, 2, ...
  std::uint64_t add() { return ++newest_; }
  bool finished(std::uint64_t submission) const { return submission <= finished_; }
  // Waits, kLongestWait at most, until all submissions so far are finished, unless this one already is, and reads the
  // driver's errors. What they wrote is then visible in mapped memory and to later submissions. Returns false, and
  // raises a fault, when they do not finish or when there was an error.
  bool wait(std::uint64_t submission, FaultWatch& fault);

 private:
  std::uint64_t newest_ = 0, finished_ = 0;
  // The last error came from one of these submissions, perhaps not from that of the query which read it.
  TouchFault error_ = TouchFault::None;
  std::uint64_t failed_after_ = 0, failed_ = 0;  // failed_after_ + 1 .. failed_
};

}  // namespace trocar::gl
