#include "deform/rigid/body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"

namespace trocar {
namespace {

using glm::dmat3;
using glm::dvec3;

dmat3 diagonal(const dvec3& d) { return {d.x, 0.0, 0.0, 0.0, d.y, 0.0, 0.0, 0.0, d.z}; }

bool all_finite(const dmat3& m) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (!std::isfinite(m[i][j])) return false;
  return true;
}

// A matrix is positive definite when its leading minors are positive.
bool positive(const dmat3& m) {
  return m[0][0] > 0.0 && m[0][0] * m[1][1] - m[0][1] * m[1][0] > 0.0 && glm::determinant(m) > 0.0;
}

void check(const RigidParams& params) {
  if (!(params.density > 0.0) || !std::isfinite(params.density))
    throw InputError(fmt::format("density is {} kg/m^3; it must be above 0", params.density));
  if (!(params.friction >= 0.0 && params.friction <= 10.0))
    throw InputError(fmt::format("friction is {}; it must be 0 to 10", params.friction));
  if (!(params.restitution >= 0.0 && params.restitution <= 1.0))
    throw InputError(fmt::format("restitution is {}; it must be 0 to 1", params.restitution));
}

}  // namespace

MassProperties mass_of(const MeshView& surface, double density) {
  double volume = 0.0;
  dvec3 first(0.0);
  dmat3 second(0.0);  // integral of x x^T
  for (const glm::uvec3& face : surface.faces) {
    const Triangle t = triangle_of(surface.positions, face);
    const double six = glm::dot(t.a, glm::cross(t.b, t.c));
    const dvec3 sum = t.a + t.b + t.c;
    volume += six / 6.0;
    first += six / 24.0 * sum;
    second += six / 120.0 *
              (glm::outerProduct(t.a, t.a) + glm::outerProduct(t.b, t.b) + glm::outerProduct(t.c, t.c) +
               glm::outerProduct(sum, sum));
  }
  if (!(volume > 0.0) || !std::isfinite(volume))
    throw InputError("the surface of a rigid body encloses no volume; close it, with its faces counter-clockwise");
  const dvec3 centre = first / volume;
  const dmat3 about = second - volume * glm::outerProduct(centre, centre);
  const double trace = about[0][0] + about[1][1] + about[2][2];
  return {density * volume, centre, density * (trace * dmat3(1.0) - about)};
}

MassProperties mass_of_ball(double radius, double density) {
  const double mass = density * (4.0 / 3.0) * 3.14159265358979323846 * radius * radius * radius;
  return {mass, dvec3(0.0), 0.4 * mass * radius * radius * dmat3(1.0)};
}

MassProperties mass_of_box(const dvec3& size, double density) {
  const double mass = density * size.x * size.y * size.z;
  const dvec3 q = size * size;
  return {mass, dvec3(0.0), mass / 12.0 * diagonal({q.y + q.z, q.z + q.x, q.x + q.y})};
}

RigidBody make_body(const RigidParams& params, std::span<const ConvexPiece> pieces, const MassProperties& mass) {
  check(params);
  if (pieces.empty()) throw InputError("a rigid body has no piece; give it one at least");
  RigidBody body{params, {pieces.begin(), pieces.end()}, mass.centre};
  if (!params.fixed) {
    if (!(mass.mass > 0.0) || !std::isfinite(mass.mass))
      throw InputError(fmt::format("a rigid body has a mass of {} kg; it must be above 0", mass.mass));
    if (!all_finite(mass.inertia) || !positive(mass.inertia))
      throw InputError("a rigid body has no moment of inertia about some axis; give it a size in all directions");
    body.mass = mass.mass, body.inertia = mass.inertia;
    body.inverse_mass = 1.0 / mass.mass, body.inverse_inertia = glm::inverse(mass.inertia);
  }
  for (ConvexPiece& piece : body.pieces)
    for (dvec3& corner : piece.corners) {
      corner -= mass.centre;
      body.reach = std::max(body.reach, glm::length(corner) + piece.radius);
    }
  return body;
}

ConvexPiece ball_piece(double radius, const dvec3& at) { return make_piece(std::span(&at, 1), radius); }

ConvexPiece capsule_piece(const dvec3& from, const dvec3& to, double radius) {
  return make_piece(std::array{from, to}, radius);
}

ConvexPiece box_piece(const dvec3& size, double round, const dvec3& at) {
  std::array<dvec3, 8> corners;
  const dvec3 half = glm::max(0.5 * size - round, dvec3(0.0));
  for (int k = 0; k < 8; ++k)
    corners[k] = at + half * dvec3(k & 1 ? 1.0 : -1.0, k & 2 ? 1.0 : -1.0, k & 4 ? 1.0 : -1.0);
  return make_piece(corners, round);
}

}  // namespace trocar
