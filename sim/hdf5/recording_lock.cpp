#include "sim/hdf5/recording_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "geometry/error.hpp"

namespace trocar {
namespace {

// No recording has data at this offset, so the lock never conflicts with range locks of a network file system.
constexpr off_t kLockedByte = off_t{1} << 62;

struct flock one_byte() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kLockedByte;
  lock.l_len = 1;
  return lock;
}

}  // namespace

LockAnswer take_recording_lock(int descriptor) {
  struct flock lock = one_byte();
  if (fcntl(descriptor, F_OFD_SETLK, &lock) == 0) return LockAnswer::Free;
  return errno == EAGAIN || errno == EACCES ? LockAnswer::Busy : LockAnswer::Unusable;
}

LockAnswer ask_recording_lock(int descriptor) {
  struct flock lock = one_byte();
  if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return LockAnswer::Unusable;
  return lock.l_type == F_UNLCK ? LockAnswer::Free : LockAnswer::Busy;
}

RecordingLock::RecordingLock(const std::filesystem::path& file)
    : descriptor_(open(file.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)) {
  const auto refuse = [&](const std::string& what) {
    if (descriptor_ >= 0) close(descriptor_);
    throw InputError(fmt::format("{}: {}", file.string(), what));
  };
  if (descriptor_ < 0)
    refuse(fmt::format("cannot be opened ({}); check its name and permissions", std::strerror(errno)));
  switch (take_recording_lock(descriptor_)) {
    case LockAnswer::Free:
      break;
    case LockAnswer::Busy:
      refuse("another program is writing this recording; end that session first");
      break;
    case LockAnswer::Unusable:
      refuse("this file system has no locks, so a session may still be writing the file; copy it to a local disk");
  }
  // A program that writes the file with its own HDF5 library holds HDF5's lock.
  if (flock(descriptor_, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    refuse("another program has it open for writing; close it there first");
}

RecordingLock::~RecordingLock() { close(descriptor_); }

}  // namespace trocar
