// The truncated pyramid that a perspective camera sees, and tests of what lies outside it, so that a renderer can leave
// out whole objects by their bounding spheres. Based on: the view volume between a front and a back plane and its test
// of points and bounding spheres, Bergeret 2000, 1.5.4 (docs/method.md).
// We differ: the planes come from the camera's matrix, so every lens and aspect ratio has them, and a sphere is left
// out only if it is wholly beyond one plane; Bergeret keeps a sphere that crosses any of the six planes, also far
// from the pyramid. Units: metres.   Checked against sampled points in tests/geometry/tool_volume_test.cpp
#pragma once

#include <array>
#include <glm/glm.hpp>
#include <span>

namespace trocar {

struct ViewPyramid {
  // Left, right, bottom, top, front, back: inside where n.p + d >= 0, n of length 1.
  std::array<glm::dvec4, 6> planes;
};

struct BoundingSphere {
  glm::dvec3 centre{0.0};
  double radius = 0.0;  // negative: empty
};

// `clip_from_world`: a perspective or orthographic projection with OpenGL's clip volume, times the camera's pose.
ViewPyramid view_pyramid(const glm::dmat4& clip_from_world);

bool contains(const ViewPyramid& pyramid, const glm::dvec3& point);  // m, border included

// Returns false only if no point of the sphere is in the pyramid. Near the pyramid's edges it may return true without
// such a point.
bool may_see(const ViewPyramid& pyramid, const BoundingSphere& sphere);

// Returns a sphere around the points, [point] m; empty when there is none. It is centred in their box, so its radius is
// at most sqrt(3) times the smallest one.
BoundingSphere bounding_sphere(std::span<const glm::vec3> points);

}  // namespace trocar
