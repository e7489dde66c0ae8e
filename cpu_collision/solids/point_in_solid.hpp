// Is a point inside a closed surface? By random rays: a ray that leaves the solid crosses its surface an odd number of
// times. A ray that meets a corner, a side or a face edge-on is thrown away and another drawn; every crossing that is
// counted is decided exactly, so the answer is certain for a closed surface. After `most_rays` the winding number
// answers (solid_angle.hpp).
// Source: thesis 4.3, after O'Rourke. We differ: signs are exact, a point on the surface is recognised, a solid turned
// inside out counts as a solid, the ray starts at a float position (a double is rounded, by 8 nm at 0.1 m), and the
// faces that the ray may meet can come from a tree. Units: metres.   Checked against the winding number in
// tests/cpu_collision/solids_point_in_solid_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>

#include "geometry/mesh_view.hpp"

namespace trocar::solids {

struct RayParityParams {
  int most_rays = 16;      // 1    rays drawn before the winding number answers; >= 0
  std::uint32_t seed = 1;  //      the same seed draws the same rays
};

enum class PointPlace : std::uint8_t { Outside, Inside, OnSurface };

struct PointAnswer {
  PointPlace place = PointPlace::Outside;
  int rays = 0;             // drawn; 0: outside the box
  bool by_winding = false;  // no ray was free of degeneracies
};

// Axis-aligned box around all positions. What a caller keeps beside a mesh that does not move.
struct SolidBox {
  glm::vec3 low, high;  // m
};
SolidBox box_of(std::span<const glm::vec3> positions);

// From a point to beyond the surface.
struct ParityRay {
  glm::vec3 from, to;   // m
  glm::dvec3 u, v, d;   // to tell quickly that a face is missed: across (unit), across (unit), along
  double band, length;  // m; rounding of the products above; m^2 along
};

// The ray with number `number`: a direction uniform on the sphere, longer than the box is wide.
ParityRay draw_ray(const glm::vec3& from, const SolidBox& box, std::uint32_t seed, int number);

enum class RayContact : std::uint8_t { Missed, Crossed, Degenerate, StartsOnFace };
RayContact ray_contact(const ParityRay& ray, const glm::vec3& a, const glm::vec3& b, const glm::vec3& c);

// Counts crossings of one ray, fed with faces in any order, each at most once.
class ParityCount {
 public:
  ParityCount(const MeshView& mesh, const ParityRay& ray) : mesh_(mesh), ray_(ray) {}
  // True when the answer is known or the ray is spoilt: further faces change nothing.
  bool add(std::uint32_t face) {
    const glm::uvec3& f = mesh_.faces[face];
    const RayContact contact = ray_contact(ray_, mesh_.positions[f.x], mesh_.positions[f.y], mesh_.positions[f.z]);
    crossings_ += contact == RayContact::Crossed;
    degenerate_ |= contact == RayContact::Degenerate;
    on_surface_ |= contact == RayContact::StartsOnFace;
    return on_surface_;
  }
  int crossings() const { return crossings_; }
  bool degenerate() const { return degenerate_; }
  bool on_surface() const { return on_surface_; }

 private:
  const MeshView& mesh_;
  const ParityRay& ray_;
  int crossings_ = 0;
  bool degenerate_ = false, on_surface_ = false;
};

// candidates(ray, visit) calls visit(face) for every face that the segment ray.from - ray.to may meet, each once, and
// may stop when visit returns true. A tree's segment query fits. Never allocates of itself.
template <class Candidates>
PointAnswer point_in_solid(const MeshView& mesh, const SolidBox& box, const glm::vec3& point,
                           const Candidates& candidates, const RayParityParams& params = {});

// Over all faces: the slow twin.
PointAnswer point_in_solid(const MeshView& mesh, const SolidBox& box, const glm::vec3& point,
                           const RayParityParams& params = {});
// By the winding number alone: inside where it is nearer to an odd number than to an even one, as parity has it. Never
// says OnSurface. Works on open surfaces, where the border between inside and outside closes the holes.
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
    if (count.on_surface()) return {PointPlace::OnSurface, number + 1, false};
    if (count.degenerate()) continue;
    return {count.crossings() % 2 ? PointPlace::Inside : PointPlace::Outside, number + 1, false};
  }
  PointAnswer answer = point_in_solid_by_winding(mesh, glm::dvec3(point));
  answer.rays = params.most_rays;
  return answer;
}

}  // namespace trocar::solids
