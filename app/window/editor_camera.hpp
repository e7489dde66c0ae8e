// The editor's eye: it turns about the organs, or is the scene's scope; and what lies under a pixel.
// Units: metres, pixels from the window's top left.   Tested in tests/app/window_editor_test.cpp
#pragma once

#include <optional>

#include "app/scene/scene.hpp"
#include "app/scope/lens.hpp"

namespace trocar {

struct Ray {
  glm::dvec3 origin{0.0}, direction{0.0, 0.0, -1.0};  // m, unit
};

struct EditorEye {
  ScopePose pose;
  Lens lens;
};

// Turned about `target` by the mouse.
struct OrbitCamera {
  glm::dvec3 target{0.0};  // m
  double yaw_deg = 0.0, pitch_deg = 20.0;
  double distance = 0.46;  // m

  void turn(double right_pixels, double up_pixels);
  void approach(double notches);
  EditorEye eye() const;
};

inline EditorEye eye_of(const ScopeScene& scope) { return {scope.pose(), scope.lens}; }

// Half heights from the middle, as the picture is seen.
glm::dvec2 seen_at(const glm::dvec2& pixel, const glm::dvec2& size);
glm::dvec2 pixel_at(const glm::dvec2& seen, const glm::dvec2& size);

Ray ray_through(const EditorEye& eye, const glm::dvec2& pixel, const glm::dvec2& size);
// Nothing behind the eye.
std::optional<glm::dvec2> pixel_of(const EditorEye& eye, const glm::dvec3& point, const glm::dvec2& size);
// Where the ray meets the plane through `point`; nothing when it runs along it or away.
std::optional<glm::dvec3> meet_plane(const Ray& ray, const glm::dvec3& point, const glm::dvec3& normal);

}  // namespace trocar
