// Decides whether two triangles meet while their corners move on straight lines: the dynamic detection of Bergeret
// 2000, section 6.3, for surfaces that deform between two frames. A corner against a face and an edge against an edge
// are functions that are linear in time and in the parameters on each feature, so eight values bound them over a box of
// time and parameters. The box with the earliest time is halved first, until the earliest box that may contain a
// meeting is small. Conservative: no meeting is missed or reported late. At the reported time the features are within
// `apart`: the tolerance, unless the boxes run out (4 of 1,000 exact cases of motion within nearly one plane); then
// `apart` bounds their distance, and the time is early by the time they need to cover it.
// Source: Snyder, "Interval analysis for computer graphics", 1992; Wang et al., "A large-scale benchmark and an
// inclusion-based algorithm for continuous collision detection", ACM TOG 2021. We differ: bounds are also taken along
// the features' own directions, which decides most boxes without halving. Units: metres; time 1 = one step.
// Checked against exact cases and dense sampling in tests/cpu_collision/part_test.cpp
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

struct MovingPoint {
  glm::dvec3 before, after;  // m
};

struct MovingTriangle {
  Triangle before, after;
};

struct Meeting {
  double time;   // step  at most the first time at which the features share a point
  double apart;  // m     at most this far apart at that time: the tolerance, or more where boxes ran out
};

// Returns the meeting of the point with the closed triangle a, b, c, or nothing when the point does not reach it.
// `tolerance`: m, > 0.
std::optional<Meeting> corner_meets_face(const MovingPoint& corner, const MovingPoint& a, const MovingPoint& b,
                                         const MovingPoint& c, double tolerance);
// Does the same for the closed edges a-b and c-d.
std::optional<Meeting> edge_meets_edge(const MovingPoint& a, const MovingPoint& b, const MovingPoint& c,
                                       const MovingPoint& d, double tolerance);

// Returns the earliest meeting over all features of two triangles: their first contact, if they did not cross at the
// start.
std::optional<Meeting> triangles_meet(const MovingTriangle& first, const MovingTriangle& second, double tolerance);
// Returns whether triangles_meet() finds a meeting. Faster: the first feature pair found decides.
bool triangles_meet_at_all(const MovingTriangle& first, const MovingTriangle& second, double tolerance);

// The two quick proofs of triangles_meet_at_all(), which decide most pairs without a search. Either may fail.
// Returns true when one direction separates the triangles throughout the step.
bool one_direction_separates(const MovingTriangle& first, const MovingTriangle& second);
// Returns true when Newton's method finds, to rounding, a common point of two features.
bool newton_finds_a_meeting(const MovingTriangle& first, const MovingTriangle& second);

// Finds the pairs of faces of two meshes that meet while every vertex moves on a straight line from one position to
// another: the crossing pairs of two instants, and their first contact. No meeting is missed or reported late
// (motion_crossing.hpp). Units: metres; time 1 = the step.
struct MovingMesh {
  std::span<const glm::vec3> before, after;  // [vertex] m, equally many, finite
  std::span<const glm::uvec3> faces;         // [face] vertices
};

struct FaceMeeting {
  FaceId first{}, second{};
  double time = 0.0;   // step  at most the first time at which the faces share a point; 0: they cross at the start
  double apart = 0.0;  // m     at most this far apart at that time
};

// Returns the meetings, [meeting], sorted by first and second face. `tolerance`: m, > 0; largest distance at the
// reported time, where the search ends as usual. Allocates.
std::vector<FaceMeeting> meshes_meet(const MovingMesh& first, const MovingMesh& second, double tolerance = 1e-6);

// Returns the earliest of them, [meeting], the first in order among equals; nothing of an empty list.
std::optional<FaceMeeting> first_contact(std::span<const FaceMeeting> meetings);

}  // namespace trocar
