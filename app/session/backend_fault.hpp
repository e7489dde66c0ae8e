// A touch query that failed in mid-session: which, when, why, and what follows. Tested in
// tests/app/backend_fault_test.cpp
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "geometry/touch_fault.hpp"

namespace trocar {

struct BackendFault {
  std::size_t frame = 0;  // the first that the backend did not answer
  std::string backend;
  TouchFault fault = TouchFault::None;
  bool check = false;  // it only checked: it stops. Otherwise scan answers from this frame on
};

// "frame 120: backend compute: the graphics driver lost its OpenGL context; scan answers from this frame on"
std::string sentence_of(const BackendFault& fault);

// Says each fault once on standard error. Keep one for each session.
class FaultTeller {
 public:
  void tell(const std::vector<BackendFault>& faults);

 private:
  std::size_t told_ = 0;
};

}  // namespace trocar
