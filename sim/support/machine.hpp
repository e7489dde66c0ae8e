// Describes the origin of every table, recording and report: program version, machine, date.
#pragma once

#include <string>

namespace trocar {

inline constexpr const char* kVersion = TROCAR_VERSION;

// "Intel(R) Xeon(R) Processor, 2 hardware threads"
std::string machine_description();
// "2026-01-31", UTC.
std::string today();
// "2026-11-21 10:22:05", UTC; sorts by time.
std::string this_second();

}  // namespace trocar
