// Decides whether a point is inside a closed surface, by random rays: a ray that starts inside crosses the surface an
// odd number of times. A ray that meets a vertex, an edge or a face edge-on is discarded and another is drawn. Every
// counted crossing is decided exactly, so the answer is certain for a closed surface. After `most_rays` the winding
// number
// decides.
// Source: Bergeret 2000, 4.3, after O'Rourke. We differ: signs are exact, a point on the surface is recognised, a solid
// turned inside out counts as a solid, the ray starts at a float position (a double is rounded, by 8 nm at 0.1 m), and
// the candidate faces of the ray can come from a tree. Units: metres. Arrays of a mesh: positions [vertex], faces
// [face].   Checked against the winding number in tests/cpu_collision/point_in_solid_test.cpp
#pragma once

#include <cmath>
#include <cstdint>
#include <glm/glm.hpp>
#include <numbers>
#include <span>

#include "cpu_collision/trees/surface_tree.hpp"
#include "geometry/elementary.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar::solids {

// Computes the solid angle of a triangle seen from a point, and the winding number of a surface: how many times it
// surrounds the point. The winding number is one inside a closed surface and zero outside; an open or damaged surface
// gives numbers between. Source: Bergeret 2000, 4.3; formula of Van Oosterom and Strackee, "The solid angle of a plane
// triangle", 1983; winding number of dirty meshes: Jacobson, Kavan, Sorkine, 2013. We differ: signed throughout, so
// that parts turned inward subtract.

// Returns the solid angle, sr, in [-2 pi, 2 pi]: positive when the triangle turns clockwise seen from the point, as a
// surface does from inside. For a point on the triangle, and for a triangle without area: 0 or one of the two extremes.
inline double solid_angle(const glm::dvec3& point, const Triangle& face) {
  const glm::dvec3 a = face.a - point, b = face.b - point, c = face.c - point;
  const double la = glm::length(a), lb = glm::length(b), lc = glm::length(c);
  const double triple = glm::dot(a, glm::cross(b, c));
  const double under = la * lb * lc + glm::dot(a, b) * lc + glm::dot(b, c) * la + glm::dot(c, a) * lb;
  return 2.0 * elementary::atan2(triple, under);
}

// Returns the winding number, 1, as a sum over all faces: positive inside a surface with outward faces.
inline double winding_number(const MeshView& mesh, const glm::dvec3& point) {
  double sum = 0.0;
  for (const glm::uvec3& face : mesh.faces) sum += solid_angle(point, triangle_of(mesh.positions, face));
  return sum / (4.0 * std::numbers::pi);
}

struct RayParityParams {
  int most_rays = 16;      // 1    rays drawn before the winding number decides; >= 0
  std::uint32_t seed = 1;  //      the same seed draws the same rays
};

enum class PointLocation : std::uint8_t { Outside, Inside, OnSurface };

struct PointAnswer {
  PointLocation location = PointLocation::Outside;
  int rays = 0;             // rays drawn; 0: outside the box, or most_rays is 0
  bool by_winding = false;  // the winding number decided
};

// An axis-aligned box around all positions. A caller whose mesh does not move computes this box once and stores it.
struct SolidBox {
  glm::vec3 low, high;  // m
};
SolidBox box_of(std::span<const glm::vec3> positions);  // low > high without positions

// A segment from the point to beyond the surface.
struct ParityRay {
  glm::vec3 from, to;   // m
  glm::dvec3 u, v, d;   // for a quick rejection of faces: u and v across (unit), d along (to - from)
  double band, length;  // band: m, rounding of the products with u and v; length: m^2, d . d
};

// Returns ray number `number`, in a uniformly distributed direction, 1.5 times as long as the box diagonal.
ParityRay draw_ray(const glm::vec3& from, const SolidBox& box, std::uint32_t seed, int number);

enum class RayContact : std::uint8_t { Missed, Crossed, Degenerate, StartsOnFace };
// Decides exactly how the ray's segment meets the closed triangle a, b, c (m). Degenerate: at its border or edge-on.
RayContact ray_contact(const ParityRay& ray, const glm::vec3& a, const glm::vec3& b, const glm::vec3& c);

