// Finds a direction perpendicular to a given one, when any will do.   Tested in tests/geometry/touch_book_test.cpp
#pragma once

#include <glm/glm.hpp>

namespace trocar {

// Returns the cross product with the coordinate axis along which `d` is shortest: never short unless `d` is. Not
// normalised.
inline glm::dvec3 any_perpendicular(const glm::dvec3& d) {
  const glm::dvec3 size = glm::abs(d);
  const glm::dvec3 axis = size.x <= size.y && size.x <= size.z ? glm::dvec3(1, 0, 0)
                          : size.y <= size.z                   ? glm::dvec3(0, 1, 0)
                                                               : glm::dvec3(0, 0, 1);
  return glm::cross(d, axis);
}

}  // namespace trocar
