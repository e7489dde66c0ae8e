// The loads of tools and jaws on single points of the surface, within a step. They are position-based: a tool only
// pushes, and a hold has a force limit. A point is a weighted sum of lattice nodes; moving it moves the nodes by the
// transposed weights, each in inverse proportion to its mass.
// What a substep's own motion makes of an overlap is taken back with speed; what was there before gives little or none.
// Units: metres, kilograms, seconds, newtons.   Tested in tests/deform/contact_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "deform/step.hpp"

namespace trocar {

// A point at least this far outside the tool at the first round is not processed further.
constexpr float kIdle = 2e-4f;  // m

// Returns where a point is, m.
glm::vec3 point_of(const PreparedPoint& c, const NodeColumns& x);
// Returns the radius, m, of a tool or of a part's ball up to which contacts keep the surface out.
float pressed_radius(double radius);

// Prepares the points of a step, at its beginning.
void prepare_contact_points(const TissueModel& model, const TissueLoads& loads, TissueScratch& s);

// Poses the parts at `progress` (0 .. 1) of the step.
void pose_tools(const TissueLoads& loads, float progress, TissueScratch& s);
// Sets the plane of the tool's surface that faces a point. Returns false when the tool is out of its range.
bool face_pressed(const TissueLoads& loads, std::uint32_t contact, float progress, TissueScratch& s);

// Returns how deep a point is in a tool at the end of the step, m: how far it is beyond the plane of the tool's surface
// that faces it, as contacts see it; negative outside. `point`: of the tissue, against the tool's dent. `normal`: of
// its contact.
float depth_in_tool(const ToolStep& tool, const glm::vec3& point, const glm::vec3& normal);

// Pushes and holds the points of a solid in a substep, after its nodes have moved.
void solve_contact_points(const TissueModel& model, const TissueLoads& loads, const Substep& substep, TissueScratch& s);

}  // namespace trocar
