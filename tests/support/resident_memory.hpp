// Measures the resident memory of this process, for tests that run many frames and expect it not to grow.
#pragma once

#include <unistd.h>

#include <fstream>

#include "tests/support/sanitized.hpp"

namespace trocar {

// KiB. Always 0 with the address or thread sanitizer, which keeps freed memory and shadow memory resident: growth says
// nothing there, and the leak detector looks for leaks.
inline long resident_kib() {
  if (kSanitized) return 0;
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace trocar
