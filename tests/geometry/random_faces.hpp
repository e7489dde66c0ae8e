// Makes random triangles for property tests: ordinary, thin and degenerate ones, and faces near a tool's sweep.
// Units: metres.
#pragma once

#include "geometry/mesh_view.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::test {

// Returns a triangle of about `size` around `centre`: ordinary, needle, sliver, collinear, with two or three equal
// corners.
inline Triangle random_face(Dice& dice, const dvec3& centre, double size) {
  Triangle face{centre + dice.in_cube(size), centre + dice.in_cube(size), centre + dice.in_cube(size)};
  const double thin = dice.log_uniform(1e-14, 1e-1);
  switch (dice.pick(12)) {
    case 0:
      face.c = face.a + thin * (face.c - face.a);
      break;
    case 1:
      face.c = glm::mix(face.a, face.b, dice.uniform(-1.0, 2.0)) + thin * (face.c - face.a);
      break;
    case 2:
      face.c = glm::mix(face.a, face.b, dice.uniform(-1.0, 2.0));
      break;
    case 3:
      face.c = face.a;
      break;
    case 4:
      face.b = face.c = face.a;
      break;
    default:
      break;
  }
  return face;
}

// Returns the corners rounded to float, as in a mesh.
inline Triangle in_float(const Triangle& face) {
  return {dvec3(glm::vec3(face.a)), dvec3(glm::vec3(face.b)), dvec3(glm::vec3(face.c))};
}

// Returns a face that the step may touch: near a point inside the sweep or on its surface, from 0.1 to 30 mm wide.
inline Triangle face_near(Dice& dice, const ToolStep& step) {
  const dvec3 at = point_of_sweep(dice, step) + dice.uniform(0.0, 1.5) * step.radius * dice.direction();
  return in_float(random_face(dice, at, dice.log_uniform(1e-4, 3e-2)));
}

}  // namespace trocar::test
