// How much room a disk has for recordings, and the words for it.   Units: bytes, bytes a second, seconds.
// Tested in tests/sim/disk_space_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace trocar {

// Returns the number of bytes that the user can still write where this file or folder is, or will be when its folders
// have been made; nothing when the system does not say.
std::optional<std::uint64_t> free_space(const std::filesystem::path& where);

// How the free space relates to what is to be recorded.
enum class DiskState {
  Enough,
  Low,    // less than kLowDisk
  Short,  // less than the task may take
  Full    // less than kLeastDisk: no attempt begins
};
inline constexpr double kLowDisk = 600.0;  // s  from here on the user is warned
// A shorter recording shows nothing of a trainee. It takes some seconds to write and to close a recording, too.
inline constexpr double kLeastDisk = 60.0;  // s

// `seconds`: of recording that fit; `needed`: what an attempt may take, 0: unknown.
DiskState disk_state(double seconds, double needed);
// "Disk: space for 214 minutes of this task", with what it means when that is not enough.
std::string disk_text(double seconds, double needed);
// "Disk: space for 8 minutes", for a recording that runs; empty while there is enough.
std::string low_disk_text(double seconds);
// "12.3 GB", "45 MB"
std::string bytes_text(std::uint64_t bytes);

}  // namespace trocar
