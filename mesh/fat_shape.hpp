// Makes the surface of a body of fat: lobules that fill the space between lines of points, such as a duct, an artery
// and the edge of the liver, and wrap them. The body is a ruled patch through the lines, as thick as is asked for, and
// its surface rises over the middle of each lobule and sinks between them (cellular noise: Worley, A cellular texture
// basis function, SIGGRAPH 1996). Its triangles come from surface nets (Gibson, Constrained elastic surface nets,
// MICCAI 1998), moved onto the body's distance field. The same shape gives the same bits on every machine. Lobules of
// fat around the gallbladder are 3 to 6 mm wide in pictures of operations: an assumption, as is their height. Units:
// metres.   Tested in tests/mesh/fat_shape_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <string>
#include <vector>

#include "mesh/triangle_mesh.hpp"

namespace trocar {

struct FatShape {
  std::vector<glm::dvec3> from, to;  // m  two edges of the patch, at least two points each, in the same direction
  std::vector<glm::dvec3> through;   // m  a line between them that the patch passes through; empty: none
  double thickness = 8e-3;           // m  > 0, of the body across the patch, at the middle of a lobule
  double lobule = 4e-3;              // m  > 0, between the middles of neighbouring lobules
  double spacing = 1.5e-3;           // m  > 0, between neighbouring vertices
};

// The most nodes of the grid on which a body is found.
constexpr double kMostFatNodes = 1e6;

// Returns one sentence about why there is no such body, or nothing: lines of one point or without length, vertices too
// wide apart for its thickness or its lobules, more than kMostFatNodes nodes, or a surface that touches itself.
std::string fat_fault(const FatShape& fat);

// Returns the closed surface, counter-clockwise seen from outside. Valid for a shape without fault.
TriangleMesh fat_surface(const FatShape& fat);

// Returns how far a point is from the surface, m; negative inside. Exact on the surface, approximate elsewhere.
double fat_distance(const FatShape& fat, const glm::dvec3& p);

// Returns how far a point is from the middle of the nearest of the lobules that fill space, in lobules: 0 .. 1 nearly.
// `lobule`: between the middles of neighbouring lobules, in the unit of the point.
double from_lobule(const glm::dvec3& p, double lobule);

}  // namespace trocar
