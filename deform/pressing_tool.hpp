// Finds the closest points of a tool in a contact substep and the tissue: the tool is a shaft (a capsule) or a part (a
// polytope plus a ball).
// Units: metres, world frame.   Tested in tests/deform/pressing_tool_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "geometry/part_touch.hpp"
#include "geometry/refine.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

// Where the axis or the polytope of a tool comes closest to a point, an edge or a face of the tissue.
struct ToolTissue {
  glm::dvec3 on_tool, on_tissue;  // m
  double distance;                // m, without the tool's radius
  double along = 0.0;             // 1, of an edge: where on_tissue lies between its ends
};

// A tool during a contact substep, prepared for many faces. The step must outlive it.
class PressingTool {
 public:
  explicit PressingTool(const ToolStep& step);

  double radius() const { return radius_; }
  bool is_part() const { return step_.part.shape != nullptr; }
  // Closest points in the pose at the end of the substep. Of a part further away than `range`, `distance` may be any
  // lower bound above `range`, and the points are then not the closest ones.
  ToolTissue closest(const glm::dvec3& point, double range) const;
  ToolTissue closest(const glm::dvec3& edge_from, const glm::dvec3& edge_to, double range) const;
  ToolTissue closest(const Triangle& face, double range) const;
  // Can the face come within `range` of the tool's surface during the substep? Conservative.
  bool may_touch(const Triangle& face, double range) const;
  // Is the point certainly not within `range` of the axis or polytope in the pose at the end? Cheap; false for a shaft.
  bool is_beyond(const glm::dvec3& point, double range) const;
  // Returns the distance of closest(face) beyond which the face is not within `reach` of the tool's surface at the end,
  // nor can have been touched.
  double contact_range(double reach) const;
  // Can the tool have touched, during the substep, a face at this distance of closest(face)? Conservative.
  bool may_have_touched(double distance) const;
  // Returns how far a part's polytope goes behind the plane of a face in the pose at the end, m.
  double depth_behind(const Triangle& face) const;
  // As refine_touch(), without the depth.
  bool touches(const Triangle& face, Touch& touch) const;

 private:
  const ToolStep& step_;
  double radius_, moved_;            // m
  PartSweep sweep_;                  // of a part
  glm::dvec3 low_{0.0}, high_{0.0};  // m, box of a part's corners in the pose at the end
};

}  // namespace trocar
