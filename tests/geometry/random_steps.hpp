// Makes random tool steps for property tests: the whole range of a laparoscopic tool, and many steps around every case
// boundary. Units: metres.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <glm/glm.hpp>
#include <numbers>
#include <random>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::test {

using glm::dvec3;

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  double log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  // By the method of Lemire, ACM Trans. Model. Comput. Simul. 29, 2019, and not by the library's: the numbers are the
  // same with every library.
  int pick(int count) {
    const auto range = static_cast<std::uint32_t>(count);
    const std::uint32_t threshold = (0u - range) % range;
    std::uint64_t product;
    do product = (engine_() & 0xffffffffu) * std::uint64_t{range};
    while (static_cast<std::uint32_t>(product) < threshold);
    return static_cast<int>(product >> 32);
  }
  dvec3 in_cube(double half) { return {uniform(-half, half), uniform(-half, half), uniform(-half, half)}; }

  dvec3 direction() {
    for (;;) {
      const dvec3 at = in_cube(1.0);
      const double length = glm::length(at);
      if (length > 0.1 && length <= 1.0) return at / length;
    }
  }

  // Returns a unit direction perpendicular to d.
  dvec3 across(const dvec3& d) {
    for (;;) {
      const dvec3 side = glm::cross(d, direction());
      if (glm::length(side) > 0.1) return glm::normalize(side);
    }
  }

  // Includes directions along the world axes, where the upright direction of a camera changes.
  dvec3 shaft_direction() {
    dvec3 axis(0.0);
    switch (pick(8)) {
      case 0:
        axis[pick(3)] = pick(2) ? 1.0 : -1.0;
        return axis;
      case 1:
        axis.y = pick(2) ? 1.0 : -1.0;
        return glm::normalize(axis + log_uniform(1e-8, 1e-1) * direction());
      default:
        return direction();
    }
  }

 private:
  std::mt19937 engine_;
};

// Returns the step from an arm of length `before` to one of length `after` at an angle in radians, about the pivot.
inline ToolStep step_with(Dice& dice, const dvec3& pivot, double before, double after, double angle, double radius) {
  const dvec3 d = dice.shaft_direction(), side = dice.across(d);
  return {pivot, pivot + before * d, pivot + after * (std::cos(angle) * d + std::sin(angle) * side), radius};
}

// Returns a step of any kind: angles over all scales, arms from half a millimetre to 35 cm.
inline ToolStep random_step(Dice& dice) {
  const double before = dice.log_uniform(5e-4, 0.35), radius = dice.log_uniform(2e-4, 0.015);
  const double after = dice.pick(2) ? dice.log_uniform(5e-4, 0.35) : before * dice.uniform(0.8, 1.2);
  const double angle = dice.pick(2) ? dice.uniform(0.0, std::numbers::pi) : dice.log_uniform(1e-7, 1.0);
  return step_with(dice, dice.in_cube(0.3), before, after, angle, radius);
}

// Returns the volume of a random step: at rest, swept by the paper's cover or by capsules.
inline ToolVolume random_volume(Dice& dice) {
  const ToolStep step = random_step(dice);
  const auto which = dice.pick(3);
  if (which == 0) return static_volume({step.pivot, step.tip_after, step.radius});
  if (which == 1) return swept_volume(step, Cover::Paper);
  return swept_volume(step, Cover::Capsule);
}

