// Do two triangles meet while their corners move on straight lines? The dynamic detection of section 6.3 of the thesis,
// for surfaces that deform between two frames. A corner against a face and an edge against an edge are functions that
// are linear in time and in the place on each feature, so eight values bound them over a box of time and places; boxes
// whose bounds hold zero are halved until they are small. Conservative: a meeting is never missed, and what is reported
// comes within the tolerance, unless the boxes to look at run out: features that slide within one plane.
// Source: Snyder, "Interval analysis for computer graphics", 1992; Wang et al., "A large-scale benchmark and an
// inclusion-based algorithm for continuous collision detection", ACM TOG 2021. Units: metres; time 1 = one step.
// Checked against dense sampling in tests/cpu_collision/motion_crossing_test.cpp
#pragma once

#include <optional>

#include "geometry/mesh_view.hpp"

namespace trocar {

struct MovingPoint {
  glm::dvec3 before, after;  // m
};

struct MovingTriangle {
  Triangle before, after;
};

// A time at most the first at which the point comes onto the closed triangle a, b, c. `tolerance`: m, > 0.
std::optional<double> corner_meets_face(const MovingPoint& corner, const MovingPoint& a, const MovingPoint& b,
                                        const MovingPoint& c, double tolerance);
// The same for the closed edges a-b and c-d.
std::optional<double> edge_meets_edge(const MovingPoint& a, const MovingPoint& b, const MovingPoint& c,
                                      const MovingPoint& d, double tolerance);

// Both of the above for all features of two triangles: a time at most the first at which the triangles touch, if they
// did not cross at the start.
std::optional<double> triangles_meet(const MovingTriangle& first, const MovingTriangle& second, double tolerance);

}  // namespace trocar
