#include "mesh/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "geometry/error.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, const std::string& what) {
  throw InputError(file.string() + ": " + what);
}

// A file descriptor that is closed at the end of the scope.
struct Opened {
  int number;
  ~Opened() {
    if (number >= 0) ::close(number);
  }
};

std::string why_not_opened(const FileKind& kind, int error) {
  if (error == ENOENT || error == ENOTDIR)
    return std::string("there is no such file; check the path of the ") + kind.name;
  if (error == EACCES) return "cannot be read; check its permissions";
  return std::string("cannot be read (") + std::strerror(error) + "); check the name of the " + kind.name;
}

std::string in_mib(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// Returns the file to replace: the target of a symbolic link, or the path itself.
fs::path target_of(const fs::path& file) {
  if (file.empty()) throw InputError("an output file has an empty name; give it a name");
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (fs::is_directory(status)) refuse(file, "is a folder; name a file in it");
  if (fs::exists(status) && !fs::is_regular_file(status))
    refuse(file, "is a pipe or a device; only a regular file can be written");
  if (fs::exists(status) && ::access(file.c_str(), W_OK) != 0) refuse(file, "cannot be written; it is write-protected");
  if (!fs::is_symlink(file, error)) return file;
  if (!fs::exists(status)) refuse(file, "cannot be written; it is a symbolic link that leads nowhere");
  const fs::path target = fs::canonical(file, error);
  if (error) refuse(file, "cannot be written; its symbolic link leads nowhere");
  return target;
}

// Returns a new, empty file in the folder of `target`, created exclusively; an empty path when that fails.
fs::path new_file_beside(const fs::path& target) {
  static std::atomic<unsigned> count{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    fs::path beside =
        target.parent_path() / (".trocar-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".partial");
    const Opened made{::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
    if (made.number >= 0) return beside;
    if (errno != EEXIST) break;
  }
  return {};
}

}  // namespace

std::string read_whole_file(const fs::path& file, const FileKind& kind) {
  // Without O_NONBLOCK opening a pipe blocks until there is a writer.
  const Opened opened{::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)};
  if (opened.number < 0) refuse(file, why_not_opened(kind, errno));
  struct stat status {};
  if (::fstat(opened.number, &status) != 0) refuse(file, why_not_opened(kind, errno));
  if (S_ISDIR(status.st_mode)) refuse(file, std::string("this is a folder; name a ") + kind.name + " file in it");
  if (!S_ISREG(status.st_mode))
    refuse(file, std::string("is a pipe or a device; a ") + kind.name + " must be a regular file");
  const auto too_large = [&] {
    refuse(file, std::string("is larger than the ") + in_mib(kind.most_bytes) + " that a " + kind.name +
                     " may have; check that it is one");
  };
  if (static_cast<std::uint64_t>(status.st_size) > kind.most_bytes) too_large();
  // A file may grow while it is read, and some system files report size 0.
  std::string bytes(static_cast<std::size_t>(status.st_size) + 1, '\0');
  for (std::size_t filled = 0;;) {
    const ssize_t got = ::read(opened.number, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(file, why_not_opened(kind, errno));
    filled += static_cast<std::size_t>(got);
    if (filled > kind.most_bytes) too_large();
    if (got == 0) {
      bytes.resize(filled);
      return bytes;
    }
    if (filled == bytes.size()) bytes.resize(std::max<std::size_t>(2 * filled, 4096));
  }
}

WholeFile::WholeFile(const fs::path& file)
    : named_(file), target_(target_of(file)), partial_(new_file_beside(target_)) {
  if (!partial_.empty()) stream_.open(partial_, std::ios::binary | std::ios::trunc);
  if (!stream_.is_open()) {
    std::error_code ignored;
    if (!partial_.empty()) fs::remove(partial_, ignored);
    refuse(file, "cannot be written; check the folder and its permissions");
  }
}

WholeFile::~WholeFile() {
  if (committed_) return;
  stream_.close();
  std::error_code ignored;
  fs::remove(partial_, ignored);
}

void WholeFile::commit() {
  stream_.close();
  std::error_code error, none;
  // Keep the permissions of the replaced file.
  if (const fs::file_status before = fs::status(target_, none); fs::exists(before))
    fs::permissions(partial_, before.permissions(), none);
  if (stream_) fs::rename(partial_, target_, error);
  if (!stream_ || error) throw RunError(named_.string() + ": could not be written completely; is the disk full?");
  committed_ = true;
}

}  // namespace trocar
