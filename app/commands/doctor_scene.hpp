// The part of `trocar doctor` about a scene: is it too heavy for this machine, and how far can its forces be trusted?
// sim/trial measures; this prints.   Tested in tests/app/program_test.cpp
#pragma once

#include <chrono>
#include <string>

#include "sim/scene/scene_access.hpp"

namespace trocar {

struct DoctorScene {
  std::string file;
  SceneAccess access;
  std::string backend;             // empty: the scene's
  std::string gl;                  // from gl_description()
  std::chrono::seconds limit{60};  // the trial of the scene ends after this real time
};

// Tries the scene and prints the report. Throws InputError when the scene cannot be loaded.
void report_scene(const DoctorScene& asked);

}  // namespace trocar
