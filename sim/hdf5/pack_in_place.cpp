#include "sim/hdf5/pack_in_place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "geometry/error.hpp"
#include "sim/hdf5/partial_recording.hpp"
#include "sim/hdf5/recording_lock.hpp"
#include "sim/support/disk_space.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPackingStart = ".trocar-packing-";

// Which file has a name: the same answer before and after says that no program replaced or changed it.
struct FileState {
  struct stat status {};

  static std::optional<FileState> of(const fs::path& file) {
    FileState state;
    if (::stat(file.c_str(), &state.status) != 0 || !S_ISREG(state.status.st_mode)) return {};
    return state;
  }
  bool operator==(const FileState& other) const {
    return status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino &&
           status.st_size == other.status.st_size && status.st_mtim.tv_sec == other.status.st_mtim.tv_sec &&
           status.st_mtim.tv_nsec == other.status.st_mtim.tv_nsec;
  }
};

[[noreturn]] void refuse(const fs::path& file, const std::string& what) {
  throw InputError(fmt::format("{}: {}", file.string(), what));
}

// The packed copy takes a third of this, so that a session that is being recorded keeps two thirds.
void require_room(const fs::path& file, std::uint64_t bytes) {
  const auto free = free_space(file);
  if (free && *free < bytes)
    throw RunError(fmt::format("{}: is not packed, because {} are free and packing needs {}; remove other files",
                               file.string(), bytes_text(*free), bytes_text(bytes)));
}

// The packed copy beside the recording, until it takes its name.
class PackedCopy {
 public:
  PackedCopy(fs::path recording, const FileState& full)
      : recording_(std::move(recording)), copy_(packing_file(recording_)), full_(full) {
    remove_killed_copy(copy_);
    to_.emplace(H5File::create(copy_));
    keeps_ = false;
    ::chmod(copy_.c_str(), full_.status.st_mode & 0600);
  }
  ~PackedCopy() {
    std::error_code ignored;
    if (!keeps_) fs::remove(copy_, ignored);
  }
  PackedCopy(const PackedCopy&) = delete;
  PackedCopy& operator=(const PackedCopy&) = delete;

  // Writes the copy to the disk and compares it with the recording.
  void write(const Recording& recording, const GoOn& go_on) {
    try {
      write_packed(recording, H5File::open(recording_), *to_, go_on);
      to_->close();
    } catch (const RunError& error) {
      throw RunError(fmt::format("{}: is not packed: {}", recording_.string(),
                                 to_->fault().empty() ? error.what() : to_->fault()));
    }
    if (const std::string what = difference_of_packed(recording_, copy_, go_on); !what.empty())
      refuse(recording_, fmt::format("is not packed, because the packed form would not keep {}", what));
  }

  // Gives the copy the recording's name; the full recording goes when that is on the disk.
  void take_name() {
    const struct stat& full = full_.status;
    const bool same_owner = ::lchown(copy_.c_str(), full.st_uid, full.st_gid) == 0;
    ::chmod(copy_.c_str(), same_owner ? full.st_mode & 07777 : full.st_mode & 0700);
    const timespec times[] = {full.st_atim, full.st_mtim};
    ::utimensat(AT_FDCWD, copy_.c_str(), times, 0);
    if (::renameat2(AT_FDCWD, copy_.c_str(), AT_FDCWD, recording_.c_str(), RENAME_EXCHANGE) != 0)
      return take_name_without_exchange(errno);
    if (!was_full()) {
      // Another program has replaced the recording since: its file gets the name back.
      keeps_ = true;
      if (::renameat2(AT_FDCWD, copy_.c_str(), AT_FDCWD, recording_.c_str(), RENAME_EXCHANGE) != 0)
        throw RunError(
            fmt::format("{}: was replaced while it was packed, and is now {}", recording_.string(), copy_.string()));
      keeps_ = false;
      refuse(recording_, "was changed while it was packed, so it is left as it is");
    }
    sync_folder_of(recording_);
  }

