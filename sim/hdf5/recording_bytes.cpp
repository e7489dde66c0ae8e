#include "sim/hdf5/recording_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "geometry/error.hpp"

namespace trocar {
namespace {

// Offsets in the superblock, bytes.
constexpr std::size_t kVersion = 8, kSizeOfOffsets = 9, kFlags = 11, kBaseAddress = 12, kEndOfFile = 28, kChecksum = 44;
constexpr unsigned kWriting = 1, kSwmrWriting = 4;  // of kFlags

constexpr unsigned char kSignature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

template <typename T>
T get(std::span<const std::byte> bytes, std::size_t at) {
  T value = 0;
  for (std::size_t k = 0; k < sizeof(T); ++k)
    value |= static_cast<T>(static_cast<T>(std::to_integer<unsigned>(bytes[at + k])) << (8 * k));
  return value;
}

template <typename T>
void put(std::span<std::byte> bytes, std::size_t at, T value) {
  for (std::size_t k = 0; k < sizeof(T); ++k) bytes[at + k] = static_cast<std::byte>((value >> (8 * k)) & 0xff);
}

struct Hash {
  std::uint32_t a, b, c;

  void mix() {
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }

  void finish() {
    c ^= b, c -= std::rotl(b, 14);
    a ^= c, a -= std::rotl(c, 11);
    b ^= a, b -= std::rotl(a, 25);
    c ^= b, c -= std::rotl(b, 16);
    a ^= c, a -= std::rotl(c, 4);
    b ^= a, b -= std::rotl(a, 14);
    c ^= b, c -= std::rotl(b, 24);
  }

  void add(std::span<const std::byte> block) {
    std::array<std::byte, 12> whole{};
    std::copy(block.begin(), block.end(), whole.begin());
    a += get<std::uint32_t>(whole, 0);
    b += get<std::uint32_t>(whole, 4);
    c += get<std::uint32_t>(whole, 8);
  }
};

}  // namespace

bool lacks_checksums(std::span<const std::byte> start) {
  return std::memcmp(start.data(), kSignature, sizeof kSignature) == 0 && get<std::uint8_t>(start, kVersion) < 2;
}

std::uint32_t lookup3(std::span<const std::byte> bytes) {
  const std::uint32_t start = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size());
  Hash hash{start, start, start};
  if (bytes.empty()) return hash.c;
  for (; bytes.size() > 12; bytes = bytes.subspan(12)) {
    hash.add(bytes.first(12));
    hash.mix();
  }
  hash.add(bytes);
  hash.finish();
  return hash.c;
}

std::optional<Superblock> Superblock::read(std::span<const std::byte> start) {
  if (start.size() < kBytes || std::memcmp(start.data(), kSignature, sizeof kSignature) != 0) return {};
  Superblock block;
  std::copy_n(start.begin(), kBytes, block.bytes.begin());
  const auto version = std::to_integer<unsigned>(block.bytes[kVersion]);
  const bool known = (version == 2 || version == 3) && std::to_integer<unsigned>(block.bytes[kSizeOfOffsets]) == 8 &&
                     get<std::uint64_t>(block.bytes, kBaseAddress) == 0;
  if (!known || get<std::uint32_t>(block.bytes, kChecksum) != lookup3(std::span(block.bytes).first(kChecksum)))
    return {};
  return block;
}

WriterMark Superblock::mark() const {
  const auto flags = std::to_integer<unsigned>(bytes[kFlags]);
  if (flags & kSwmrWriting) return WriterMark::Appending;
  return flags & kWriting ? WriterMark::Starting : WriterMark::None;
}

Superblock Superblock::closed(std::uint64_t size) const {
  Superblock block = *this;
  block.bytes[kFlags] = std::byte{0};
  put(block.bytes, kEndOfFile, size);
  put(block.bytes, kChecksum, lookup3(std::span<const std::byte>(block.bytes).first(kChecksum)));
  return block;
}

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
