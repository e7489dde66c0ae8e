// Collects the driver faults of one query object: errors, a lost context, a failed fence, a failed allocation; and
// numbers the submissions of all queries of a context, for which they wait together. Nothing here throws or allocates.
// Tested in tests/gpu_collision/query_test.cpp
#pragma once

#include <chrono>
#include <cstdint>

#include "geometry/touch.hpp"
#include "gpu_collision/gl_context.hpp"

namespace trocar::gl {

// A driver resets a hanging GPU after two to ten seconds; a later answer is useless.
constexpr std::chrono::seconds kLongestWait{5};

class FaultWatch {
 public:
  // `context` must outlive it and be current at every call.
  explicit FaultWatch(GlContext& context) : context_(context) {}

  // Call this before our commands: in a shared context it discards the errors that other code left. Returns true if no
  // fault is known.
  bool begin();
  // Call this after our commands: it reads the driver's errors. Returns true if no fault is known.
  bool check();
  // Call this after commands whose errors the next check() of this object can still read: it does so now only in a
  // shared context, where other code could read them first.
  void end() {
    if (context_.shared()) check();
  }
  void raise(TouchFault fault) {  // only the first counts
    if (fault_ == TouchFault::None) fault_ = fault;
  }
  bool any() const { return fault_ != TouchFault::None; }  // a fault is known
  TouchFault fault() const { return fault_; }              // the first one

 private:
  GlContext& context_;
  TouchFault fault_ = TouchFault::None;
};

// Numbers the submissions of all queries of one OpenGL context, so that one fence, one wait and one look at the
// driver's errors serve all organs of a frame: the first query that waits also waits for the others. Allocates nothing.
class Submissions {
 public:
  // Call after the commands of a submission; returns its number, 1, 2, ...
  std::uint64_t add() { return ++newest_; }
  bool finished(std::uint64_t submission) const { return submission <= finished_; }  // as known from the last wait()
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
