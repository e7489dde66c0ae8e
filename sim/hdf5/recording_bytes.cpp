#include "sim/hdf5/recording_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "geometry/error.hpp"
#include "sim/hdf5/recording_lock.hpp"

namespace trocar {
namespace {

constexpr int kLockTries = 25;
constexpr auto kLockPause = std::chrono::milliseconds(10);

// Returns true when `path` still names the file of the descriptor.
bool has_name(int descriptor, const std::filesystem::path& path) {
  struct stat open_file {
  }, named{};
  return fstat(descriptor, &open_file) == 0 && stat(path.c_str(), &named) == 0 && open_file.st_dev == named.st_dev &&
         open_file.st_ino == named.st_ino;
}

std::uint64_t size_of(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

[[noreturn]] void refuse_bytes(const std::filesystem::path& path, const char* what) {
  throw InputError(fmt::format("{}: {}", path.string(), what));
}

}  // namespace

std::unique_ptr<RecordingBytes> RecordingBytes::create(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NONBLOCK, 0600);
  struct stat status {};
  if (descriptor < 0 && errno == EEXIST)
    refuse_bytes(path, "exists already and is not overwritten; choose another file name");
  if (descriptor < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    if (descriptor >= 0) ::close(descriptor);
    refuse_bytes(path, "cannot be written; check the folder and its permissions");
  }
  std::unique_ptr<RecordingBytes> bytes(new RecordingBytes(path, descriptor, true));
  if (take_recording_lock(descriptor) == LockAnswer::Busy || !has_name(descriptor, path))
    refuse_bytes(path, "another program is writing this recording; choose another file name");
  // A reader that opens the new file holds HDF5's lock only briefly.
  for (int tries = 0; !bytes->lock_for_hdf5(true); ++tries) {
    if (tries == kLockTries) refuse_bytes(path, "another program has it open; choose another file name");
    std::this_thread::sleep_for(kLockPause);
  }
  return bytes;
}

std::unique_ptr<RecordingBytes> RecordingBytes::open(const std::filesystem::path& path, bool locked) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (descriptor < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    if (descriptor >= 0) ::close(descriptor);
    refuse_bytes(path, "cannot be read; check the name of the recording");
  }
  std::unique_ptr<RecordingBytes> bytes(new RecordingBytes(path, descriptor, false));
  bytes->look_at_writer(locked);
  return bytes;
}

RecordingBytes::~RecordingBytes() { ::close(descriptor_); }

// Checks the lock before the mark, because a writer clears its mark before it releases the lock.
void RecordingBytes::look_at_writer(bool locked) {
  live_ = !locked && ask_recording_lock(descriptor_) == LockAnswer::Busy;
  std::array<std::byte, Superblock::kBytes> start{};
  if (size() < start.size() || !read(0, start)) return;
  const auto block = Superblock::read(start);
  if (!block) return;
  mark_ = block->mark();
  if (mark_ != WriterMark::None && !live_) closed_ = block->closed(size());
}

std::uint64_t RecordingBytes::size() const { return writes_ ? end_ : size_of(descriptor_); }

bool RecordingBytes::read(std::uint64_t at, std::span<std::byte> bytes) const {
  const auto wanted_at = at;
  for (auto remaining = bytes; !remaining.empty();) {
    const ssize_t count = pread(descriptor_, remaining.data(), remaining.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    remaining = remaining.subspan(static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
  if (closed_ && wanted_at < Superblock::kBytes) {
    const auto block = std::span<const std::byte>(closed_->bytes).subspan(wanted_at);
    std::copy_n(block.begin(), std::min(block.size(), bytes.size()), bytes.begin());
  }
  return true;
}

void RecordingBytes::write(std::uint64_t at, std::span<const std::byte> bytes) {
  end_ = std::max(end_, at + bytes.size());
  while (!bytes.empty() && fault_.empty()) {
    const ssize_t count = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return note_fault(count < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
}

void RecordingBytes::resize(std::uint64_t size) {
  end_ = size;
  if (!fault_.empty() || size == size_of(descriptor_)) return;
  if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) note_fault(errno);
}

void RecordingBytes::sync() {
  if (fault_.empty() && fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) note_fault(errno);
}

void RecordingBytes::note_fault(int error) { fault_ = std::strerror(error); }

bool RecordingBytes::lock_for_hdf5(bool exclusive) {
  return flock(descriptor_, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void RecordingBytes::unlock_for_hdf5() { flock(descriptor_, LOCK_UN); }

bool RecordingBytes::deleted() const {
  struct stat status {};
  return fstat(descriptor_, &status) == 0 && status.st_nlink == 0;
}

std::string RecordingBytes::fault() const {
  if (!fault_.empty()) return fmt::format("the file could not be written ({})", fault_);
  return deleted() ? "the file was deleted during the recording" : "";
}

std::filesystem::path RecordingBytes::moved_to() const {
  if (has_name(descriptor_, path_)) return {};
  std::error_code error;
  const auto now = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor_), error);
  return error ? std::filesystem::path("an unknown path") : now;
}

}  // namespace trocar
