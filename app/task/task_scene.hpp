// A task of a scene: what the trainee is to do, with which instrument, on which organ, and what counts as good.
// Places are given at rest; they ride on the tissue (surface marks). Units: metres, seconds; the file is in
// millimetres.   Format: docs/file-formats.md, keys read in app/scene/task_reader.cpp
#pragma once

#include <glm/glm.hpp>
#include <string>
#include <vector>

namespace trocar {

enum class TaskKind { TouchTargets, NavigateCamera, FollowCurve, LiftOrgan, BurnLine, KeepOut };

// A place on an organ: the nearest point of its surface at rest is meant.
struct TaskPlace {
  std::string organ;
  glm::vec3 place{0.f};  // m, world, at rest
};

// Drawn in the scope's picture (pinhole image coordinates, half heights): the instruments stay out of it.
struct TaskZone {
  std::vector<glm::dvec2> outline;  // half heights, a simple polygon
};

struct TaskScene {
  TaskKind kind = TaskKind::TouchTargets;
  std::string title, instructions;  // shown before the start
  std::string instrument;           // whose tip counts; empty: any. The scope for NavigateCamera
  std::vector<TaskPlace> places;    // targets in order, or the corners of the curve or the line
  std::vector<TaskZone> zones;      // forbidden, in every kind of task
  double tolerance = 0.004;         // m  how near is there; half the width of a line
  double hold = 0.5;                // s  how long there
  double lift = 0.015;              // m  of LiftOrgan: how far up from rest
  double most_force = 2.0;          // N  more on the tissue is an error
  double time_good = 30.0;          // s  full marks for time up to here
  double time_limit = 180.0;        // s  the task ends here unfinished, > time_good
};

}  // namespace trocar
