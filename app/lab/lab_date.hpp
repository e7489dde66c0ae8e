// Dates of the lab: seconds since 1970 (UTC), and their text, which sorts by time. Tested in
// tests/app/lab_attempt_test.cpp
#pragma once

#include <optional>
#include <string>

namespace trocar {

double now_in_seconds();
// Returns the seconds of "2026-11-21 10:22:05" or "2026-11-21"; nothing for another text.
std::optional<double> date_in_text(const std::string& text);
// The same; 0 for a text that is no date.
double date_of_text(const std::string& text);
// Returns whether an attempt can have begun then: since 1970, and not in the future; clocks may differ by a day.
bool is_past_date(double seconds);
// Returns "2026-11-21 10:22".
std::string text_of_date(double seconds);

}  // namespace trocar
