#include "mesh/self_crossing.hpp"

#include <algorithm>

#include "geometry/exact_sign.hpp"
#include "mesh/exact_sign.hpp"
#include "mesh/face_tree.hpp"

namespace trocar {
namespace {

using Corners = glm::vec3[3];

// Least height of a face with area, as a fraction of its longest side. Slivers of real organs and instruments,
// flattened by a program and by rounding, lie below it. Only the face's own sides count, so the result does not depend
// on the face's distance from the origin, except for the rounding of its stored corners.
constexpr double kLeastHeight = 1e-5;

// Returns whether the segment meets the triangle. side_p, side_q: the sides of the triangle's plane on which the ends
// lie.
bool segment_meets(const glm::vec3& p, const glm::vec3& q, int side_p, int side_q, const Corners& t) {
  if (side_p * side_q > 0) return false;
  if (side_p == 0 && side_q == 0) return meets_in_plane(p, q, t, projection_axis(t[0], t[1], t[2]));
  const int ab = exact_orientation(p, q, t[0], t[1]), bc = exact_orientation(p, q, t[1], t[2]),
            ca = exact_orientation(p, q, t[2], t[0]);
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

struct Sides {
  int of[3];
  bool apart() const { return of[0] != 0 && of[0] == of[1] && of[1] == of[2]; }
};

Sides sides_of(const Corners& points, const Corners& plane) {
  Sides sides{};
  for (int i = 0; i < 3; ++i) sides.of[i] = exact_orientation(plane[0], plane[1], plane[2], points[i]);
  return sides;
}

// Tests every edge of each triangle against the other.
bool strangers_cross(const Corners& s, const Corners& t) {
  const Sides of_t = sides_of(t, s);
  if (of_t.apart()) return false;
  const Sides of_s = sides_of(s, t);
  if (of_s.apart()) return false;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    if (segment_meets(t[i], t[j], of_t.of[i], of_t.of[j], s)) return true;
    if (segment_meets(s[i], s[j], of_s.of[i], of_s.of[j], t)) return true;
  }
  return false;
}

// Tests two triangles with one common corner, s[0] = t[0]. If they share more than the corner, the common part leaves
// one triangle through the edge opposite to the corner.
bool corner_neighbours_cross(const Corners& s, const Corners& t) {
  const Sides of_t = sides_of(t, s);
  if (of_t.of[1] * of_t.of[2] > 0) return false;
  const Sides of_s = sides_of(s, t);
  if (of_s.of[1] * of_s.of[2] > 0) return false;
  return segment_meets(t[1], t[2], of_t.of[1], of_t.of[2], s) || segment_meets(s[1], s[2], of_s.of[1], of_s.of[2], t);
}

// Tests two triangles with a common edge, s[0] = t[0] and s[1] = t[1]. They overlap only when they are folded flat onto
// each other.
bool edge_neighbours_cross(const Corners& s, const Corners& t) {
  if (exact_orientation(s[0], s[1], s[2], t[2]) != 0) return false;
  const int axis = projection_axis(s[0], s[1], s[2]);
  const glm::dvec2 a = without(s[0], axis), b = without(s[1], axis);
  return planar::side_of_line(a, b, without(s[2], axis)) == planar::side_of_line(a, b, without(t[2], axis));
}

}  // namespace

bool has_area(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c) {
  const glm::dvec3 ab = glm::dvec3(b) - glm::dvec3(a), bc = glm::dvec3(c) - glm::dvec3(b),
                   ca = glm::dvec3(a) - glm::dvec3(c);
  const double longest = std::max({glm::length(ab), glm::length(bc), glm::length(ca)});
  return glm::length(glm::cross(ab, ca)) > kLeastHeight * longest * longest;
}

Contact contact_of(const glm::vec3 (&first)[3], const glm::vec3 (&second)[3]) {
  Corners s = {first[0], first[1], first[2]}, t = {second[0], second[1], second[2]};
  int common = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = common; j < 3; ++j) {
      if (s[i] != t[j]) continue;
      std::swap(s[i], s[common]);
      std::swap(t[j], t[common]);
      ++common;
      break;
    }
  }
  if (common == 0) return strangers_cross(s, t) ? Contact::Crossing : Contact::None;
  const bool folded = common == 1 ? corner_neighbours_cross(s, t) : common == 2 && edge_neighbours_cross(s, t);
  return folded ? Contact::Folded : Contact::None;
}

SelfCrossings self_crossings(const MeshView& mesh, std::size_t listed) {
  SelfCrossings result;
  if (mesh.faces.empty()) return result;
  std::vector<bool> flat(mesh.faces.size());
  const auto corner = [&mesh](std::uint32_t face, int c) { return mesh.positions[mesh.faces[face][c]]; };
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) flat[f] = !has_area(corner(f, 0), corner(f, 1), corner(f, 2));
  for_each_overlapping_pair(build_face_tree(mesh), [&](std::uint32_t f, std::uint32_t g) {
    if (flat[f] || flat[g]) return;
    const Corners s = {corner(f, 0), corner(f, 1), corner(f, 2)}, t = {corner(g, 0), corner(g, 1), corner(g, 2)};
    const Contact contact = contact_of(s, t);
    if (contact == Contact::None) return;
    contact == Contact::Crossing ? ++result.crossing : ++result.folded;
    result.pairs.emplace_back(f, g);
  });
  std::sort(result.pairs.begin(), result.pairs.end());
  result.pairs.resize(std::min(listed, result.pairs.size()));
  return result;
}

}  // namespace trocar
