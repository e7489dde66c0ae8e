// Computes the distance between two closed features of convex bodies, and the sub-feature on which each closest point
// lies. Only closest_features.cpp uses it. Units: metres, one frame.   Checked through closest_features.
#pragma once

#include <glm/glm.hpp>

#include "cpu_collision/solids/closest_features.hpp"
#include "geometry/closest.hpp"

namespace trocar::solids {

// A feature with the positions and numbers of its corners and sides; side i joins corners i and i + 1.
struct FeatureShape {
  FeatureKind kind;
  std::uint32_t id;
  glm::dvec3 corner[3];
  std::uint32_t vertex[3], edge[3];
};

// Returns the shape of a feature. `pose` maps the body's coordinates to the common frame.
FeatureShape shape_of(const ConvexBody& body, const Feature& feature, const RigidFrame& pose);

struct FeatureHit {
  glm::dvec3 on_first, on_second;
  double squared;         // m^2
  Feature first, second;  // the lowest-dimensional features that contain the points
};

FeatureHit feature_distance(const FeatureShape& first, const FeatureShape& second);

}  // namespace trocar::solids
