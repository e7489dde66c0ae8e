#include "app/sweep/scratch_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "geometry/error.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScratchName = "trocar-sweep-";
constexpr const char* kScratchLock = "lock";
constexpr const char* kScratchGone = ".gone";  // end of the name of a folder that is being removed

// Returns whether a folder is being removed, or has a lock file that no process holds. A folder of another user cannot
// be locked.
bool is_abandoned(const fs::path& folder) {
  if (folder.extension() == kScratchGone) return true;
  const int lock = ::open((folder / kScratchLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (lock < 0) return false;
  const bool free = ::flock(lock, LOCK_EX | LOCK_NB) == 0;
  ::close(lock);
  return free;
}

// The new name says that the folder can be removed, whatever a kill leaves of it.
void remove_scratch(const fs::path& folder) {
  std::error_code error, none;
  fs::path gone = folder;
  if (folder.extension() != kScratchGone) gone += kScratchGone;
  if (gone != folder) fs::rename(folder, gone, error);
  fs::remove_all(error ? folder : gone, none);
}

void remove_abandoned(const fs::path& where) {
  std::error_code error, none;
  for (fs::directory_iterator entry(where, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with(kScratchName) && entry->is_directory(none) &&
        !entry->is_symlink(none) && is_abandoned(entry->path()))
      remove_scratch(entry->path());
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const fs::path where = fs::temp_directory_path(error);
  remove_abandoned(where);
  std::string name = (where / (std::string(kScratchName) + "XXXXXX")).string();
  if (error || !::mkdtemp(name.data()))
    throw InputError(
        fmt::format("{}: no temporary folder can be created there; set TMPDIR to a folder that can be "
                    "written",
                    where.string()));
  path_ = name;
  // It gets its name when it is locked, so that no other sweep finds it free.
  const fs::path unnamed = path_ / "new";
  lock_ = ::open(unnamed.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) == 0) fs::rename(unnamed, path_ / kScratchLock, error);
}

ScratchFolder::~ScratchFolder() {
  remove_scratch(path_);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace trocar
