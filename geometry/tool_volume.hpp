// Defines the tool at one instant, its motion during a step, and the convex volume that represents either: half-spaces
// and camera. Source: Lombardo, Cani, Neyret, "Real-time collision detection for virtual surgery", Computer Animation
// 1999 (orthographic camera = static tool, perspective camera with two clip planes = swept tool). We add the `capsule`
// cover, which contains every point within the radius of the swept triangle. Definitions: docs/method.md. Units:
// metres, world frame.   Checked by sampling in tests/geometry/tool_volume_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <string>

#include "geometry/mesh_view.hpp"

namespace trocar {

// A tool at one instant: a rigid shaft from the trocar to the tip. Double, because float poses move planes by up to 40
// micrometres.
struct ToolPose {
  glm::dvec3 pivot{0.0}, tip{0.0};  // m
  double radius = 0.0025;           // m    > 0; half of a 5 mm laparoscopic shaft
};

struct PartShape;
struct InstrumentMotion;

// A part of an instrument during an interval of a step (geometry/part.hpp). The caller owns shape and motion, which
// stay valid and unchanged while the volume is used.
struct MovingPart {
  const PartShape* shape = nullptr;  // null: no part, the volume is that of a shaft
  const InstrumentMotion* motion = nullptr;
  double from = 0.0, to = 1.0;  // step  the interval
  double end = 1.0;             // step  time of its end pose, from which depths are measured
};

// A tool during one step: the tip moves on the straight line tip_before -> tip_after, the shaft slides through the
// pivot. A tool at rest has tip_before == tip_after. With a part, `part` is the tool, and the other fields are a
// capsule that bounds its coordinates.
struct ToolStep {
  glm::dvec3 pivot{0.0}, tip_before{0.0}, tip_after{0.0};  // m
  double radius = 0.0025;                                  // m, > 0
  MovingPart part = {};
};

// Returns the step of a tool that stays at `pose`.
inline ToolStep step_at_rest(const ToolPose& pose) { return {pose.pivot, pose.tip, pose.tip, pose.radius, {}}; }
// Returns the step that ends at `now`: pivot and radius of `now`; the tip moves from `before.tip` to `now.tip`.
inline ToolStep step_between(const ToolPose& before, const ToolPose& now) {
  return {now.pivot, before.tip, now.tip, now.radius, {}};
}
// Returns the tool's pose at `time` in [0, 1] of a step.
inline ToolPose pose_at(const ToolStep& step, double time) {
  return {step.pivot, step.tip_before + time * (step.tip_after - step.tip_before), step.radius};
}

enum class ToolMode { Static, Swept };
enum class Cover { Paper, Capsule };
// `Volume`: faces that share a point with the convex tool volume. `Exact`: faces within the radius of the swept
// triangle.
enum class TouchSet { Volume, Exact };

constexpr int kMaxPlanes = 8;

struct ToolVolume {
  // The planes that define the volume: a point x is inside when n.x + d >= 0 for every plane. Normals have unit length;
  // planes are computed in double and rounded to float once. The order is left, right, bottom, top, near, far, and for
  // the swept capsule cover the cap.
  std::array<glm::vec4, kMaxPlanes> planes{};
  int plane_count = 0;
  // The same volume as a camera: it consists of the points that `view` and `projection` keep between left and right and
  // that no plane with its bit set in clip_plane_mask clips. The matrices' own near, far, top and bottom lie outside
  // it. The view frame's origin is the pivot; a distant apex appears only in the projection, so that float loses no
  // precision.
  glm::mat4 view{1.f}, projection{1.f};
  std::uint32_t clip_plane_mask = 0;
  bool perspective = false;
  // The motion that the volume covers; the `exact` set is refined against it.
  ToolStep step;
};

struct ViewFrame {
  glm::dvec3 origin, right, up, forward;
};

// Limits of a tool. Larger coordinates mean a wrong unit and float planes without precision. The smallest radius is the
// width of the borderline band. A shorter shaft has no direction.
constexpr double kLargestCoordinate = 1e3;  // m
constexpr double kSmallestRadius = 1e-6;    // m
constexpr double kShortestShaft = 1e-9;     // m

// Returns the box low <= (right, up, forward) <= high in a frame, under an orthographic camera.
ToolVolume box_volume(const ToolStep& step, const ViewFrame& frame, const glm::dvec3& low, const glm::dvec3& high);

// Returns one sentence that says what is wrong with a pose or step and what to do, or an empty string when it is valid.
// Faults: a number is not finite, a coordinate or the radius is out of range, or the shaft is too short. Loaders put
// file and line before it.
std::string pose_fault(const ToolPose& pose);
std::string step_fault(const ToolStep& step);  // of its first and last pose; a part is not looked at

// Returns the volume of the tool at rest at `pose`: the orthographic camera of the 1999 method. Six planes.
// Throws InputError with the sentence of pose_fault.
ToolVolume static_volume(const ToolPose& pose);

// Returns the volume of the tool's motion during `step`. Six or seven planes. Throws InputError with the sentence of
// step_fault. Where the paper cover does not apply (motion up to two radii, or nearly along the shaft) the static
// volume of the end pose is used instead.
ToolVolume swept_volume(const ToolStep& step, Cover cover);

// Returns the same for the capsule cover and a step that is known to be valid, and throws nothing.
ToolVolume capsule_volume(const ToolStep& step);

// Returns the volume of one frame of a trajectory, for a touch query. `before`: the pose one frame earlier, null in
// frame 0. For a `Volume` set it is the volume of mode and cover; for an `Exact` set always the capsule cover, which
// gives the candidates. Errors as above.
ToolVolume frame_volume(const ToolPose* before, const ToolPose& now, ToolMode mode, Cover cover, TouchSet set);

// Returns true when the closed triangle and the closed volume share a point. Triangles degenerate to a point or line
// are allowed. Coordinates must be finite. Never throws, never allocates.
bool face_touches_volume(const Triangle& face, const ToolVolume& volume);

}  // namespace trocar
