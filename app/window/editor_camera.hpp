// Moves the editor's camera, which orbits the organs or equals the scene's scope, and converts between pixels and rays.
// Units: metres, pixels from the window's top left.   Tested in tests/app/window_editor_test.cpp
#pragma once

#include <optional>

#include "sim/scene/scene.hpp"
#include "sim/scene/scope.hpp"

namespace trocar {

struct Ray {
  glm::dvec3 origin{0.0}, direction{0.0, 0.0, -1.0};  // m, unit
};

struct EditorEye {
  ScopePose pose;
  Lens lens;
};

// A camera that the mouse turns about `target`.
struct OrbitCamera {
  glm::dvec3 target{0.0};  // m
  double yaw_deg = 0.0, pitch_deg = 20.0;
  double distance = 0.46;  // m

  void turn(double right_pixels, double up_pixels);
  void approach(double notches);
  EditorEye eye() const;
};

inline EditorEye eye_of(const ScopeScene& scope) { return {scope.pose(), scope.lens}; }

// Converts pixels to half heights from the picture's centre, distortion included, and back.
glm::dvec2 seen_at(const glm::dvec2& pixel, const glm::dvec2& size);
glm::dvec2 pixel_at(const glm::dvec2& seen, const glm::dvec2& size);

Ray ray_through(const EditorEye& eye, const glm::dvec2& pixel, const glm::dvec2& size);
// Returns nothing for a point behind the eye.
std::optional<glm::dvec2> pixel_of(const EditorEye& eye, const glm::dvec3& point, const glm::dvec2& size);
// Returns the intersection of the ray with the plane through `point`; empty when the ray is parallel to it or points
// away.
std::optional<glm::dvec3> meet_plane(const Ray& ray, const glm::dvec3& point, const glm::dvec3& normal);

}  // namespace trocar
