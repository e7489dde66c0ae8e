// Defines a task's marks in the scope's view: targets and paths on the tissue, zones in the picture. The spans are
// valid for one frame. Units: metres, world frame; zones in pinhole image coordinates, half
// heights.   Drawn by app/view/mark_layer.hpp
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <vector>

namespace trocar {

enum class MarkState { Waiting, Next, Done, Error };

struct DrawnTarget {
  glm::vec3 location{0.f};
  float radius = 0.004f;  // m
  MarkState state = MarkState::Waiting;
  int number = 0;  // its position in the order of the targets, 1 ..; 0: none is shown
  bool operator==(const DrawnTarget&) const = default;
};

// A line on the tissue; the first `done` of its points are completed.
struct DrawnPath {
  std::span<const glm::vec3> points;
  float width = 0.002f;  // m
  std::size_t done = 0;
  MarkState state = MarkState::Waiting;
};

struct DrawnZone {
  std::span<const glm::dvec2> outline;
  bool violated = false;
};

struct DrawnMarks {
  std::vector<DrawnTarget> targets;
  std::vector<DrawnPath> paths;
  std::vector<DrawnZone> zones;
};

}  // namespace trocar
