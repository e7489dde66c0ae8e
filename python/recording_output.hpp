// Checks the name of a recording that a Python call is to write.   Tested in tests/python/session_test.py
#pragma once

#include <filesystem>
#include <string>

#include "sim/scene/scene_access.hpp"
#include "sim/support/files.hpp"

namespace trocar::python {

// Throws InputError when the recording, which the call names as `argument`, would replace a file of the scene, or any
// other file unless `force`.
inline void check_recording_output(const Scene& scene, const std::string& argument, const std::filesystem::path& file,
                                   bool force) {
  refuse_same_files(files_of(scene), {{argument, file}});
  refuse_existing({{argument, file}}, force, "pass force=True");
}

}  // namespace trocar::python
