// Finds the closest features of two convex bodies by a walk from the pair of the last frame. A pair is closest when
// each point lies in the Voronoi region of the other's feature; otherwise the walk moves to the neighbour across the
// violated side. Source: Bergeret 2000, 4.4; Lin and Canny, "A fast algorithm for incremental distance calculation",
// 1991; local minimum behind a face: Mirtich, "V-Clip", 1998. We differ: every step measures the distance between the
// two closed features and is taken only when it decreases, which prevents the cycling of Lin and Canny and needs none
// of V-Clip's clipping rules; after too many steps all pairs are searched. Bodies that touch or overlap are detected;
// penetration() measures the depth. Units: metres, world.   Checked against all pairs of triangles in
// tests/study/solids_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>

#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/frame.hpp"

namespace trocar::solids {

enum class FeatureKind : std::uint8_t { Vertex, Edge, Face };

struct Feature {
  FeatureKind kind = FeatureKind::Vertex;
  std::uint32_t id = 0;
};

// State that the caller keeps for each pair of bodies from frame to frame. Any features of the two bodies are valid.
struct FeaturePair {
  Feature first, second;
};

struct FeatureDistance {
  bool overlapping = false;        // the bodies share a point; then distance is 0 and the points are one shared point
  double distance = 0.0;           // m
  glm::dvec3 on_first, on_second;  // m
  int steps = 0;                   // features moved to
  bool searched = false;           // the walk gave up and all pairs were searched
};

// Bodies closer than this share of their size count as touching, and so as overlapping.
constexpr double kTouching = 1e-13;

// Finds the closest features. Allocates nothing. Poses must be finite; bodies must come from convex_hull().
FeatureDistance closest_features(const ConvexBody& first, const RigidFrame& first_pose, const ConvexBody& second,
                                 const RigidFrame& second_pose, FeaturePair& pair);

}  // namespace trocar::solids
