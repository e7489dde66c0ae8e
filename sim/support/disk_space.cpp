#include "sim/support/disk_space.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <cmath>

namespace trocar {
namespace {

constexpr double kLongest = 6000.0;  // minutes  "more than" from here on

std::string minutes_text(double seconds) {
  const double minutes = seconds / 60.0;
  if (!(minutes < kLongest)) return fmt::format("more than {:.0f} minutes", kLongest);
  if (minutes < 1.0) return "less than a minute";
  const double whole = std::floor(minutes);
  return whole == 1.0 ? "1 minute" : fmt::format("{:.0f} minutes", whole);
}

}  // namespace

std::optional<std::uint64_t> free_space(const std::filesystem::path& where) {
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(where, error);
  if (error) return {};
  while (!std::filesystem::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  struct statvfs disk {};
  if (::statvfs(there.c_str(), &disk) != 0) return {};
  return static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
}

DiskState disk_state(double seconds, double needed) {
  if (seconds < kLeastDisk) return DiskState::Full;
  if (seconds < needed) return DiskState::Short;
  return seconds < kLowDisk ? DiskState::Low : DiskState::Enough;
}

std::string disk_text(double seconds, double needed) {
  const std::string space = fmt::format("Disk: space for {} of this task", minutes_text(seconds));
  switch (disk_state(seconds, needed)) {
    case DiskState::Full:
      return space + "; no attempt can be recorded: remove files, or choose another folder with --folder";
    case DiskState::Short:
      return fmt::format("{}, which may take {}: the recording may end before the attempt does", space,
                         minutes_text(needed));
    case DiskState::Low:
      return space + ": remove files soon";
    case DiskState::Enough:
      break;
  }
  return space;
}

std::string low_disk_text(double seconds) {
  if (seconds >= kLowDisk) return {};
  return fmt::format("Disk: space for {}; then the recording ends, not the session", minutes_text(seconds));
}

std::string bytes_text(std::uint64_t bytes) {
  const double size = static_cast<double>(bytes);
  return size >= 1e9 ? fmt::format("{:.1f} GB", 1e-9 * size) : fmt::format("{:.0f} MB", std::floor(1e-6 * size));
}

}  // namespace trocar
