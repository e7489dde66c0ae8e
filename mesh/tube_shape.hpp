// Makes the surface of a duct or vessel: a circle moved along a smooth line, with a half ball at each end.
// The line is the centripetal Catmull-Rom spline through the given points (Yuksel et al., Parameterization and
// applications of Catmull-Rom curves, Computer-Aided Design 2011), which passes through every point and makes no loops
// between them. Rings follow it without twist by double reflection (Wang et al., Computation of rotation minimizing
// frames, ACM TOG 2008). The wall and the lumen of a duct are not separate: tissue fills it.
// Units: metres.   Tested in tests/mesh/mesh_report_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <string>
#include <vector>

#include "mesh/triangle_mesh.hpp"

namespace trocar {

struct TubeShape {
  std::vector<glm::dvec3> path;  // m  the centres of its ends and points between them, at least 2
  double radius = 2e-3;          // m  > 0
  double wall = 0.0;             // m  of its tissue: rods move a tube with a wall, springs fill one without; >= 0
};

// Returns points of the centre line, [point] m, at nearly equal distances, at most 0.8 radii; the first and last are
// those of the path. Valid for a shape without fault.
std::vector<glm::dvec3> centre_line(const TubeShape& tube);

// Returns how far along a line its point nearest to `p` lies, m from its start. `line`: [point] m, at least two.
double along_line(std::span<const glm::dvec3> line, const glm::dvec3& p);

// Returns one sentence about why there is no such tube, or nothing: fewer than two points, equal neighbours, a bend
// tighter than 1.5 radii, two parts of it that overlap, more than 100 points, or a length of more than 1,600 radii.
std::string tube_fault(const TubeShape& tube);

// Returns the closed surface. Valid for a shape without fault.
TriangleMesh tube_surface(const TubeShape& tube);

}  // namespace trocar