// Steps at and around every case boundary: angles near 0, 1e-4, 2 and pi; motion near 0 and two radii; retraction,
// insertion, exact ties, the tip behind the trocar, both tips on one line through the pivot.
inline std::vector<ToolStep> switch_steps(Dice& dice) {
  std::vector<double> angles;
  for (const double middle : {0.0, 1e-4, 2.0, std::numbers::pi})
    for (const double off : {0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 5e-5, 1e-3, 1e-2}) {
      angles.push_back(middle + off);
      angles.push_back(std::abs(middle - off));
    }
  std::vector<ToolStep> steps;
  for (const double angle : angles)
    for (const double ratio :
         {1.0, 1.0 + 1e-15, 1.0 - 1e-12, 1.0 + 1e-9, 1.0 + 1e-6, 0.999, 1.001, 0.5, 2.0, 0.01, 50.0})
      for (const double before : {0.002, 0.02, 0.2}) {
        if (before * ratio > 0.5) continue;
        for (const double radius : {0.0005, 0.0025, 0.01})
          steps.push_back(step_with(dice, dice.in_cube(0.3), before, before * ratio, angle, radius));
      }
  // The tip moves almost exactly two radii, or hardly at all, in any direction.
  for (const double share : {0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1.0 - 1e-3, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 1.0 + 1e-3})
    for (int repeat = 0; repeat < 200; ++repeat) {
      const double radius = dice.log_uniform(2e-4, 0.015);
      ToolStep step = step_with(dice, dice.in_cube(0.3), dice.log_uniform(1e-3, 0.3), 1.0, 0.0, radius);
      step.tip_after = step.tip_before + share * 2.0 * radius * dice.direction();
      if (step_fault(step).empty()) steps.push_back(step);
    }
  return steps;
}

// Returns a point within the radius of the swept triangle; often on the outer surface, at a corner or a side.
inline dvec3 point_of_sweep(Dice& dice, const ToolStep& step) {
  double u = dice.uniform(0.0, 1.0), v = dice.uniform(0.0, 1.0);
  if (u + v > 1.0) u = 1.0 - u, v = 1.0 - v;
  const auto kind = dice.pick(6);
  if (kind == 0) u = dice.pick(2), v = u > 0.5 ? 0.0 : dice.pick(2);
  if (kind == 1) u = 0.0;
  if (kind == 2) v = 1.0 - u;
  const double reach = dice.pick(3) ? step.radius : step.radius * std::cbrt(dice.uniform(0.0, 1.0));
  return step.pivot + u * (step.tip_before - step.pivot) + v * (step.tip_after - step.pivot) + reach * dice.direction();
}

// Makes random triangles for property tests: ordinary, thin and degenerate ones, and faces near a tool's sweep.
// Units: metres.

// Returns a triangle of about `size` around `centre`: ordinary, needle, sliver, collinear, with two or three equal
// corners.
inline Triangle random_face(Dice& dice, const dvec3& centre, double size) {
  Triangle face{centre + dice.in_cube(size), centre + dice.in_cube(size), centre + dice.in_cube(size)};
  const double thin = dice.log_uniform(1e-14, 1e-1);
  const auto kind = dice.pick(12);
  if (kind == 0) face.c = face.a + thin * (face.c - face.a);
  if (kind == 1) face.c = glm::mix(face.a, face.b, dice.uniform(-1.0, 2.0)) + thin * (face.c - face.a);
  if (kind == 2) face.c = glm::mix(face.a, face.b, dice.uniform(-1.0, 2.0));
  if (kind == 3) face.c = face.a;
  if (kind == 4) face.b = face.c = face.a;
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

// Changes the faces of a mesh at random, as TouchQuery::change_faces() allows: for property tests. Units: metres.

// Removes the marked faces from `mesh` and returns their numbers.
inline std::vector<FaceId> remove_marked(TriangleMesh& mesh, const std::vector<char>& marked) {
  std::vector<FaceId> removed;
  std::size_t kept = 0;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f)
    if (f < marked.size() && marked[f])
      removed.push_back(FaceId{f});
    else
      mesh.faces[kept++] = mesh.faces[f];
  mesh.faces.resize(kept);
  return removed;
}

// Marks the faces with a corner within `radius` of `centre`.
inline std::vector<char> faces_within(const TriangleMesh& mesh, const glm::vec3& centre, float radius) {
  std::vector<char> marked(mesh.faces.size(), 0);
  for (std::size_t f = 0; f < mesh.faces.size(); ++f)
    for (int k = 0; k < 3; ++k) marked[f] |= glm::distance(mesh.positions[mesh.faces[f][k]], centre) <= radius;
  return marked;
}

