// trocar file recover: copies the complete frames of a recording that a killed process left behind into a plain file.
// Interface: recording.hpp.   Tested in tests/sim/recording_faults_test.cpp
#include <fmt/format.h>

#include "geometry/error.hpp"
#include "sim/hdf5/partial_recording.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_copy.hpp"
#include "sim/hdf5/recording_lock.hpp"

namespace trocar {

RecoverResult recover_recording(const std::filesystem::path& given) {
  // Recovers the target of a symbolic link and keeps the link.
  std::error_code none;
  const auto path = std::filesystem::is_symlink(given, none) ? std::filesystem::canonical(given, none) : given;
  RecoverResult result;
  const RecordingLock lock(path);
  const Recording damaged(path, &lock, FormsRead::All);
  result.was_clean = damaged.clean();
  result.frames = damaged.frame_count();
  result.seconds = damaged.times().back();
  if (result.was_clean) return result;
  PartialRecording to(path);
  try {
    result.touches = copy_recording(damaged, H5File::open(path, &lock), to.file(), RecordingForm::Full);
    to.finish();
  } catch (const std::exception& error) {
    const std::string what = to.file().fault().empty() ? error.what() : to.file().fault();
    throw RunError(fmt::format("{}: writing the recovered copy {} failed: {}; the recording is unchanged",
                               path.string(), to.path().filename().string(), what));
  }
  return result;
}

}  // namespace trocar
