#include "cpu_collision/solids/tip_depth.hpp"

#include <cmath>
#include <limits>

#include "geometry/refine.hpp"

namespace trocar::solids {
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
