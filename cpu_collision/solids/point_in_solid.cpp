#include "cpu_collision/solids/point_in_solid.hpp"

#include <algorithm>
#include <limits>

#include "geometry/frame.hpp"
#include "geometry/refine.hpp"
#include "geometry/units.hpp"
#include "mesh/exact_sign.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;

// Computes SplitMix64. The standard distributions differ between libraries; this generator does not.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

double unit_number(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

dvec3 random_direction(std::uint32_t seed, int number) {
  const std::uint64_t first = mixed((std::uint64_t{seed} << 32) ^ static_cast<std::uint64_t>(number));
  const double z = 2.0 * unit_number(first) - 1.0, turn = kFullTurn * unit_number(mixed(first));
  const double across = std::sqrt(std::max(0.0, 1.0 - z * z));
  return {across * elementary::cos(turn), across * elementary::sin(turn), z};
}

bool all_beyond(double a, double b, double c, double limit) { return a > limit && b > limit && c > limit; }

// Rounds to float. Not inlined: where the result is converted back to double in the same function, GCC 12 vectorises
// both conversions and drops the rounding.
[[gnu::noinline]] vec3 rounded(const dvec3& point) { return vec3(point); }

}  // namespace

SolidBox box_of(std::span<const vec3> positions) {
  SolidBox box{vec3(INFINITY), vec3(-INFINITY)};
  for (const vec3& p : positions) box.low = glm::min(box.low, p), box.high = glm::max(box.high, p);
  return box;
}

ParityRay draw_ray(const vec3& from, const SolidBox& box, std::uint32_t seed, int number) {
  // Longer than the diagonal by more than the rounding of the end moves it.
  const double length = 1.5 * glm::distance(dvec3(box.low), dvec3(box.high)) + 1e-30;
  const vec3 to = rounded(dvec3(from) + length * random_direction(seed, number));
  const dvec3 d = dvec3(to) - dvec3(from);
  const dvec3 u = glm::normalize(any_perpendicular(d)), v = glm::normalize(glm::cross(d, u));
  return {from, to, u, v, d, 1e-13 * length, glm::dot(d, d)};
}

RayContact ray_contact(const ParityRay& ray, const vec3& a, const vec3& b, const vec3& c) {
  const dvec3 from(ray.from), pa = dvec3(a) - from, pb = dvec3(b) - from, pc = dvec3(c) - from;
  const double ua = glm::dot(ray.u, pa), ub = glm::dot(ray.u, pb), uc = glm::dot(ray.u, pc);
  if (all_beyond(ua, ub, uc, ray.band) || all_beyond(-ua, -ub, -uc, ray.band)) return RayContact::Missed;
  const double va = glm::dot(ray.v, pa), vb = glm::dot(ray.v, pb), vc = glm::dot(ray.v, pc);
  if (all_beyond(va, vb, vc, ray.band) || all_beyond(-va, -vb, -vc, ray.band)) return RayContact::Missed;
  const double da = glm::dot(ray.d, pa), db = glm::dot(ray.d, pb), dc = glm::dot(ray.d, pc);
  if (all_beyond(-da, -db, -dc, 1e-13 * ray.length)) return RayContact::Missed;

  const FloatTriangle face{a, b, c};
  switch (exact_edge_contact(ray.from, ray.to, face)) {
    case EdgeContact::Apart:
      return RayContact::Missed;
    case EdgeContact::Crosses:
      return RayContact::Crossed;
    case EdgeContact::EndOn:  // the far end lies outside the box
      return RayContact::StartsOnFace;
    case EdgeContact::Border:
      return RayContact::Degenerate;
    case EdgeContact::InPlane:
      break;
  }
  return exactly_on(ray.from, face) ? RayContact::StartsOnFace : RayContact::Degenerate;
}

PointAnswer point_in_solid(const MeshView& mesh, const SolidBox& box, const vec3& point,
                           const RayParityParams& params) {
  const auto all_faces = [&mesh](const ParityRay&, const auto& visit) {
    for (std::uint32_t face = 0; face < mesh.faces.size(); ++face) {
      if (visit(face)) return;
    }
  };
  return point_in_solid(mesh, box, point, all_faces, params);
}

PointAnswer point_in_solid_by_winding(const MeshView& mesh, const dvec3& point) {
  const double winding = std::abs(winding_number(mesh, point));
  const bool odd = std::lround(winding) % 2 != 0;
  return {odd ? PointLocation::Inside : PointLocation::Outside, 0, true};
}

namespace {

using glm::dvec3;

bool finite(const dvec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

TipDepth nowhere() {
  TipDepth answer;
  answer.depth = -std::numeric_limits<double>::infinity();
  return answer;
}

dvec3 face_normal(const MeshView& mesh, FaceId face) {
  const Triangle t = triangle_of(mesh.positions, mesh.faces[index(face)]);
  const dvec3 normal = glm::cross(t.b - t.a, t.c - t.a);
  const double length = glm::length(normal);
  return length > 0.0 ? normal / length : dvec3(0.0);
}

TipDepth answer_of(const MeshView& mesh, const dvec3& tip, const PointAnswer& answer, const SurfacePoint& nearest) {
  const bool inside = answer.location == PointLocation::Inside;
  const double sign = inside ? 1.0 : -1.0;
  const dvec3 out =
      nearest.distance > 0.0 ? sign / nearest.distance * (nearest.point - tip) : face_normal(mesh, nearest.face);
  return {answer.location, sign * nearest.distance, nearest.face, nearest.point, out, answer.by_winding};
}

}  // namespace

TipDepth tip_depth(const MeshView& mesh, const SolidBox& box, const dvec3& tip) {
  if (!finite(tip)) return nowhere();
  SurfacePoint nearest{};
  nearest.distance = std::numeric_limits<double>::infinity();
  for (std::uint32_t face = 0; face < mesh.faces.size(); ++face) {
    const ClosestPoints points = closest_segment_triangle(tip, tip, triangle_of(mesh.positions, mesh.faces[face]));
    if (points.distance < nearest.distance) nearest = {FaceId(face), points.on_second, points.distance};
  }
  return answer_of(mesh, tip, point_in_solid(mesh, box, glm::vec3(tip)), nearest);
}

TipDepth tip_depth(SurfaceTree& tree, const MeshView& mesh, const SolidBox& box, const dvec3& tip) {
  if (!finite(tip)) return nowhere();
  const auto nearest = tree.closest(tip, std::numeric_limits<double>::infinity());
  if (!nearest) return nowhere();
  const auto candidates = [&tree](const ParityRay& ray, const auto& visit) {
    for (const FaceId face : tree.along(dvec3(ray.from), dvec3(ray.to))) {
      if (visit(index(face))) return;
    }
  };
  return answer_of(mesh, tip, point_in_solid(mesh, box, glm::vec3(tip), candidates), *nearest);
}

}  // namespace trocar::solids
