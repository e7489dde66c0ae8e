// Describes a touch query that failed during a session: which backend, in which frame, why, and what the session does
// next. Tested in tests/sim/backend_fault_test.cpp
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "geometry/touch.hpp"

namespace trocar {

struct BackendFault {
  std::size_t frame = 0;  // the first frame that the backend did not answer
  std::string backend;
  TouchFault fault = TouchFault::None;
  bool check = false;  // true: the backend only checked answers, and stops. false: scan answers from this frame on
};

// Returns a sentence such as "frame 120: backend compute: the graphics driver lost its OpenGL context; scan answers
// from this frame on"
std::string sentence_of(const BackendFault& fault);

// Prints each fault once on standard error. Keep one object for each session.
class FaultTeller {
 public:
  void tell(const std::vector<BackendFault>& faults);

 private:
  std::size_t told_ = 0;
};

}  // namespace trocar
