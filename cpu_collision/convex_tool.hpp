// Prepares a convex tool volume for the traversal of a box tree: computes its planes, corners, edges and tight box, and
// tests boxes and faces against it. Separating axes decide the faces. They share no code with the clipping of the other
// backends, so that the tree backends can validate the others. Based on: Gottschalk, Lin, Manocha, "OBBTree", SIGGRAPH
// 1996 (15-axis test); Bergeret 2000, section 4.5.6. Units: metres.   Checked against the reference in
// tests/cpu_collision/convex_test.cpp
#pragma once

#include <array>
#include <glm/glm.hpp>

#include "cpu_collision/trees/obb.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

// Three planes meet in a corner, two in an edge. A volume of eight planes has at most 12 corners and 18 edges; the
// larger capacity is for planes that nearly coincide, where one corner is found several times.
constexpr int kMaxCorners = kMaxPlanes * (kMaxPlanes - 1) * (kMaxPlanes - 2) / 6;
constexpr int kMaxEdges = kMaxPlanes * (kMaxPlanes - 1) / 2;

// Four planes by coordinate, lane k of each belonging to plane k.
struct FourPlanes {
  Lanes4 x, y, z, offset;
};

// Returns the signed distance of a point from four planes, m.
inline Lanes4 plane_distances(const FourPlanes& planes, Lanes4 point) {
  return dot_rows(planes.x, planes.y, planes.z, point) + planes.offset;
}

struct ConvexTool {
  std::array<FourPlanes, 2> lanes;  // moved outwards by `slack`; absent planes contain everything
  float slack = 0.f;                // m  rounding of the float tests
  std::array<glm::dvec4, kMaxPlanes> planes;
  int plane_count = 0;
  std::array<glm::dvec3, kMaxCorners> corners;  // m
  int corner_count = 0;                         // 0: by rounding, no point is inside all planes; nothing is touched
  std::array<glm::dvec3, kMaxEdges> edges;      // directions, unit
  int edge_count = 0;
  ObbNode box;  // tight around the corners, grown by slack
};

// Prepares a volume. It must be bounded, as every tool volume is; it may be as flat as rounding makes it.
// `largest_coordinate`: largest coordinate of the mesh, m; the float tests allow for the rounding error of such
// coordinates.
// `set`: for the exact set the planes move outwards by the most that their rounding to float can have moved them
// inwards (61 micrometres 1 km from the origin), so that the volume is never empty and contains the whole sweep.
ConvexTool convex_tool(const ToolVolume& volume, float largest_coordinate, TouchSet set = TouchSet::Volume);

enum class BoxAnswer { Outside, Crosses, Inside };

// Tests a box of the tree against the volume. The answers Outside and Inside are certain; Crosses may be wrong.
BoxAnswer box_meets(const ConvexTool& tool, const ObbNode& box);

struct ObbNode::Tool {
  const ConvexTool& convex;
  explicit Tool(const ConvexTool& tool) : convex(tool) {}  // `tool` must outlive it
};
// box_meets() by the name that tree_query.hpp calls.
inline BoxAnswer meets(const ObbNode::Tool& tool, const ObbNode& box) { return box_meets(tool.convex, box); }

enum class FaceAnswer { Out, In, Unclear };

// Tests a face against the planes of the volume, in float. The answers Out and In are certain. Corners: x, y, z, 0.
FaceAnswer face_quick(const ConvexTool& tool, Lanes4 a, Lanes4 b, Lanes4 c);

// Returns whether the closed triangle and the closed volume share a point, by separating axes in double.
bool face_meets(const ConvexTool& tool, const Triangle& face);

}  // namespace trocar
