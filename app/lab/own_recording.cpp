#include "app/lab/own_recording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "app/lab/lab_date.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/hdf5/h5_file.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/support/process.hpp"
#include "sim/support/text.hpp"

namespace trocar {
namespace {

constexpr std::array<unsigned char, 8> kHdf5{0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};

std::string reason(int error) {
  if (error == ENOENT || error == ENOTDIR) return "is not there; mount its disk or bring it back";
  if (error == EACCES || error == EPERM) return "cannot be read; check its permissions";
  return fmt::format("cannot be read ({})", std::strerror(error));
}

// Whether the path names a regular file that begins as an HDF5 file does.
void look_at_file(OwnRecording& found) {
  const auto is = [&](Claimed answer, std::string why) { found.answer = answer, found.why = std::move(why); };
  struct stat status {};
  if (::lstat(found.file.c_str(), &status) != 0) return is(Claimed::Away, reason(errno));
  if (S_ISLNK(status.st_mode)) return is(Claimed::Foreign, "is a symbolic link, not a recording");
  if (!S_ISREG(status.st_mode)) return is(Claimed::Foreign, "is a folder, a pipe or a device, not a recording");
  const int descriptor = ::open(found.file.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return is(Claimed::Away, reason(errno));
  std::array<unsigned char, kHdf5.size()> start{};
  const ssize_t got = ::read(descriptor, start.data(), start.size());
  const int error = errno;
  ::close(descriptor);
  if (got < 0) return is(Claimed::Away, reason(error));
  if (got == 0) return is(Claimed::Foreign, "is empty");
  if (start != kHdf5) return is(Claimed::Foreign, "is not a recording");
  is(Claimed::Ours, "");
}

// Without a recorded key the moment of the beginning says which attempt of the person it is, and without a recorded
// person the key says whose.
std::string difference(const H5File& file, const RecordingClaim& claim) {
  const std::string person = file.text("person"), key = file.text(kAttemptKeyAttribute);
  const bool same_key = !key.empty() && key == claim.key;
  if (person != claim.person && !(person.empty() && same_key))
    return person.empty() ? "names no person"
                          : fmt::format("is a recording of {}, not of {}", printable(person), printable(claim.person));
  if (claim.key.empty() || same_key) return {};
  const bool same_time = claim.started && date_in_text(file.text("date")) == claim.started;
  return key.empty() && same_time ? "" : "is a recording of another attempt";
}

}  // namespace

RecordingClaim claim_of(const LabAttempt& attempt) {
  return {attempt.recording, attempt.station, attempt.person, attempt.key, attempt.started};
}

OwnRecording own_recording(const RecordingClaim& claim) {
  OwnRecording found;
  const std::string path = bytes_of_text(claim.recording);
  found.file = path;
  if (claim.station != host_name()) {
    found.why = claim.station.empty() ? "is on an unknown machine"
                                      : fmt::format("is on the machine {}", printable(claim.station));
    return found;
  }
  if (path.find('\0') != std::string::npos || !found.file.is_absolute()) {
    found.why = "is not the whole path of a file";
    return found;
  }
  look_at_file(found);
  if (found.answer != Claimed::Ours) return found;
  try {
    const H5File file = H5File::open(found.file);
    require_format(file);
    found.live = file.live();
    found.why = difference(file, claim);
  } catch (const std::runtime_error& error) {
    found.why = fmt::format("cannot be read as a recording ({})", printable(error.what(), kLongestText));
  }
  if (!found.why.empty()) found.answer = Claimed::Foreign;
  return found;
}

}  // namespace trocar