// Replaces a crater of faces by faces between its rim and new vertices below it, as a burn does.
inline std::vector<FaceId> burn_crater(Dice& dice, TriangleMesh& mesh, const glm::vec3& centre, float radius) {
  const std::vector<char> marked = faces_within(mesh, centre, radius);
  std::vector<std::uint32_t> rim;
  for (std::size_t f = 0; f < mesh.faces.size(); ++f)
    if (marked[f]) rim.insert(rim.end(), {mesh.faces[f].x, mesh.faces[f].y, mesh.faces[f].z});
  std::vector<FaceId> removed = remove_marked(mesh, marked);
  if (rim.empty()) return removed;
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  const int walls = 1 + dice.pick(6);
  for (int k = 0; k < walls; ++k) mesh.positions.push_back(centre + glm::vec3(dice.in_cube(double(radius))));
  for (int k = 0; k < 4 * walls; ++k) {
    const auto old = rim[static_cast<std::size_t>(dice.pick(static_cast<int>(rim.size())))];
    const auto one = first + static_cast<std::uint32_t>(dice.pick(walls));
    const auto two = dice.pick(3) ? rim[static_cast<std::size_t>(dice.pick(static_cast<int>(rim.size())))]
                                  : first + static_cast<std::uint32_t>(dice.pick(walls));
    mesh.faces.push_back({old, one, two});
  }
  return removed;
}

// Splits faces into three at a new vertex, as the refinement of the skin does.
inline std::vector<FaceId> split_faces(Dice& dice, TriangleMesh& mesh, int count) {
  std::vector<char> marked(mesh.faces.size(), 0);
  std::vector<glm::uvec3> added;
  for (int k = 0; k < count && !mesh.faces.empty(); ++k) {
    const auto f = static_cast<std::size_t>(dice.pick(static_cast<int>(mesh.faces.size())));
    if (marked[f]) continue;
    marked[f] = 1;
    const glm::uvec3 face = mesh.faces[f];
    const auto middle = static_cast<std::uint32_t>(mesh.positions.size());
    mesh.positions.push_back((mesh.positions[face.x] + mesh.positions[face.y] + mesh.positions[face.z]) / 3.f);
    added.insert(added.end(), {{face.x, face.y, middle}, {face.y, face.z, middle}, {face.z, face.x, middle}});
  }
  std::vector<FaceId> removed = remove_marked(mesh, marked);
  mesh.faces.insert(mesh.faces.end(), added.begin(), added.end());
  return removed;
}

// Adds faces between vertices that may lie far apart, faces that use a vertex twice, copies of faces, and vertices
// without a face.
inline void add_strange_faces(Dice& dice, TriangleMesh& mesh) {
  const int vertices = dice.pick(4);
  for (int k = 0; k < vertices; ++k) mesh.positions.push_back(glm::vec3(dice.in_cube(0.1)));
  if (mesh.positions.empty()) return;
  const auto any = [&] { return static_cast<std::uint32_t>(dice.pick(static_cast<int>(mesh.positions.size()))); };
  const int faces = dice.pick(12);
  for (int k = 0; k < faces; ++k)
    if (dice.pick(4) == 0 && !mesh.faces.empty())
      mesh.faces.push_back(mesh.faces[static_cast<std::size_t>(dice.pick(static_cast<int>(mesh.faces.size())))]);
    else
      mesh.faces.push_back({any(), any(), any()});
}

// Makes a random change, from none to the removal of all faces. Returns the removed faces.
inline std::vector<FaceId> random_change(Dice& dice, TriangleMesh& mesh) {
  const auto somewhere = [&] {
    return mesh.positions.empty()
               ? glm::vec3(0.f)
               : mesh.positions[static_cast<std::size_t>(dice.pick(static_cast<int>(mesh.positions.size())))];
  };
  switch (dice.pick(16)) {
    case 0:
      return {};
    case 1:
      return dice.pick(4) ? remove_marked(mesh, faces_within(mesh, somewhere(), 0.04f))
                          : remove_marked(mesh, std::vector<char>(mesh.faces.size(), 1));
    case 2:
    case 3:
      add_strange_faces(dice, mesh);
      return {};
    case 4:
    case 5:
      return remove_marked(mesh, faces_within(mesh, somewhere(), 0.01f));
    case 6:
    case 7:
    case 8:
      return split_faces(dice, mesh, 1 + dice.pick(10));
    default:
      return burn_crater(dice, mesh, somewhere(), float(dice.log_uniform(0.001, 0.02)));
  }
}

}  // namespace trocar::test
