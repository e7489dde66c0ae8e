#include "mesh/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

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
fs::path new_file_beside(const fs::path& target, FileReaders readers) {
  const mode_t mode = readers == FileReaders::Owner ? 0600 : 0666;
  static std::atomic<unsigned> count{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    fs::path beside =
        target.parent_path() / (".trocar-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".partial");
    const Opened made{::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)};
    if (made.number >= 0) return beside;
    if (errno != EEXIST) break;
  }
  return {};
}

// Writes the content of a file to the disk. Returns false when the disk refuses it.
bool sync_file(const fs::path& file) {
  const Opened opened{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  return opened.number >= 0 && ::fsync(opened.number) == 0;
}

// Writes a renamed entry to the disk, so that it survives a loss of power. Some file systems cannot do so.
void sync_folder_of(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const Opened opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (opened.number >= 0) ::fsync(opened.number);
}

// Gives a file another name that must not exist. Returns 0 or the number of the error.
int rename_to_new(const fs::path& from, const fs::path& to) {
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return 0;
  }
  if (errno == EEXIST) return EEXIST;
  // A file system without links.
  std::error_code none;
  if (fs::exists(fs::symlink_status(to, none))) return EEXIST;
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
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

WholeFile::WholeFile(const fs::path& file, FileReaders readers)
    : named_(file), target_(target_of(file)), partial_(new_file_beside(target_, readers)), readers_(readers) {
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
  if (const fs::file_status before = fs::status(target_, none);
      readers_ == FileReaders::Everybody && fs::exists(before))
    fs::permissions(partial_, before.permissions(), none);
  const bool written = stream_ && sync_file(partial_);
  if (written) fs::rename(partial_, target_, error);
  if (!written || error) throw RunError(named_.string() + ": could not be written completely; is the disk full?");
  committed_ = true;
  sync_folder_of(target_);
}

NewFile::NewFile(const fs::path& file) : target_(file), partial_(new_file_beside(file, FileReaders::Owner)) {
  if (partial_.empty()) refuse(file, "cannot be written; check the folder and its permissions");
}

NewFile::~NewFile() {
  std::error_code ignored;
  if (!partial_.empty()) fs::remove(partial_, ignored);
}

bool NewFile::commit() {
  if (!sync_file(partial_)) throw RunError(target_.string() + ": could not be written completely; is the disk full?");
  const int error = rename_to_new(partial_, target_);
  if (error == EEXIST) return false;
  if (error != 0) throw RunError(target_.string() + ": could not be renamed to this name: " + std::strerror(error));
  partial_.clear();
  sync_folder_of(target_);
  return true;
}

void make_private_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), error);
  if (!error && ::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) error = {errno, std::generic_category()};
  struct stat status {};
  if (!error && ::stat(folder.c_str(), &status) != 0) error = {errno, std::generic_category()};
  if (!error && !S_ISDIR(status.st_mode)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw RunError(folder.string() + ": the folder cannot be made: " + error.message());
  if (status.st_uid == ::geteuid() && (status.st_mode & 0777) != S_IRWXU) ::chmod(folder.c_str(), S_IRWXU);
}

}  // namespace trocar