 private:
  // Returns whether the file that lost the name is the recording that was packed, and no program writes it.
  bool was_full() const {
    const int descriptor = ::open(copy_.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    const bool busy = descriptor >= 0 && ask_recording_lock(descriptor) == LockAnswer::Busy;
    if (descriptor >= 0) ::close(descriptor);
    return !busy && FileState::of(copy_) == full_;
  }

  // For file systems that cannot exchange names.
  void take_name_without_exchange(int error) {
    if (error == ENOENT) refuse(recording_, "was removed while it was packed");
    const RecordingLock lock(recording_);
    if (FileState::of(recording_) != full_)
      refuse(recording_, "was changed while it was packed, so it is left as it is");
    if (::rename(copy_.c_str(), recording_.c_str()) != 0)
      throw RunError(fmt::format("{}: is not packed: {}", recording_.string(), std::strerror(errno)));
    keeps_ = true;  // nothing has this name any more
    sync_folder_of(recording_);
  }

  fs::path recording_, copy_;
  FileState full_;
  std::optional<H5File> to_;
  bool keeps_ = true;
};

// Returns the recording to which a file of packing belongs; empty for other files.
fs::path recording_of(const fs::path& file) {
  const std::string name = file.filename().string();
  if (!name.starts_with(kPackingStart)) return {};
  return file.parent_path() / name.substr(kPackingStart.size());
}

// A full recording beside its packed form lost its name just before the kill. Any other file was never finished.
bool is_only_copy(const fs::path& leftover, const fs::path& recording, const GoOn& go_on) {
  std::error_code none;
  try {
    const Recording left(leftover);
    if (left.form() != RecordingForm::Full || !left.clean() || !fs::exists(recording, none)) return false;
    return !difference_of_packed(leftover, recording, go_on).empty();
  } catch (const InputError&) {
    return false;  // without a complete frame, or cut short
  }
}

void remove_leftover(const fs::path& leftover, const fs::path& recording, const GoOn& go_on) {
  try {
    if (!is_only_copy(leftover, recording, go_on)) remove_killed_copy(leftover);
  } catch (const InputError&) {
    // A program is packing the recording.
  }
}

bool is_attempt_to_pack(const fs::path& file) {
  try {
    const H5File there = H5File::open(file);
    return there.clean() && !there.live() && there.text("activity") == name_of(Activity::Attempt) &&
           there.text(kFormAttribute).empty() && there.text("format").starts_with(kAnyFormat);
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace

fs::path packing_file(const fs::path& recording) {
  return recording.parent_path() / (std::string(kPackingStart) + recording.filename().string());
}

PackedSize pack_in_place(const fs::path& given, const GoOn& go_on) {
  std::error_code none;
  const fs::path file = fs::is_symlink(given, none) ? fs::canonical(given, none) : given;
  const auto before = FileState::of(file);
  if (!before) refuse(given, "cannot be read; check the name of the recording");
  const Recording recording(file);
  require_finished(recording, file, RecordingForm::Full);
  if (before->status.st_uid != ::geteuid() && ::geteuid() != 0)
    refuse(file, "belongs to another user, who alone packs it");
  const auto full = static_cast<std::uint64_t>(before->status.st_size);
  require_room(file, full);
  PackedCopy copy(file, *before);
  copy.write(recording, go_on);
  copy.take_name();
  return {full, fs::file_size(file)};
}

std::vector<fs::path> attempts_to_pack(const fs::path& folder) {
  std::vector<std::pair<std::uintmax_t, fs::path>> found;
  std::error_code error, none;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& file = entry->path();
    if (file.extension() != ".h5" || !fs::is_regular_file(entry->symlink_status(none))) continue;
    if (is_attempt_to_pack(file)) found.emplace_back(fs::file_size(file, none), file);
  }
  std::ranges::sort(found);
  std::vector<fs::path> files;
  for (auto& [bytes, file] : found) files.push_back(std::move(file));
  return files;
}

void remove_pack_leftovers(const fs::path& folder, const GoOn& go_on) {
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (!recording_of(entry->path()).empty()) leftovers.push_back(entry->path());
  for (const fs::path& file : leftovers) remove_leftover(file, recording_of(file), go_on);
}

}  // namespace trocar