// Counts the crossings of one ray, given faces in any order, each at most once.
class ParityCount {
 public:
  // Both must outlive the count.
  ParityCount(const MeshView& mesh, const ParityRay& ray) : mesh_(mesh), ray_(ray) {}
  // Returns true once the point is known to lie on the surface: further faces cannot change the answer. A degenerate
  // contact does not stop the count, since a later face may contain the point.
  bool add(std::uint32_t face) {
    const glm::uvec3& f = mesh_.faces[face];
    const RayContact contact = ray_contact(ray_, mesh_.positions[f.x], mesh_.positions[f.y], mesh_.positions[f.z]);
    crossings_ += contact == RayContact::Crossed;
    degenerate_ |= contact == RayContact::Degenerate;
    on_surface_ |= contact == RayContact::StartsOnFace;
    return on_surface_;
  }
  int crossings() const { return crossings_; }     // of the faces added so far
  bool degenerate() const { return degenerate_; }  // a contact was: draw another ray
  bool on_surface() const { return on_surface_; }  // the point is on a face

 private:
  const MeshView& mesh_;
  const ParityRay& ray_;
  int crossings_ = 0;
  bool degenerate_ = false, on_surface_ = false;
};

// candidates(ray, visit) calls visit(face) for every face that the segment ray.from - ray.to may meet, each once, and
// may stop when visit returns true; a tree's segment query fits. Allocates nothing itself.
template <class Candidates>
PointAnswer point_in_solid(const MeshView& mesh, const SolidBox& box, const glm::vec3& point,
                           const Candidates& candidates, const RayParityParams& params = {});  // `box`: of all vertices

// Tests all faces: the slow baseline.
PointAnswer point_in_solid(const MeshView& mesh, const SolidBox& box, const glm::vec3& point,
                           const RayParityParams& params = {});
// Decides by the winding number alone: inside where the nearest integer is odd, in agreement with parity. Never returns
// OnSurface. Works on open surfaces, where the border between inside and outside closes the holes.
PointAnswer point_in_solid_by_winding(const MeshView& mesh, const glm::dvec3& point);

template <class Candidates>
PointAnswer point_in_solid(const MeshView& mesh, const SolidBox& box, const glm::vec3& point,
                           const Candidates& candidates, const RayParityParams& params) {
  const bool in_box = glm::all(glm::lessThanEqual(box.low, point)) && glm::all(glm::lessThanEqual(point, box.high));
  if (!in_box) return {};
  for (int number = 0; number < params.most_rays; ++number) {
    const ParityRay ray = draw_ray(point, box, params.seed, number);
    ParityCount count(mesh, ray);
    candidates(ray, [&count](std::uint32_t face) { return count.add(face); });
    if (count.on_surface()) return {PointLocation::OnSurface, number + 1, false};
    if (count.degenerate()) continue;
    return {count.crossings() % 2 ? PointLocation::Inside : PointLocation::Outside, number + 1, false};
  }
  PointAnswer answer = point_in_solid_by_winding(mesh, glm::dvec3(point));
  answer.rays = params.most_rays;
  return answer;
}

// Decides whether the tool's tip is inside the organ, and how deep. The sign comes from ray parity
// (point_in_solid.hpp), the depth from the nearest face. Brute force over all faces, or with a tree
// (cpu_collision/trees) of the same mesh.
struct TipDepth {
  PointLocation location = PointLocation::Outside;
  double depth = 0.0;          // m    to the nearest point of the surface; negative outside
  FaceId face{0};              //      the nearest face
  glm::dvec3 on_surface{0.0};  // m    the nearest point
  glm::dvec3 out{0.0};         // unit, the shortest direction outwards when inside; 0 on a face without area
  bool by_winding = false;     //      the sign comes from the winding number: see PointAnswer
};

// Both functions compute the depth. They need a closed surface with at least one face. A tip that is not finite lies
// outside at depth -infinity. The first function does not allocate; the one with a tree does not allocate after the
// first calls.
TipDepth tip_depth(const MeshView& mesh, const SolidBox& box, const glm::dvec3& tip);
// `tree` must hold the mesh at these positions.
TipDepth tip_depth(SurfaceTree& tree, const MeshView& mesh, const SolidBox& box, const glm::dvec3& tip);

}  // namespace trocar::solids
