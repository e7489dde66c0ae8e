// Short recordings of attempts for the tests of the lab: finished ones, those of a killed program, and altered ones.
#pragma once

#include <filesystem>
#include <string>

#include "sim/record/session_recorder.hpp"

namespace trocar::test {

// Records as a live attempt does. `finished`: the program closes the recording.
std::filesystem::path record_attempt(const Scene& scene, const std::filesystem::path& file, int frames, bool finished,
                                     RunNote run);
// The recording of a program that is killed in mid-attempt.
std::filesystem::path record_killed(const Scene& scene, const std::filesystem::path& file, int frames,
                                    const RunNote& run);
// Gives an attribute of a recording another text; an empty one removes it.
void change_text(const std::filesystem::path& file, const char* name, const std::string& text);

}  // namespace trocar::test
