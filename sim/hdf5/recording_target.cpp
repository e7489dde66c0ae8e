#include "sim/hdf5/recording_target.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <span>

#include "geometry/error.hpp"
#include "sim/hdf5/h5_file.hpp"
#include "sim/hdf5/recording_bytes.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/support/files.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_target(const fs::path& file, const char* what) {
  throw InputError(fmt::format("{}: {}", file.string(), what));
}

// Every recording has checksums, so another program wrote a file without them.
bool was_written_by_another_program(const fs::path& file) {
  std::array<char, 9> start{};
  std::ifstream(file, std::ios::binary).read(start.data(), start.size());
  return lacks_checksums(std::as_bytes(std::span(start)));
}

// Refuses an existing, non-empty file that is not a finished recording.
void refuse_unless_finished_recording(const fs::path& file, const RecordingLock* lock = nullptr) {
  if (fs::file_size(file) == 0) return;
  if (!is_hdf5(file))
    refuse_target(file, "exists and is not a recording, so it is not overwritten; choose another file name");
  constexpr const char* kForeign =
      "is an HDF5 file but not a recording, so it is not overwritten; choose another file name";
  if (was_written_by_another_program(file)) refuse_target(file, kForeign);
  try {
    const H5File there = H5File::open(file, lock);
    if (there.live()) refuse_target(file, "another program is writing this recording; choose another file name");
    if (!there.text("format").starts_with(kAnyFormat)) refuse_target(file, kForeign);
    if (!there.clean())
      refuse_target(
          file,
          "is a recording whose program was killed, so it is not overwritten; run trocar file recover on it, or choose "
          "another file name");
  } catch (const RunError&) {
    refuse_target(file, "exists and cannot be read as a recording, so it is not overwritten; choose another file name");
  }
}

}  // namespace

RecordingTarget::RecordingTarget(const fs::path& file) : file_(file) {
  if (file.empty()) throw InputError("the recording has an empty name; give a file name");
  std::error_code none;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, none) || ::access(folder.c_str(), W_OK) != 0)
    refuse_target(file, "cannot be written; check the folder and its permissions");
  const fs::file_status status = fs::status(file, none);
  if (!fs::exists(status)) {
    if (fs::is_symlink(file, none)) refuse_target(file, "cannot be written; it is a symbolic link to a missing file");
    return;
  }
  if (!fs::is_regular_file(status)) refuse_target(file, "cannot be written; it is a folder, a pipe or a device");
  if (::access(file.c_str(), W_OK) != 0) refuse_target(file, "cannot be written; it is write-protected");
  refuse_unless_finished_recording(file);
  file_ = fs::canonical(file);
  aside_ = file_.parent_path() / fmt::format(".trocar-{}-{}.replaced", ::getpid(), file_.filename().string());
}

RecordingTarget::~RecordingTarget() {
  if (!moved_) return;
  // Unlike a rename, a hard link does not replace a file that another program has created in the meantime.
  std::error_code error;
  fs::create_hard_link(aside_, file_, error);
  if (!error)
    fs::remove(aside_, error);
  else if (!fs::exists(file_, error))  // a file system without hard links
    fs::rename(aside_, file_, error);
}

void RecordingTarget::make_free() {
  if (aside_.empty()) return;
  // While the lock is held, no other program starts to write the file.
  const RecordingLock lock(file_);
  refuse_unless_finished_recording(file_, &lock);
  std::error_code error;
  fs::rename(file_, aside_, error);
  if (error) throw RunError(fmt::format("{}: could not be replaced; choose another file name", file_.string()));
  moved_ = true;
}

void RecordingTarget::commit() {
  std::error_code ignored;
  if (moved_) fs::remove(aside_, ignored);
  moved_ = false;
}

namespace {

std::filesystem::path partial_name(std::filesystem::path path) { return path += ".partial"; }

// Removes the partial file of a killed program and returns its name.
const std::filesystem::path& without_killed_copy(const std::filesystem::path& partial) {
  remove_killed_copy(partial);
  return partial;
}

}  // namespace

void remove_killed_copy(const std::filesystem::path& partial) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(partial, none))) return;
  const RecordingLock lock(partial);
  if (std::filesystem::file_size(partial, none) == 0 || is_hdf5(partial)) std::filesystem::remove(partial, none);
}

void sync_folder_of(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

PartialRecording::PartialRecording(const std::filesystem::path& file)
    : path_(file), partial_(partial_name(file)), to_(H5File::create(without_killed_copy(partial_))) {}

PartialRecording::~PartialRecording() {
  std::error_code ignored;
  if (!finished_) std::filesystem::remove(partial_, ignored);
}

void PartialRecording::finish() {
  to_.close();
  std::error_code error;
  if (std::filesystem::exists(path_, error))
    std::filesystem::permissions(partial_, std::filesystem::status(path_).permissions(), error);
  std::filesystem::rename(partial_, path_, error);
  if (error) throw RunError(fmt::format("{}: the complete copy could not be renamed to this name", path_.string()));
  sync_folder_of(path_);
  finished_ = true;
}

void write_whole_recording(const std::filesystem::path& file, const std::function<void(H5File&)>& write) {
  RecordingTarget target(file);
  PartialRecording partial(target.file());
  try {
    write(partial.file());
    target.make_free();
    partial.finish();
  } catch (const std::exception&) {
    const std::string what = partial.file().fault();
    if (what.empty()) throw;
    throw RunError(fmt::format("{}: {}", file.string(), what));
  }
  target.commit();
}

}  // namespace trocar
