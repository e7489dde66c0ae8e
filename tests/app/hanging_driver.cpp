// An OpenGL driver that hangs while it is loaded, for the test of `trocar doctor`.
#include <unistd.h>

namespace {
__attribute__((constructor)) void hang() {
  for (;;) pause();
}
}  // namespace
