// Computes the reference answer for all backends, by brute force in double over every face. It shares no clipping or
// distance code with them and uses linear duality instead: set Volume is decided by a margin, the value of a best point
// (a small matrix game), and set Exact by a distance, the value of a best separating direction. Units:
// metres. Arrays of a mesh: positions [vertex], faces [face].   Definition of borderline and of agreement:
// docs/method.md Checked against closed forms, sampling and its own dual in tests/cpu_collision/scan_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/part.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// A face is borderline when moving the volume's planes (set Volume) or the radius (set Exact) by this much changes it.
constexpr double kBorderlineBand = 1e-6;  // m

struct ReferenceAnswer {
  std::vector<FaceId> touched;     // sorted
  std::vector<FaceId> borderline;  // sorted; touched or not
};

// Returns every face of the mesh that the tool touches, and the borderline faces.
ReferenceAnswer reference_touched(const MeshView& mesh, const ToolVolume& tool, TouchSet set);

// Returns the margin of a face, m: the largest value, over the points of the face, of the smallest distance to a plane.
// A positive margin is the distance that every plane can move inwards before the face leaves the volume. A negative
// margin is, in size, the distance that every plane must move outwards before the face enters it.
double reference_margin(const ToolVolume& tool, const Triangle& face);

// Returns the distance between two triangles, m; 0 when they share a point. Either may be degenerate (a segment or a
// point).
double reference_distance(const Triangle& first, const Triangle& second);

struct Agreement {
  std::uint64_t in_both = 0, borderline = 0, disagreements = 0;  // faces
};

// Compares a backend's answer for one tool with the reference. `touches`: [touch], one per face. A face that is out of
// order or listed twice counts as a disagreement.
Agreement compare_with_reference(const ReferenceAnswer& reference, std::span<const Touch> touches);

// Computes the reference answer for a moving part: whether a face comes within the ball's radius of the polytope during
// an interval of the step. It shares no distance code and no search over time with the backends: the distance is that
// of pairs of triangles (reference.hpp), and the search bisects the time with a bound of the speed.

// Returns the distance of a face from the polytope, without the ball, in one pose; 0 when they share a point.
double reference_part_distance(const PartShape& shape, const RigidFrame& pose, const Triangle& face);

// Returns the least distance minus radius over the interval. Within kBorderlineBand of 0 it is accurate to a quarter of
// that band; elsewhere only its sign is, and it may be any value beyond the band.
double reference_part_gap(const MovingPart& part, const Triangle& face);

}  // namespace trocar
