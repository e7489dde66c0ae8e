// The tool at one instant, its motion during a step, and the convex volume that stands for either: half-spaces and camera.
// Source: Lombardo, Cani, Neyret, "Real-time collision detection for virtual surgery", Computer Animation 1999
// (orthographic camera = static tool, perspective camera with two clip planes = swept tool). We add the `capsule` cover,
// which contains every point within the radius of the swept triangle. Definitions: docs/method.md.
// Units: metres, world frame.   Checked by sampling in tests/geometry/tool_volume_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>

namespace trocar {

// A tool at one instant: a rigid shaft from the trocar to the tip. Double: float poses move planes by 40 micrometres.
struct ToolPose {
  glm::dvec3 pivot{0.0}, tip{0.0};  // m
  double radius = 0.0025;           // m    > 0; half of a 5 mm laparoscopic shaft
};

// A tool during one step: the tip moves on the straight line tip_before -> tip_after, the shaft slides through the pivot.
// A tool at rest has tip_before == tip_after.
struct ToolStep {
  glm::dvec3 pivot{0.0}, tip_before{0.0}, tip_after{0.0};  // m
  double radius = 0.0025;                                  // m, > 0
};

enum class ToolMode { Static, Swept };
enum class Cover { Paper, Capsule };

constexpr int kMaxPlanes = 8;

struct ToolVolume {
  // The definition: inside where n.x + d >= 0 for every plane; unit normals, computed in double, rounded to float once.
  std::array<glm::vec4, kMaxPlanes> planes{};
  int plane_count = 0;
  // The same volume as a camera: what `view` and `projection` clip at left and right, together with the planes whose bit is
  // set in clip_plane_mask as user clip planes, is the volume. The matrices' own near and far lie outside the volume.
  glm::mat4 view{1.f}, projection{1.f};
  std::uint32_t clip_plane_mask = 0;
  bool perspective = false;
  // The motion the volume was made from: what the `exact` set is refined against.
  ToolStep step;
};

// Volume of the tool at rest at `pose`: the orthographic camera of the 1999 method. Six planes.
// Error: InputError when tip = pivot, the radius is not positive, or a number is not finite.
ToolVolume static_volume(const ToolPose& pose);

// Volume of the tool's motion during `step`. Up to eight planes. Errors as above.
ToolVolume swept_volume(const ToolStep& step, Cover cover);

}  // namespace trocar
