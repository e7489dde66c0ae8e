#include "sim/link/registration.hpp"

#include <cmath>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

constexpr double kHalfTurnBelow = 1e-6;  // the sine of an angle is too small to give the axis

double rounded(double value, double per_unit) { return std::round(value * per_unit) / per_unit; }

// Rodrigues' formula.
glm::dmat3 rotation_of(const glm::dvec3& turn_deg) {
  const double angle = glm::radians(glm::length(turn_deg));
  if (!(angle > 0.0)) return glm::dmat3(1.0);
  const glm::dvec3 axis = turn_deg / glm::length(turn_deg);
  const double sine = elementary::sin(angle), cosine = elementary::cos(angle);
  const glm::dmat3 across(glm::dvec3(0.0, axis.z, -axis.y), glm::dvec3(-axis.z, 0.0, axis.x),
                          glm::dvec3(axis.y, -axis.x, 0.0));
  return cosine * glm::dmat3(1.0) + sine * across + (1.0 - cosine) * glm::outerProduct(axis, axis);
}

glm::dvec3 turn_of(const glm::dmat3& rotation) {
  const glm::dvec3 twice_sine(rotation[1][2] - rotation[2][1], rotation[2][0] - rotation[0][2],
                              rotation[0][1] - rotation[1][0]);
  const double twice_cosine = rotation[0][0] + rotation[1][1] + rotation[2][2] - 1.0;
  const double size = glm::length(twice_sine);
  const double angle = glm::degrees(elementary::atan2(size, twice_cosine));
  if (size > kHalfTurnBelow) return angle / size * twice_sine;
  if (twice_cosine > 0.0) return glm::dvec3(0.0);
  // Half a turn: R = 2 a a^T - 1, so the longest column of R + 1 is along the axis.
  const glm::dmat3 outer = rotation + glm::dmat3(1.0);
  glm::dvec3 axis = outer[0];
  for (int column = 1; column < 3; ++column)
    if (glm::length(outer[column]) > glm::length(axis)) axis = outer[column];
  return 180.0 * glm::normalize(axis);
}

}  // namespace

glm::dmat4 matrix_of(const Registration& registration) {
  glm::dmat4 matrix(rotation_of(registration.turn_deg));
  matrix[3] = glm::dvec4(registration.move, 1.0);
  return matrix;
}

Registration registration_between(const glm::dmat4& sent, const glm::dmat4& wanted) {
  const glm::dmat3 rotation = glm::dmat3(wanted) * glm::transpose(glm::dmat3(sent));
  Registration found;
  for (int k = 0; k < 3; ++k) found.turn_deg[k] = rounded(turn_of(rotation)[k], 1e3);
  // The rounded rotation decides where the tip goes.
  const glm::dvec3 tip = rotation_of(found.turn_deg) * glm::dvec3(sent[3]);
  for (int k = 0; k < 3; ++k) found.move[k] = rounded(1e3 * (wanted[3][k] - tip[k]), 1e3) * 1e-3;
  return found;
}

}  // namespace trocar
