// Finds the pairs of faces of two meshes that meet while every vertex moves on a straight line from one position to
// another: the crossing pairs of two instants, and their first contact. No meeting is missed or reported late
// (motion_crossing.hpp).
// Units: metres; time 1 = the step.   Tested against all pairs in tests/cpu_collision/meshes_meet_test.cpp
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

struct MovingMesh {
  std::span<const glm::vec3> before, after;  // [vertex] m, equally many, finite
  std::span<const glm::uvec3> faces;         // [face] vertices
};

struct FaceMeeting {
  FaceId first{}, second{};
  double time = 0.0;   // step  at most the first time at which the faces share a point; 0: they cross at the start
  double apart = 0.0;  // m     at most this far apart at that time
};

// Returns the meetings, sorted by first and second face. `tolerance`: m, > 0; largest distance at the reported time,
// where the search ends as usual. Allocates.
std::vector<FaceMeeting> meshes_meet(const MovingMesh& first, const MovingMesh& second, double tolerance = 1e-6);

// Returns the earliest of them, the first in order among equals; nothing of an empty list.
std::optional<FaceMeeting> first_contact(std::span<const FaceMeeting> meetings);

}  // namespace trocar
