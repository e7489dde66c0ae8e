// Defines a level of a task: what it changes in its scene.   Applied in sim/scene/level.cpp
// Units: metres, seconds; the file is in millimetres.   Format: docs/file-formats.md   Tested in
// tests/sim/level_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <optional>
#include <string>

namespace trocar {

inline constexpr int kMostLevels = 100;  // of a task

// A value that is absent is that of the scene as written, not that of the level before.
struct TaskLevel {
  std::string name;  // what is harder: "small targets, deep breathing"
  // As in TaskScene.
  std::optional<double> tolerance, hold, lift, most_force, most_tremor, time_good, time_limit;
  std::optional<float> breathing_amplitude, breathing_rate;  // m, Hz
  std::optional<glm::vec3> scope_eye;                        // m
  std::optional<float> scope_angle_deg, scope_spin_deg;      // degrees
  bool swap_trocars = false;  // the first two instruments swap pivot, tip and axis: each is in the other hand
};

}  // namespace trocar
