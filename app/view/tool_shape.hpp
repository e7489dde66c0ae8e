// The drawn shape of an instrument: a shaft with a round end, and two jaws. Triangles in a frame of its own: the tip at
// the origin, the shaft along +z towards the trocar. Units: metres.
#pragma once

#include "mesh/triangle_mesh.hpp"

namespace trocar {

struct ToolShape {
  double radius = 0.0025;      // m
  double shaft_length = 0.35;  // m, > jaw_length
  double jaw_length = 0.016;   // m
};

// The tube from the jaws' hinge to the trocar and beyond.
TriangleMesh make_shaft(const ToolShape& shape);
// One jaw, closed: a half-round finger from the hinge at z = jaw_length to the tip, on the side of +y.
TriangleMesh make_jaw(const ToolShape& shape);
// The inside of an ellipsoid: what stands behind the organs. half_size: m.
TriangleMesh make_cavity(const glm::vec3& centre, const glm::vec3& half_size);

}  // namespace trocar
