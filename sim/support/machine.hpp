// Describes the origin of every table, recording and report: program version, machine, date.
#pragma once

#include <string>

namespace trocar {

inline constexpr const char* kVersion = TROCAR_VERSION;

// Returns a text such as "Intel(R) Xeon(R) Processor, 2 hardware threads".
std::string machine_description();
// Returns the name of this machine in its network.
std::string host_name();
// Returns the date in UTC, such as "2026-01-31".
std::string today();
// Returns date and time in UTC, such as "2026-11-21 10:22:05"; these texts sort by time.
std::string this_second();
// Returns such a date as it is shown, "2026-11-21 10:22:05 UTC"; an empty text for an empty one.
std::string utc_text(const std::string& date);

}  // namespace trocar
