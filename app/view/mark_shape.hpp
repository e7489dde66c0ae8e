// Computes the geometry of a task's marks. Targets and paths are decals on the faces of the tissue: they deform with it
// and are occluded like it. Zones are triangles and an outline in the picture. States differ in colour (Okabe and Ito's
// palette), shape and brightness. Units: metres; zones in half heights.   Tested in tests/app/view_parts_test.cpp
#pragma once

#include <vector>

#include "geometry/mesh_view.hpp"
#include "sim/task/observation.hpp"

namespace trocar {

// The numbers are those of shaders/decal.frag.
enum class MarkStyle { Ribbon, Waiting, Next, Done, Error };

// A segment (of a path) or a point (a target, begin = end), painted on all tissue within `radius` of it.
struct DecalSegment {
  glm::vec3 begin{0.f}, end{0.f};  // m
  float radius = 0.f;              // m
  MarkStyle style = MarkStyle::Ribbon;
  glm::vec4 paint{1.f};  // display colour and opacity
};
// Overwrites `segments` with those of the targets in order, then of the paths, each with its rim first. `time`: s, of
// the pulse.
void mark_segments(const DrawnMarks& marks, double time, std::vector<DecalSegment>& segments);

struct DecalVertex {
  glm::vec3 position;
  glm::vec4 begin_radius, end_style, paint;
};
// For each segment, in order, appends every face within its radius. The test uses the face's bounding sphere.
void add_decals(std::span<const DecalSegment> segments, const MeshView& mesh, std::vector<DecalVertex>& vertices);

// A vertex at `place` in the pinhole picture. `aside`: unit vector across the outline, zero inside.
struct ZoneVertex {
  glm::vec2 location, aside;
};
struct ZoneShape {
  std::vector<ZoneVertex> inside, outline;  // triangles, short enough for a lens that bends lines
};
// Computes the triangles of a zone. If the outline is not a simple polygon, `inside` is empty.
ZoneShape make_zone_shape(std::span<const glm::dvec2> outline);

}  // namespace trocar
