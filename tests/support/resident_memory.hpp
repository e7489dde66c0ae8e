// Measures the resident memory of this process, for tests that run many frames and expect it not to grow.
#pragma once

#include <unistd.h>

#include <fstream>

namespace trocar {

// Whether this test program was built with the address or thread sanitizer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

// KiB. Always 0 with the address or thread sanitizer, which keeps freed memory and shadow memory resident: growth says
// nothing there, and the leak detector looks for leaks.
inline long resident_kib() {
  if (kSanitized) return 0;
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace trocar
