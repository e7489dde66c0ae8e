#include "deform/cut/slit.hpp"

#include <algorithm>
#include <cmath>

#include "deform/cut/sculpt_steps.hpp"
#include "deform/slit_parts.hpp"

namespace trocar {
namespace {

// A region below this area cuts nothing.
constexpr double kLeastArea = 1e-9;  // m^2
// Lattice nodes outside the organ lie at most this far from it.
constexpr double kReach = 2.0;  // cells
// A vertex of the surface that is at most this far from the plane of the cut counts as on it.
constexpr double kOnPlane = 1.5e-4;  // m
// Skin faces are bisected until none crosses the region in a longer line.
constexpr double kLongestChord = 1.6 / 3.0;  // cells
// The same when the line begins and ends outside the region and is longer inside than this.
constexpr double kShortestPass = 0.001;  // m
// Faces whose sides are shorter at rest are not bisected: a face that hangs across an earlier cut keeps its width in
// the gap, however small its parts.
constexpr float kShortestSide = 2.5e-4f;  // m
// Blades that meet more surface than this are among the walls of many earlier cuts, and only push them: n cuts that
// cross one another would divide one another's walls into about n^3 faces, and the lattice does not resolve the shreds
// between them. A section of convex tissue is at most as long as the outline around it. Of forty cuts at one point of a
// block eight stay below the limit.
constexpr double kMostSurface = 1.5;  // lengths of the outline

bool is_finite(const glm::vec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

bool is_sound(const BladeCut& cut) {
  if (cut.corners < 3 || cut.corners > static_cast<int>(cut.outline.size())) return false;
  if (!is_finite(cut.origin) || !is_finite(cut.along) || !is_finite(cut.across)) return false;
  if (!(glm::length(glm::cross(cut.along, cut.across)) > 0.5f)) return false;
  return std::all_of(cut.outline.begin(), cut.outline.begin() + cut.corners,
                     [](const glm::vec2& q) { return std::isfinite(q.x) && std::isfinite(q.y); });
}

CutPlane make_plane(const BladeCut& cut) {
  CutPlane plane;
  plane.origin = glm::dvec3(cut.origin);
  plane.along = glm::normalize(glm::dvec3(cut.along));
  plane.normal = glm::normalize(glm::cross(plane.along, glm::dvec3(cut.across)));
  plane.across = glm::cross(plane.normal, plane.along);
  plane.centre = glm::dvec2(0.0);
  for (int k = 0; k < cut.corners; ++k) {
    const glm::dvec2 corner(cut.outline[k]);
    if (k > 0 && glm::distance(corner, plane.outline[plane.corners - 1]) < 1e-6) continue;
    if (k + 1 == cut.corners && plane.corners > 0 && glm::distance(corner, plane.outline[0]) < 1e-6) continue;
    plane.outline[plane.corners++] = corner;
    plane.centre += corner;
  }
  plane.centre /= static_cast<double>(std::max(plane.corners, 1));
  return plane;
}

bool is_convex(const CutPlane& plane) {
  double area = 0.0;
  for (int k = 0; k < plane.corners; ++k) {
    const glm::dvec2 a = plane.outline[k] - plane.centre, b = plane.outline[(k + 1) % plane.corners] - plane.centre;
    const double twice = a.x * b.y - a.y * b.x;
    if (!(twice > 0.0)) return false;
    area += 0.5 * twice;
  }
  for (int k = 0; k < plane.corners; ++k)
    for (int other = 0; other < plane.corners; ++other)
      if (plane.inside_of(k, plane.outline[other]) < -1e-6) return false;
  return plane.corners >= 3 && area > kLeastArea;
}

void place(const Sculpture& sculpture, const TissueModel& model, const SteppedTissue& state, Slit& slit) {
  slit.positions.resize(sculpture.rest.size());
  embed_surface(model, state.x, slit.positions);
  slit.side.resize(slit.positions.size());
  for (std::size_t v = 0; v < slit.positions.size(); ++v) {
    const double height = slit.plane.height(glm::dvec3(slit.positions[v]));
    slit.side[v] = static_cast<std::int8_t>((height > kOnPlane) - (height < -kOnPlane));
  }
}

// The line in which a face crosses or touches the plane, m; false when it does not.
bool find_chord(const Slit& slit, const glm::uvec3& f, glm::dvec2 (&chord)[2]) {
  int ends = 0;
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t u = f[i], v = f[(i + 1) % 3];
    const glm::dvec3 a(slit.positions[u]), b(slit.positions[v]);
    if (slit.side[u] == 0 && ends < 2) chord[ends++] = slit.plane.flat(a);
    if (slit.side[u] * slit.side[v] >= 0) continue;
    const double above = std::abs(slit.plane.height(a)), below = std::abs(slit.plane.height(b));
    chord[ends++] = slit.plane.flat(glm::mix(a, b, above / (above + below)));
  }
  return ends == 2;
}

// Returns the length of a line inside the outline, m; negative when it does not meet it.
double length_inside(const CutPlane& plane, const glm::dvec2& from, const glm::dvec2& to) {
  double first = 0.0, last = 1.0;
  for (int k = 0; k < plane.corners; ++k) {
    const double a = plane.inside_of(k, from), b = plane.inside_of(k, to);
    if (a < 0.0 && b < 0.0) return -1.0;
    if (a < 0.0) first = std::max(first, a / (a - b));
    if (b < 0.0) last = std::min(last, a / (a - b));
  }
  return first <= last ? (last - first) * glm::distance(from, to) : -1.0;
}

bool can_be_bisected(const Sculpture& sculpture, std::size_t slot) {
  if (sculpture.faces.kind[slot] != FaceKind::Skin) return false;
  const glm::uvec3& f = sculpture.faces.corners[slot];
  const glm::vec3 &a = sculpture.rest[f.x], &b = sculpture.rest[f.y], &c = sculpture.rest[f.z];
  return std::max({glm::distance(a, b), glm::distance(b, c), glm::distance(c, a)}) > kShortestSide;
}

double outline_length(const CutPlane& plane) {
  double sum = 0.0;
  for (int k = 0; k < plane.corners; ++k)
    sum += glm::distance(plane.outline[k], plane.outline[(k + 1) % plane.corners]);
  return sum;
}

// The faces that cross the region. Walls of an older slit on the same plane do not.
struct Crossed {
  double length = 0.0;    // m, of the lines in which they cross it
  bool any_wide = false;  // some are to be bisected
};

// Finds them. `wide`: [slot] 1 for those to be bisected.
Crossed find_crossed(const Sculpture& sculpture, const Slit& slit, double longest, std::vector<char>& wide) {
  Crossed found;
  wide.assign(sculpture.faces.size(), 0);
  for (std::size_t slot = 0; slot < sculpture.faces.size(); ++slot) {
    glm::dvec2 chord[2];
    if (sculpture.faces.removed[slot] || !find_chord(slit, sculpture.faces.corners[slot], chord)) continue;
    const double inside = length_inside(slit.plane, chord[0], chord[1]);
    if (inside < 0.0) continue;
    const glm::uvec3& f = sculpture.faces.corners[slot];
    const bool crossed = std::min({slit.side[f.x], slit.side[f.y], slit.side[f.z]}) < 0 &&
                         std::max({slit.side[f.x], slit.side[f.y], slit.side[f.z]}) > 0;
    if (crossed) found.length += inside;
    const bool passes = slit.plane.depth(chord[0]) <= 0.0 && slit.plane.depth(chord[1]) <= 0.0;
    wide[slot] = crossed && can_be_bisected(sculpture, slot) &&
                 (glm::distance(chord[0], chord[1]) > longest || (passes && inside > kShortestPass));
    found.any_wide |= wide[slot] != 0;
  }
  return found;
}

}  // namespace

bool in_tissue(const Slit& slit, const glm::dvec2& q) {
  int winding = 0;
  for (const SectionLine& line : slit.section) {
    if ((line.from.y <= q.y) == (line.to.y <= q.y)) continue;
    const glm::dvec2 along = line.to - line.from, to_q = q - line.from;
    const bool up = line.to.y > line.from.y;
    if ((along.x * to_q.y - along.y * to_q.x > 0.0) == up) winding += up ? 1 : -1;
  }
  return winding != 0;
}

namespace {

bool holds(const std::array<glm::dvec2, 3>& triangle, const glm::dvec2& q) {
  int left = 0, right = 0;
  for (int i = 0; i < 3; ++i) {
    const glm::dvec2 side = triangle[(i + 1) % 3] - triangle[i], to_q = q - triangle[i];
    const double turn = side.x * to_q.y - side.y * to_q.x;
    left += turn >= 0.0, right += turn <= 0.0;
  }
  return left == 3 || right == 3;
}

}  // namespace

bool severs(const Slit& slit, const glm::dvec2& q) {
  if (slit.plane.depth(q) < -slit.reach) return false;
  if (in_tissue(slit, q)) return slit.plane.depth(q) >= 0.0;
  if (std::any_of(slit.apart.begin(), slit.apart.end(), [&](const auto& t) { return holds(t, q); })) return true;
  double nearest = INFINITY;
  bool cut = false;
  for (const SectionLine& line : slit.section) {
    const glm::dvec2 along = line.to - line.from;
    const double square = glm::dot(along, along);
    const double t = square > 0.0 ? std::clamp(glm::dot(q - line.from, along) / square, 0.0, 1.0) : 0.0;
    const glm::dvec2 gap = q - line.from - t * along;
    if (const double d = glm::dot(gap, gap); d < nearest) nearest = d, cut = line.cut;
  }
  return cut;
}

bool severs(const Slit& slit, const glm::vec3& a, int side_a, const glm::vec3& b, int side_b) {
  if (side_a == 0 || side_b == 0 || side_a == side_b) return false;
  const double above = std::abs(slit.plane.height(glm::dvec3(a))), below = std::abs(slit.plane.height(glm::dvec3(b)));
  const double t = above + below > 0.0 ? above / (above + below) : 0.5;
  return severs(slit, slit.plane.flat(glm::mix(glm::dvec3(a), glm::dvec3(b), t)));
}

const SculptChange& snip(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const BladeCut& cut) {
  begin_change(sculpture);
  if (!is_sound(cut)) return sculpture.change;
  Slit slit;
  slit.plane = make_plane(cut);
  slit.reach = kReach * model.lattice.spacing;
  if (!is_convex(slit.plane)) return sculpture.change;
  const double longest = kLongestChord * model.lattice.spacing;
  std::vector<char> wide;
  place(sculpture, model, state, slit);
  Crossed crossed = find_crossed(sculpture, slit, longest, wide);
  if (crossed.length > kMostSurface * outline_length(slit.plane)) return sculpture.change;
  while (crossed.any_wide) {
    bisect_skin(sculpture, model, wide);
    place(sculpture, model, state, slit);
    crossed = find_crossed(sculpture, slit, longest, wide);
  }
  if (split_skin(sculpture, model, slit)) {
    add_slit_walls(sculpture, model, state, slit);
    divide_lattice(sculpture, model, state, slit);
    release_loose(sculpture, model);
    carry_sides(sculpture, model, state, slit);
  }
  note_edges(sculpture);
  settle(sculpture.faces, sculpture.change.faces);
  sculpture.change.new_vertices = static_cast<std::uint32_t>(sculpture.rest.size()) - sculpture.change.first_vertex;
  return sculpture.change;
}

}  // namespace trocar
