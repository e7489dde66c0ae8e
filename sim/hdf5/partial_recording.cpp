#include "sim/hdf5/partial_recording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "geometry/error.hpp"
#include "sim/hdf5/recording_lock.hpp"
#include "sim/hdf5/recording_target.hpp"
#include "sim/support/output_file.hpp"

namespace trocar {
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
  target.settle();
}

}  // namespace trocar
