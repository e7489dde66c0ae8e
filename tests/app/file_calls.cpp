// A library that is loaded before all others (LD_PRELOAD): it notes the calls that write files to the disk and name
// them, or stands for a file system without locks.
//   TROCAR_TEST_CALLS=FILE               one line for each call: "fsync PATH", "rename FROM TO", "link FROM TO"
//   TROCAR_TEST_LOCK_ERROR=ENOLCK|EOPNOTSUPP   the error of every lock
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void note(const std::string& line) {
  const char* file = std::getenv("TROCAR_TEST_CALLS");
  if (!file) return;
  const int descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0) return;
  if (write(descriptor, line.data(), line.size()) < 0) std::perror(file);
  close(descriptor);
}

std::string path_of(int descriptor) {
  char path[4096];
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "?";
}

// Returns 0 where locks are allowed.
int lock_error() {
  const char* error = std::getenv("TROCAR_TEST_LOCK_ERROR");
  if (!error) return 0;
  return std::strcmp(error, "ENOLCK") == 0 ? ENOLCK : EOPNOTSUPP;
}

int control(const char* name, int descriptor, int command, void* argument) {
  const bool locks = command == F_SETLK || command == F_SETLKW || command == F_GETLK || command == F_OFD_SETLK;
  if (const int error = locks ? lock_error() : 0) {
    errno = error;
    return -1;
  }
  return real<int(int, int, ...)>(name)(descriptor, command, argument);
}

}  // namespace

extern "C" {

int fsync(int descriptor) {
  note("fsync " + path_of(descriptor) + "\n");
  return real<int(int)>("fsync")(descriptor);
}

int rename(const char* from, const char* to) noexcept {
  note(std::string("rename ") + from + " " + to + "\n");
  return real<int(const char*, const char*)>("rename")(from, to);
}

int link(const char* from, const char* to) noexcept {
  note(std::string("link ") + from + " " + to + "\n");
  return real<int(const char*, const char*)>("link")(from, to);
}

int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return control("fcntl", descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return control("fcntl64", descriptor, command, argument);
}
}
