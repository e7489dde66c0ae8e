// Cuts along a plane region, in the order of this file: splits the skin, makes the walls, divides the lattice, and
// chooses the cells that move the surface and the voxels near the slit. Units: metres.
#include "deform/cut/slit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "deform/cut/boundary_loops.hpp"
#include "deform/cut/sculpt_steps.hpp"
#include "deform/solid/elasticity.hpp"
#include "deform/solid/lattice.hpp"
#include "geometry/disjoint_sets.hpp"

namespace trocar {
namespace {

// The plane of a cut, seen from its normal: coordinates along `along` and `across`.
struct CutPlane {
  glm::dvec3 origin, along, across, normal;  // m, world; unit
  std::array<glm::dvec2, 10> outline;        // m, counter-clockwise
  int corners = 0;
  glm::dvec2 centre;  // m, of the outline's corners

  double height(const glm::dvec3& p) const { return glm::dot(p - origin, normal); }
  glm::dvec2 flat(const glm::dvec3& p) const { return {glm::dot(p - origin, along), glm::dot(p - origin, across)}; }
  glm::dvec3 point(const glm::dvec2& q) const { return origin + q.x * along + q.y * across; }
  // Returns the distance of `q` from side `k` of the outline, m, positive inside.
  double inside_of(int k, const glm::dvec2& q) const {
    const glm::dvec2 a = outline[k], side = outline[(k + 1) % corners] - a;
    return (side.x * (q.y - a.y) - side.y * (q.x - a.x)) / glm::length(side);
  }
  // Returns the least of these distances.
  double depth(const glm::dvec2& q) const {
    double least = INFINITY;
    for (int k = 0; k < corners; ++k) least = std::min(least, inside_of(k, q));
    return least;
  }
};

// A piece of the intersection of the surface with the plane; tissue is on its left. cut: the surface is split here.
struct SectionLine {
  glm::dvec2 from, to;  // m
  bool cut;
};

// A cut in progress.
struct Slit {
  CutPlane plane;
  double reach = 0.0;                // m, nothing is severed beyond this distance from the outline
  std::vector<glm::vec3> positions;  // [vertex] m, world, before the cut
  // [vertex] +1: on the normal's side, -1: on the other; 0: of both
  std::vector<std::int8_t> side;
  std::vector<SectionLine> section;              // where tissue above meets tissue below
  std::vector<std::array<glm::dvec2, 3>> apart;  // m, walls of older slits that lie on the plane
  std::vector<std::uint32_t> twin;               // [vertex] of side +1 on a lip: its twin of side -1; kNoVoxel: none
  std::vector<glm::uvec2> lips;                  // directed edges of the wall of side +1

  std::uint32_t other(std::uint32_t v) const { return v < twin.size() && twin[v] != kNoVoxel ? twin[v] : v; }
};

// Returns whether `q` lies inside the organ: the winding number of the section.
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

bool holds(const std::array<glm::dvec2, 3>& triangle, const glm::dvec2& q) {
  int left = 0, right = 0;
  for (int i = 0; i < 3; ++i) {
    const glm::dvec2 side = triangle[(i + 1) % 3] - triangle[i], to_q = q - triangle[i];
    const double turn = side.x * to_q.y - side.y * to_q.x;
    left += turn >= 0.0, right += turn <= 0.0;
  }
  return left == 3 || right == 3;
}

// Returns whether the blades separate the two sides at `q`. Outside the organ, the nearest line of the section decides:
// lattice nodes may lie outside.
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

// Returns whether the straight connection between two points, on these sides, passes through the slit.
bool severs(const Slit& slit, const glm::vec3& a, int side_a, const glm::vec3& b, int side_b) {
  if (side_a == 0 || side_b == 0 || side_a == side_b) return false;
  const double above = std::abs(slit.plane.height(glm::dvec3(a))), below = std::abs(slit.plane.height(glm::dvec3(b)));
  const double t = above + below > 0.0 ? above / (above + below) : 0.5;
  return severs(slit, slit.plane.flat(glm::mix(glm::dvec3(a), glm::dvec3(b), t)));
}

// Splits the surface along the plane of a cut. First vertices are inserted where edges cross the plane inside the
// outline, and where the slit ends inside a face; then the slit runs along edges. Second, the vertices of the slit are
// doubled: one for the faces above the plane, one for those below. A vertex close to the plane counts as on it, so a
// cut that repeats or continues an older one leaves no slivers; faces on the plane belong to the side of their tissue.

// A vertex on the plane is part of the slit when it lies this deep inside the outline.
constexpr double kInside = 3e-4;  // m
// The end of a slit keeps this fraction of a face's crossing from its edges. It moves along the plane, not off it.
constexpr double kFromEdge = 0.15;  // 1

struct Crossing {
  std::uint32_t u, v;               // u < v
  double t = 0.0;                   // from u to v
  glm::dvec2 at{0.0};               // m, on the plane
  bool cut = false;                 // inside the outline
  std::uint32_t vertex = kNoVoxel;  // where it is cut
};
bool crossing_before(const Crossing& a, const Crossing& b) { return std::tie(a.u, a.v) < std::tie(b.u, b.v); }

// An edge on the plane; net: how many more faces of that side run from u to v than back.
struct PlaneEdge {
  std::uint32_t u, v;  // u < v
  int above, below;    // 1
};

enum class Side : std::uint8_t { Above, Below, Both };

class Splitter {
 public:
  Splitter(Sculpture& sculpture, TissueModel& model, Slit& slit) : s_(sculpture), model_(model), slit_(slit) {}

  bool split() {
    role_.assign(slit_.side.size(), Role::Other);
    for (std::uint32_t v = 0; v < role_.size(); ++v)
      if (slit_.side[v] == 0 && slit_.plane.depth(flat(v)) > kInside) role_[v] = Role::Inside;
    find_crossings();
    find_plane_edges();
    if (std::none_of(crossings_.begin(), crossings_.end(), [](const Crossing& c) { return c.cut; }) &&
        std::none_of(edges_.begin(), edges_.end(), [&](const PlaneEdge& e) { return is_cut(e); }))
      return false;
    insert();
    find_plane_edges();
    find_section();
    double_vertices();
    assign_sides();
    return true;
  }

 private:
  // Of vertices on the plane. End: where the slit ends inside a face.
  enum class Role : std::uint8_t { Other, Inside, End };

  glm::dvec3 position(std::uint32_t v) const { return glm::dvec3(slit_.positions[v]); }
  glm::dvec2 flat(std::uint32_t v) const { return slit_.plane.flat(position(v)); }

  Side side_of(const glm::uvec3& f) const {
    bool above = false, below = false;
    for (int i = 0; i < 3; ++i) above |= slit_.side[f[i]] > 0, below |= slit_.side[f[i]] < 0;
    if (above && below) return Side::Both;
    if (above || below) return above ? Side::Above : Side::Below;
    // The tissue is behind a face.
    const glm::dvec3 n = glm::cross(position(f.y) - position(f.x), position(f.z) - position(f.x));
    return glm::dot(n, slit_.plane.normal) < 0.0 ? Side::Above : Side::Below;
  }

  void find_crossings() {
    for (std::size_t slot = 0; slot < s_.faces.size(); ++slot) {
      if (s_.faces.removed[slot]) continue;
      for (int i = 0; i < 3; ++i) {
        const auto [u, v] = std::minmax({s_.faces.corners[slot][i], s_.faces.corners[slot][(i + 1) % 3]});
        if (slit_.side[u] * slit_.side[v] < 0) crossings_.push_back({u, v});
      }
    }
    std::sort(crossings_.begin(), crossings_.end(), crossing_before);
    crossings_.erase(std::unique(crossings_.begin(), crossings_.end(),
                                 [](const Crossing& a, const Crossing& b) { return a.u == b.u && a.v == b.v; }),
                     crossings_.end());
    for (Crossing& c : crossings_) {
      const double a = std::abs(slit_.plane.height(position(c.u))), b = std::abs(slit_.plane.height(position(c.v)));
      c.t = a / (a + b);
      c.at = slit_.plane.flat(glm::mix(position(c.u), position(c.v), c.t));
      c.cut = slit_.plane.depth(c.at) > 0.0;
    }
  }
  Crossing* crossing(std::uint32_t a, std::uint32_t b) {
    return &*std::lower_bound(crossings_.begin(), crossings_.end(), Crossing{std::min(a, b), std::max(a, b)},
                              crossing_before);
  }

  void find_plane_edges() {
    edges_.clear();
    for (std::size_t slot = 0; slot < s_.faces.size(); ++slot) {
      const glm::uvec3& f = s_.faces.corners[slot];
      if (s_.faces.removed[slot] || (slit_.side[f.x] != 0) + (slit_.side[f.y] != 0) + (slit_.side[f.z] != 0) > 1)
        continue;
      const bool above = side_of(f) == Side::Above;
      for (int i = 0; i < 3; ++i) {
        const std::uint32_t u = f[i], v = f[(i + 1) % 3];
        const int net = u < v ? 1 : -1;
        if (slit_.side[u] == 0 && slit_.side[v] == 0)
          edges_.push_back({std::min(u, v), std::max(u, v), above ? net : 0, above ? 0 : net});
      }
    }
    std::sort(edges_.begin(), edges_.end(),
              [](const PlaneEdge& a, const PlaneEdge& b) { return std::tie(a.u, a.v) < std::tie(b.u, b.v); });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < edges_.size();) {
      PlaneEdge sum{edges_[i].u, edges_[i].v, 0, 0};
      for (; i < edges_.size() && edges_[i].u == sum.u && edges_[i].v == sum.v; ++i)
        sum.above += edges_[i].above, sum.below += edges_[i].below;
      if (sum.above != 0) edges_[kept++] = sum;
    }
    edges_.resize(kept);
  }
  bool is_cut(const PlaneEdge& e) const { return role_[e.u] != Role::Other && role_[e.v] != Role::Other; }

  std::uint32_t add(const glm::dvec3& rest, const glm::dvec3& place, Role role, std::uint32_t neighbour) {
    SculptVertex vertex = attach_to_skin(s_, model_.lattice, glm::vec3(rest), s_.vertices[neighbour]);
    vertex.wall = vertex.removed = false;
    slit_.positions.push_back(glm::vec3(place));
    slit_.side.push_back(0);
    role_.push_back(role);
    return add_vertex(s_, model_, glm::vec3(rest), vertex);
  }

  void insert() {
    for (Crossing& c : crossings_)
      if (c.cut)
        c.vertex = add(glm::mix(glm::dvec3(s_.rest[c.u]), glm::dvec3(s_.rest[c.v]), c.t),
                       glm::mix(position(c.u), position(c.v), c.t), Role::Inside, c.u);
    const std::size_t faces = s_.faces.size();
    for (std::size_t slot = 0; slot < faces; ++slot) {
      if (s_.faces.removed[slot] || side_of(s_.faces.corners[slot]) != Side::Both) continue;
      glm::uvec3 f = s_.faces.corners[slot];
      if (slit_.side[f.x] * slit_.side[f.y] * slit_.side[f.z] == 0)
        split_at_corner(slot);
      else
        split_between(slot);
    }
  }

  void add_face(std::uint32_t a, std::uint32_t b, std::uint32_t c) { s_.faces.add(FaceKind::Skin, {a, b, c}); }

  // Removes a face whose pieces follow. They are skin: walls and strips of a burn are rebuilt without regard to slits.
  void release(std::size_t slot) {
    s_.faces.removed[slot] = 1;
    if (s_.faces.kind[slot] == FaceKind::Wall) s_.slit_sides.push_back(s_.faces.side[slot]);
    if (s_.faces.kind[slot] == FaceKind::Skin) return;
    for (int i = 0; i < 3; ++i) {
      SculptVertex& vertex = s_.vertices[s_.faces.corners[slot][i]];
      if (!vertex.wall) continue;
      vertex = attach_to_skin(s_, model_.lattice, s_.rest[s_.faces.corners[slot][i]], vertex);
      vertex.wall = false;
    }
  }

  // Adds the end of a slit that enters a face at `from` and leaves the outline towards `to`.
  std::uint32_t add_end(const glm::dvec3& from, const glm::dvec3& to, const glm::dvec3& rest_from,
                        const glm::dvec3& rest_to, std::uint32_t neighbour) {
    double t = 1.0;
    for (int k = 0; k < slit_.plane.corners; ++k) {
      const double a = slit_.plane.inside_of(k, slit_.plane.flat(from)),
                   b = slit_.plane.inside_of(k, slit_.plane.flat(to));
      if (b < 0.0) t = std::min(t, a / (a - b));
    }
    t = std::clamp(t, kFromEdge, 1.0 - kFromEdge);
    return add(glm::mix(rest_from, rest_to, t), glm::mix(from, to, t), Role::End, neighbour);
  }
  glm::dvec3 place_of(const Crossing& c) const { return glm::mix(position(c.u), position(c.v), c.t); }
  glm::dvec3 rest_of(const Crossing& c) const {
    return glm::mix(glm::dvec3(s_.rest[c.u]), glm::dvec3(s_.rest[c.v]), c.t);
  }

  // A face with two crossed edges.
  void split_between(std::size_t slot) {
    glm::uvec3 f = s_.faces.corners[slot];
    while (slit_.side[f.y] != slit_.side[f.z]) f = {f.y, f.z, f.x};
    const Crossing x = *crossing(f.x, f.y), y = *crossing(f.z, f.x);
    if (!x.cut && !y.cut) return;
    release(slot);
    if (x.cut && y.cut) {
      add_face(f.x, x.vertex, y.vertex);
      if (glm::distance(s_.rest[x.vertex], s_.rest[f.z]) <= glm::distance(s_.rest[y.vertex], s_.rest[f.y])) {
        add_face(x.vertex, f.y, f.z);
        add_face(x.vertex, f.z, y.vertex);
      } else {
        add_face(x.vertex, f.y, y.vertex);
        add_face(y.vertex, f.y, f.z);
      }
    } else if (x.cut) {
      add_fan(f.x, f.y, f.z, x, add_end(place_of(x), place_of(y), rest_of(x), rest_of(y), f.z));
    } else {
      add_fan(f.z, f.x, f.y, y, add_end(place_of(y), place_of(x), rest_of(y), rest_of(x), f.y));
    }
  }
  // The pieces around the end of a slit that crosses the edge a - b.
  void add_fan(std::uint32_t a, std::uint32_t b, std::uint32_t c, const Crossing& x, std::uint32_t end) {
    add_face(a, x.vertex, end);
    add_face(x.vertex, b, end);
    add_face(b, c, end);
    add_face(c, a, end);
  }

  // A face with one corner on the plane and one crossed edge.
  void split_at_corner(std::size_t slot) {
    glm::uvec3 f = s_.faces.corners[slot];
    while (slit_.side[f.x] != 0) f = {f.y, f.z, f.x};
    const Crossing x = *crossing(f.y, f.z);
    const bool corner = role_[f.x] == Role::Inside;
    if (!x.cut && !corner) return;
    release(slot);
    const glm::dvec3 place = position(f.x), rest(s_.rest[f.x]);
    if (x.cut && corner) {
      add_face(f.x, f.y, x.vertex);
      add_face(f.x, x.vertex, f.z);
    } else if (x.cut) {
      add_fan(f.y, f.z, f.x, x, add_end(place_of(x), place, rest_of(x), rest, f.y));
    } else {
      const std::uint32_t end = add_end(place, place_of(x), rest, rest_of(x), f.y);
      add_face(f.x, f.y, end);
      add_face(f.y, f.z, end);
      add_face(f.z, f.x, end);
    }
  }

  // The edges on the plane where tissue above meets tissue below, and the lines of the faces that stay whole.
  void find_section() {
    for (const PlaneEdge& e : edges_)
      slit_.section.push_back(e.above > 0 ? SectionLine{flat(e.u), flat(e.v), is_cut(e)}
                                          : SectionLine{flat(e.v), flat(e.u), is_cut(e)});
    for (std::size_t slot = 0; slot < s_.faces.size(); ++slot) {
      const glm::uvec3& f = s_.faces.corners[slot];
      if (s_.faces.removed[slot]) continue;
      if (slit_.side[f.x] == 0 && slit_.side[f.y] == 0 && slit_.side[f.z] == 0)
        slit_.apart.push_back({flat(f.x), flat(f.y), flat(f.z)});
      if (side_of(f) != Side::Both) continue;
      glm::dvec2 from{0.0}, to{0.0};
      for (int i = 0; i < 3; ++i) {
        const std::uint32_t u = f[i], v = f[(i + 1) % 3];
        // The part above the plane is entered by an edge that rises, and its boundary on the plane ends there.
        if (slit_.side[u] == 0) (slit_.side[v] > 0 ? to : from) = flat(u);
        if (slit_.side[u] * slit_.side[v] < 0) (slit_.side[v] > 0 ? to : from) = crossing(u, v)->at;
      }
      slit_.section.push_back({from, to, false});
    }
  }

  void double_vertices() {
    std::vector<char> kept(role_.size(), 0), on_slit(role_.size(), 0);
    for (const PlaneEdge& e : edges_)
      for (const std::uint32_t v : {e.u, e.v}) (is_cut(e) ? on_slit : kept)[v] = 1;
    slit_.twin.assign(role_.size(), kNoVoxel);
    const auto vertices = static_cast<std::uint32_t>(role_.size());
    for (std::uint32_t v = 0; v < vertices; ++v) {
      if (!on_slit[v] || kept[v] || role_[v] == Role::End) continue;
      slit_.twin[v] = add(glm::dvec3(s_.rest[v]), position(v), Role::Other, v);
      s_.vertices[slit_.twin[v]] = s_.vertices[v];
      model_.embedding[slit_.twin[v]] = model_.embedding[v];
    }
    slit_.twin.resize(role_.size(), kNoVoxel);
    const std::size_t faces = s_.faces.size();
    for (std::size_t slot = 0; slot < faces; ++slot) {
      const glm::uvec3 f = s_.faces.corners[slot];
      const glm::uvec3 other(slit_.other(f.x), slit_.other(f.y), slit_.other(f.z));
      if (s_.faces.removed[slot] || other == f || side_of(f) != Side::Below) continue;
      release(slot);
      add_face(other.x, other.y, other.z);
    }
    for (const PlaneEdge& e : edges_)
      if (is_cut(e))
        for (int i = 0; i < std::abs(e.above); ++i)
          slit_.lips.push_back(e.above > 0 ? glm::uvec2(e.v, e.u) : glm::uvec2(e.u, e.v));
  }

  // A vertex on the plane that only faces of one side use belongs to that side.
  void assign_sides() {
    std::vector<std::uint8_t> used(slit_.side.size(), 0);
    for (std::size_t slot = 0; slot < s_.faces.size(); ++slot) {
      if (s_.faces.removed[slot]) continue;
      const glm::uvec3& f = s_.faces.corners[slot];
      const Side side = side_of(f);
      for (int i = 0; i < 3; ++i) used[f[i]] |= side == Side::Above ? 1 : side == Side::Below ? 2 : 3;
    }
    for (std::size_t v = 0; v < used.size(); ++v)
      if (slit_.side[v] == 0 && used[v] != 3 && used[v] != 0) slit_.side[v] = used[v] == 1 ? 1 : -1;
  }

  Sculpture& s_;
  TissueModel& model_;
  Slit& slit_;
  std::vector<Role> role_;           // [vertex]
  std::vector<Crossing> crossings_;  // ascending
  std::vector<PlaneEdge> edges_;     // where faces of both sides meet
};

// Splits the faces along the plane, within the outline. Returns false when no face is split.
bool split_skin(Sculpture& sculpture, TissueModel& model, Slit& slit) {
  const bool split = Splitter(sculpture, model, slit).split();
  std::sort(sculpture.slit_sides.begin(), sculpture.slit_sides.end());
  sculpture.slit_sides.erase(std::unique(sculpture.slit_sides.begin(), sculpture.slit_sides.end()),
                             sculpture.slit_sides.end());
  return split;
}

// Makes the walls of a slit: the lips and the slit's inner border form loops in the plane, which are filled once for
// each side. The inner border runs along the outline of the cut, through the tissue, from the end of one lip to the
// start of the next; its vertices belong to both sides.

// Distance between vertices of the inner border.
constexpr double kStep = 0.003;  // m
// A border from lip to lip shorter than this has no vertex of its own.
constexpr double kShortest = 0.001;  // m
// The rest position of a point just outside the lattice is extrapolated from cells up to this far away.
constexpr float kBeyond = 0.5f;  // cells

// Rest positions of points in the deformed lattice.
class RestFinder {
 public:
  RestFinder(const TissueModel& model, const SteppedTissue& state) : lattice_(model.lattice), state_(state) {}

  // Finds the rest position of `p` and its cell. Returns false when no cell is near.
  bool find(const glm::vec3& p, glm::vec3& rest, std::uint32_t& cell) const {
    float best = INFINITY;
    for (std::uint32_t c = 0; c < lattice_.cells.size() && best > 0.f; ++c) {
      if (!(lattice_.cells[c].volume_fraction > 0.f) || lattice_.cells[c].divided || !is_near(c, p)) continue;
      std::array<glm::vec3, 8> corners;
      for (int i = 0; i < 8; ++i) corners[i] = state_.x[lattice_.cells[c].node[i]];
      glm::vec3 s;
      if (!find_coordinates(cell_inverse(corners, static_cast<float>(lattice_.spacing)), p, kBeyond, s)) continue;
      const glm::vec3 middle = glm::abs(s - 0.5f) - 0.5f;
      const float outside = std::max({middle.x, middle.y, middle.z, 0.f});
      if (!(outside < best)) continue;
      best = outside, cell = c;
      rest = glm::vec3(lattice_.origin + lattice_.spacing * (glm::dvec3(lattice_.cells[c].at) + glm::dvec3(s)));
    }
    return best < INFINITY;
  }

 private:
  bool is_near(std::uint32_t c, const glm::vec3& p) const {
    glm::vec3 low(INFINITY), high(-INFINITY);
    for (const std::uint32_t node : lattice_.cells[c].node) {
      low = glm::min(low, state_.x[node]);
      high = glm::max(high, state_.x[node]);
    }
    const glm::vec3 margin = kBeyond * (high - low);
    return glm::all(glm::lessThanEqual(low - margin, p)) && glm::all(glm::lessThanEqual(p, high + margin));
  }

  const Lattice& lattice_;
  const SteppedTissue& state_;
};

// Returns a number that increases with the direction of `q` from 0 to 4, as its angle from 0 to 2 pi.
double direction_of(const glm::dvec2& q) {
  const double sum = std::abs(q.x) + std::abs(q.y);
  if (!(sum > 0.0)) return 0.0;
  const double along = q.y / sum;
  return q.x < 0.0 ? 2.0 - along : (along < 0.0 ? 4.0 + along : along);
}

class WallBuilder {
 public:
  WallBuilder(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, Slit& slit)
      : s_(sculpture), model_(model), slit_(slit), rest_(model, state) {}

  void build() {
    for (const glm::uvec2& lip : slit_.lips) add_edge(lip.x, lip.y);
    join_ends();
    std::vector<RimEdge> rim;
    update_rim(rim, edges_);
    const Loops loops = find_loops(rim);
    // The wall of side +1 faces away from the normal: mirrored, its loops run counter-clockwise.
    std::vector<glm::dvec2> points;
    std::vector<char> shared;  // by both sides
    for (const std::uint32_t v : loops.vertex) {
      points.push_back(mirrored(v));
      shared.push_back(slit_.other(v) == v);
    }
    for (const glm::uvec3& t : fill_loops(loops, points, shared)) {
      const glm::uvec3 other(slit_.other(t.z), slit_.other(t.y), slit_.other(t.x));
      // A triangle of the border only encloses nothing with its other side.
      if (other == glm::uvec3(t.z, t.y, t.x)) continue;
      s_.faces.add(FaceKind::Skin, t);
      s_.faces.add(FaceKind::Skin, other);
      s_.change.slit_walls += 2;
    }
  }

 private:
  struct End {
    double direction;  // 0..4
    std::uint32_t vertex;
    bool starts;  // the lip begins here
  };

  glm::dvec2 flat(std::uint32_t v) const { return slit_.plane.flat(glm::dvec3(slit_.positions[v])); }
  glm::dvec2 mirrored(std::uint32_t v) const { return flat(v) * glm::dvec2(1.0, -1.0); }
  void add_edge(std::uint32_t from, std::uint32_t to) {
    edges_.push_back(from < to ? RimEdge{from, to, 1} : RimEdge{to, from, -1});
  }

  // Joins every end of a lip to the next start, clockwise around the outline. Where sides of an older slit coincide,
  // either order of an end and a start closes the loops.
  void join_ends() {
    std::vector<std::pair<std::uint32_t, int>> at;  // vertex, +1: a lip begins, -1: it ends
    for (const glm::uvec2& lip : slit_.lips) at.insert(at.end(), {{lip.x, 1}, {lip.y, -1}});
    std::sort(at.begin(), at.end());
    std::vector<End> ends;
    for (std::size_t i = 0; i < at.size();) {
      const std::uint32_t v = at[i].first;
      int net = 0;
      for (; i < at.size() && at[i].first == v; ++i) net += at[i].second;
      for (int k = 0; k < std::abs(net); ++k) ends.push_back({direction_of(flat(v) - slit_.plane.centre), v, net > 0});
    }
    std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
      return a.direction != b.direction ? a.direction > b.direction : a.vertex < b.vertex;
    });
    std::vector<End> open;  // first in, first out
    for (int round = 0; round < 2; ++round)
      for (End& end : ends) {
        if (end.vertex == kNoVoxel) continue;
        if (end.starts && !open.empty()) {
          add_border(open.front(), end);
          open.erase(open.begin());
          end.vertex = kNoVoxel;
        } else if (!end.starts && round == 0) {
          open.push_back(end);
          end.vertex = kNoVoxel;
        }
      }
  }

  // Adds the border from `from`, clockwise, to `to`.
  void add_border(const End& from, const End& to) {
    const std::vector<glm::dvec2> path = path_between(from, to);
    std::uint32_t last = from.vertex;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const double share = static_cast<double>(i + 1) / static_cast<double>(path.size() + 1);
      const std::uint32_t next = add_inner_vertex(path[i], from.vertex, to.vertex, share);
      add_edge(last, next);
      last = next;
    }
    add_edge(last, to.vertex);
  }

  // The points between the two, none when the outline between them does not pass through tissue.
  std::vector<glm::dvec2> path_between(const End& from, const End& to) const {
    const CutPlane& plane = slit_.plane;
    const auto behind = [&](double direction) {
      return direction <= from.direction ? from.direction - direction : from.direction - direction + 4.0;
    };
    std::vector<std::pair<double, glm::dvec2>> corners;
    for (int k = 0; k < plane.corners; ++k)
      if (const double b = behind(direction_of(plane.outline[k] - plane.centre)); b < behind(to.direction))
        corners.push_back({b, plane.outline[k]});
    std::sort(corners.begin(), corners.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<glm::dvec2> stops{flat(from.vertex)};
    for (const auto& [b, corner] : corners) stops.push_back(corner);
    stops.push_back(flat(to.vertex));
    double length = 0.0;
    for (std::size_t i = 0; i + 1 < stops.size(); ++i) length += glm::distance(stops[i], stops[i + 1]);
    if (length < kShortest) return {};
    return divided(stops);
  }

  std::vector<glm::dvec2> divided(const std::vector<glm::dvec2>& stops) const {
    std::vector<glm::dvec2> path;
    for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
      const double length = glm::distance(stops[i], stops[i + 1]);
      const int parts = std::max(1, static_cast<int>(std::ceil(length / kStep)));
      for (int k = i == 0 ? 1 : 0; k < parts; ++k)
        path.push_back(glm::mix(stops[i], stops[i + 1], static_cast<double>(k) / parts));
    }
    std::erase_if(path, [&](const glm::dvec2& q) {
      return glm::distance(q, stops.front()) < kShortest || glm::distance(q, stops.back()) < kShortest;
    });
    const auto inside =
        std::count_if(path.begin(), path.end(), [&](const glm::dvec2& q) { return in_tissue(slit_, q); });
    return 2 * inside < static_cast<std::ptrdiff_t>(path.size()) ? std::vector<glm::dvec2>{} : path;
  }

  std::uint32_t add_inner_vertex(const glm::dvec2& q, std::uint32_t from, std::uint32_t to, double share) {
    const glm::vec3 place(slit_.plane.point(q));
    glm::vec3 rest = glm::mix(s_.rest[from], s_.rest[to], static_cast<float>(share));
    SculptVertex vertex = s_.vertices[from];
    rest_.find(place, rest, vertex.cell);
    vertex = attach_to_skin(s_, model_.lattice, rest, vertex);
    slit_.positions.push_back(place);
    slit_.side.push_back(0);
    return add_vertex(s_, model_, rest, vertex);
  }

  Sculpture& s_;
  TissueModel& model_;
  Slit& slit_;
  RestFinder rest_;
  std::vector<RimEdge> edges_;
};

// Adds the walls of both sides.
void add_slit_walls(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, Slit& slit) {
  WallBuilder(sculpture, model, state, slit).build();
}

// Divides the lattice along a slit. A spring is cut when its straight line, in the deformed lattice, passes through the
// slit. A cell is divided when its remaining springs do not connect all of its corners: it loses its volume stiffness,
// and nothing is embedded in it any more. A part of the nodes without any whole cell could not carry tissue: its
// springs are kept, so it stays with the other side. The highest frequency of the lattice does not rise: masses stay
// and stiffness only decreases.

struct CutSpring {
  std::size_t entry;  // in TissueModel::stiffness
  glm::uvec2 nodes;   // ascending
};

class Divider {
 public:
  Divider(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const Slit& slit)
      : s_(sculpture), model_(model), state_(state), slit_(slit), severed_before_(sculpture.severed) {}

  void divide() {
    for (const glm::vec3& x : state_.x) side_.push_back(slit_.plane.height(glm::dvec3(x)) < 0.0 ? -1 : 1);
    find_springs();
    do list_severed();
    while (keep_unsupported());
    for (const CutSpring& spring : cut_) model_.stiffness[spring.entry] = 0.f;
    for (std::uint32_t c = 0; c < s_.cells.size(); ++c) {
      if (s_.cells[c].dead || !has_two_sides(c) || is_whole(s_, model_.lattice, c)) continue;
      model_.lattice.cells[c].divided = true;
      model_.bulk[model_.bulk_index[c]] = 0.f;
    }
  }

 private:
  void find_springs() {
    const double reach = 2.0 * model_.lattice.spacing;
    for (const SpringRow& row : model_.spring_rows)
      for (std::uint32_t i = 0; i < row.count; ++i) {
        if (!(model_.stiffness[row.first + i] > 0.f)) continue;
        const std::uint32_t a = row.a + i, b = row.b + i;
        if (side_[a] == side_[b]) continue;
        if (slit_.plane.depth(slit_.plane.flat(glm::dvec3(state_.x[a]))) < -reach) continue;
        if (severs(slit_, state_.x[a], side_[a], state_.x[b], side_[b]))
          cut_.push_back({row.first + i, {std::min(a, b), std::max(a, b)}});
      }
  }

  void list_severed() {
    s_.severed = severed_before_;
    for (const CutSpring& spring : cut_) s_.severed.push_back(spring.nodes);
    std::sort(s_.severed.begin(), s_.severed.end(), pair_before);
  }

  // Keeps the springs of parts without a whole cell. Returns whether there were any.
  bool keep_unsupported() {
    const std::vector<std::uint32_t> part = node_parts(s_, model_.lattice);
    std::vector<char> supported(part.size(), 0);
    for (std::uint32_t c = 0; c < s_.cells.size(); ++c) {
      const LatticeCell& cell = model_.lattice.cells[c];
      if (!s_.cells[c].dead && !supported[part[cell.node[0]]] && is_whole(s_, model_.lattice, c))
        supported[part[cell.node[0]]] = 1;
    }
    const std::size_t cut = cut_.size();
    std::erase_if(cut_, [&](const CutSpring& spring) {
      return !supported[part[spring.nodes.x]] || !supported[part[spring.nodes.y]];
    });
    return cut_.size() != cut;
  }

  bool has_two_sides(std::uint32_t c) const {
    const auto& node = model_.lattice.cells[c].node;
    return std::any_of(node.begin(), node.end(), [&](std::uint32_t n) { return side_[n] != side_[node[0]]; });
  }

  Sculpture& s_;
  TissueModel& model_;
  const SteppedTissue& state_;
  const Slit& slit_;
  const std::vector<glm::uvec2> severed_before_;
  std::vector<std::int8_t> side_;  // [node]
  std::vector<CutSpring> cut_;
};

// Disables springs across the slit and the volumes of divided cells.
void divide_lattice(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const Slit& slit) {
  Divider(sculpture, model, state, slit).divide();
}

// Chooses the whole cells that move the surface and the voxels near slits. Such a cell lies on the same side of every
// slit: it is found by walking along springs that no slit cuts, from the nodes of the cell that carried the point
// before.

// A point is carried by a cell at most this many springs away from the one that carried it before.
constexpr int kMostSteps = 4;
// Vertices up to this distance from a slit may have been embedded in a cell that is now divided.
constexpr double kRange = 4.0;  // cells

bool voxel_before(const glm::uvec2& a, const glm::uvec2& b) { return a.x < b.x; }

// Returns the squared distance of a point from a cell at rest, m^2.
double distance(const Lattice& lattice, const glm::dvec3& p, std::uint32_t c) {
  const glm::dvec3 low = lattice.origin + lattice.spacing * glm::dvec3(lattice.cells[c].at);
  const glm::dvec3 gap = p - glm::clamp(p, low, low + lattice.spacing);
  return glm::dot(gap, gap);
}

bool is_usable(const Sculpture& sculpture, const Lattice& lattice, std::uint32_t c) {
  return !sculpture.cells[c].dead && !lattice.cells[c].divided;
}

// Visits the cells with tissue around a node.
template <typename Action>
void for_cells_around(const Sculpture& sculpture, const Lattice& lattice, std::uint32_t node, Action action) {
  for (int corner = 0; corner < 8; ++corner) {
    const glm::ivec3 at = lattice.node_at[node] - corner_offset(corner);
    if (glm::any(glm::lessThan(at, glm::ivec3(0))) || glm::any(glm::greaterThanEqual(at, lattice.size))) continue;
    const std::int32_t c = lattice.cell_of[lattice.flat(at)];
    if (c >= 0 && !sculpture.cells[c].dead) action(static_cast<std::uint32_t>(c));
  }
}

// Walks from `level`, nodes, to the nearest usable cell that `accepts` allows; of those equally far, the one nearest to
// `p` at rest. Returns the number of cells when there is none.
template <typename Accepts>
std::uint32_t walk(const Sculpture& sculpture, const Lattice& lattice, std::vector<std::uint32_t> level,
                   const glm::dvec3& p, Accepts accepts) {
  std::vector<std::uint32_t> known = level, next;
  for (int step = 0; step < kMostSteps && !level.empty(); ++step) {
    double best = INFINITY;
    auto found = static_cast<std::uint32_t>(lattice.cells.size());
    next.clear();
    for (const std::uint32_t node : level)
      for_cells_around(sculpture, lattice, node, [&](std::uint32_t c) {
        const double d = distance(lattice, p, c);
        if ((d < best || (d == best && c < found)) && is_usable(sculpture, lattice, c) && accepts(c))
          best = d, found = c;
        for (const std::uint32_t other : lattice.cells[c].node) {
          if (!is_connected(sculpture, node, other) || std::find(known.begin(), known.end(), other) != known.end())
            continue;
          known.push_back(other);
          next.push_back(other);
        }
      });
    if (best < INFINITY) return found;
    level = next;
  }
  return static_cast<std::uint32_t>(lattice.cells.size());
}

// A point of the surface or of the tissue.
struct Carried {
  glm::vec3 place;  // m, world
  int side;         // of the slit
  glm::vec3 rest;   // m
  std::uint32_t cell;
};

// Finds whole cells for the points near a new slit.
class CarrierFinder {
 public:
  CarrierFinder(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const Slit& slit)
      : s_(sculpture), model_(model), lattice_(model.lattice), state_(state), slit_(slit) {
    for (const LatticeCell& cell : lattice_.cells) {
      glm::vec3 sum(0.f);
      for (const std::uint32_t node : cell.node) sum += state_.x[node];
      centre_.push_back(0.125f * sum);
    }
  }

  void carry_vertices() {
    const std::uint32_t first_new = s_.change.first_vertex;
    for (std::uint32_t v = 0; v < s_.rest.size(); ++v) {
      if (s_.vertices[v].removed || (v < first_new && !is_near(slit_.positions[v]))) continue;
      const Carried point{slit_.positions[v], slit_.side[v], s_.rest[v], s_.vertices[v].cell};
      if (can_carry(point, point.cell)) continue;
      s_.vertices[v].cell = find(point);
      model_.embedding[v] = embed_in(lattice_, s_.vertices[v].cell, s_.rest[v]);
      if (v < first_new) s_.change.carried.push_back(v);
    }
  }

  void carry_voxels() {
    std::vector<glm::uvec2> carried;
    const int n = s_.voxels.per_cell;
    for (std::uint32_t c = 0; c < s_.cells.size(); ++c) {
      if (s_.cells[c].dead || !lattice_.cells[c].divided || !is_near(centre_[c])) continue;
      for (int i = 0; i < n * n * n; ++i) {
        const std::uint32_t voxel = s_.voxels.flat(lattice_.cells[c].at * n + glm::ivec3(i % n, i / n % n, i / n / n));
        if (s_.voxels.kind[voxel] != Voxel::Tissue) continue;
        const auto known =
            std::lower_bound(s_.carried_voxels.begin(), s_.carried_voxels.end(), glm::uvec2(voxel, 0u), voxel_before);
        const bool is_known = known != s_.carried_voxels.end() && known->x == voxel;
        Carried point{{}, 0, glm::vec3(s_.voxels.centre(s_.voxels.at(voxel))), is_known ? known->y : c};
        point.place = place_in(lattice_, state_.x, point.cell, point.rest);
        point.side = side_at(point.place);
        carried.push_back({voxel, can_carry(point, point.cell) ? point.cell : find(point)});
      }
    }
    // New entries replace older ones of the same voxel.
    carried.insert(carried.end(), s_.carried_voxels.begin(), s_.carried_voxels.end());
    std::stable_sort(carried.begin(), carried.end(), voxel_before);
    carried.erase(std::unique(carried.begin(), carried.end(),
                              [](const glm::uvec2& a, const glm::uvec2& b) { return a.x == b.x; }),
                  carried.end());
    s_.carried_voxels = std::move(carried);
  }

  // A separate piece of the surface is carried by one part of the lattice: the few vertices that other parts carry,
  // from cells that an earlier cut left whole, change to it.
  void assign_pieces() {
    const std::vector<std::uint32_t> part = node_parts(s_, lattice_), piece = surface_pieces();
    std::vector<Share> shares;
    for (std::uint32_t v = 0; v < piece.size(); ++v)
      if (piece[v] != kNoVoxel) shares.push_back({piece[v], part[lattice_.cells[s_.vertices[v].cell].node[0]], 1});
    std::sort(shares.begin(), shares.end(),
              [](const Share& a, const Share& b) { return std::tie(a.piece, a.part) < std::tie(b.piece, b.part); });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < shares.size(); ++i)
      if (kept > 0 && shares[kept - 1].piece == shares[i].piece && shares[kept - 1].part == shares[i].part)
        ++shares[kept - 1].vertices;
      else
        shares[kept++] = shares[i];
    shares.resize(kept);
    for (std::uint32_t v = 0; v < piece.size(); ++v)
      if (piece[v] != kNoVoxel) assign_vertex(v, piece[v], part, shares);
    std::sort(s_.change.carried.begin(), s_.change.carried.end());
    s_.change.carried.erase(std::unique(s_.change.carried.begin(), s_.change.carried.end()), s_.change.carried.end());
  }

 private:
  struct Share {
    std::uint32_t piece, part;
    int vertices;
  };

  // [vertex] the lowest vertex of its piece of the surface; kNoVoxel: without faces.
  std::vector<std::uint32_t> surface_pieces() const {
    DisjointSets vertices(s_.rest.size());
    std::vector<std::uint32_t> piece(s_.rest.size(), kNoVoxel);
    for (std::size_t slot = 0; slot < s_.faces.size(); ++slot) {
      if (s_.faces.removed[slot]) continue;
      const glm::uvec3& f = s_.faces.corners[slot];
      for (int i = 0; i < 3; ++i) piece[f[i]] = f[i];
      vertices.join(f.x, f.y), vertices.join(f.x, f.z);
    }
    for (std::uint32_t& v : piece)
      if (v != kNoVoxel) v = vertices.root(v);
    return piece;
  }

  void assign_vertex(std::uint32_t v, std::uint32_t piece, const std::vector<std::uint32_t>& part,
                     const std::vector<Share>& shares) {
    const std::uint32_t own = part[lattice_.cells[s_.vertices[v].cell].node[0]];
    const Share *most = nullptr, *mine = nullptr;
    for (const Share& share : shares) {
      if (share.piece != piece) continue;
      if (!most || share.vertices > most->vertices) most = &share;
      if (share.part == own) mine = &share;
    }
    if (most == mine || 2 * mine->vertices > most->vertices) return;
    double best = INFINITY;
    std::uint32_t found = s_.vertices[v].cell;
    for (std::uint32_t c = 0; c < s_.cells.size(); ++c)
      if (const double d = distance(lattice_, glm::dvec3(s_.rest[v]), c);
          d < best && is_usable(s_, lattice_, c) && part[lattice_.cells[c].node[0]] == most->part)
        best = d, found = c;
    s_.vertices[v].cell = found;
    model_.embedding[v] = embed_in(lattice_, found, s_.rest[v]);
    if (v < s_.change.first_vertex) s_.change.carried.push_back(v);
  }

  bool is_near(const glm::vec3& place) const {
    const double range = kRange * lattice_.spacing;
    return std::abs(slit_.plane.height(glm::dvec3(place))) <= range &&
           slit_.plane.depth(slit_.plane.flat(glm::dvec3(place))) >= -range;
  }
  int side_at(const glm::vec3& x) const { return slit_.plane.height(glm::dvec3(x)) < 0.0 ? -1 : 1; }
  bool is_cut_off(const Carried& point, const glm::vec3& x) const {
    return severs(slit_, point.place, point.side, x, side_at(x));
  }
  bool can_carry(const Carried& point, std::uint32_t c) const {
    return is_usable(s_, lattice_, c) && !is_cut_off(point, centre_[c]);
  }

  std::uint32_t find(const Carried& point) const {
    const std::uint32_t found = walk(s_, lattice_, first_nodes(point), glm::dvec3(point.rest),
                                     [&](std::uint32_t c) { return !is_cut_off(point, centre_[c]); });
    return found < lattice_.cells.size() ? found : nearest(point);
  }

  // The nodes of the point's cell on its side, or else those of the cells around it.
  std::vector<std::uint32_t> first_nodes(const Carried& point) const {
    std::vector<std::uint32_t> nodes;
    const auto add = [&](std::uint32_t node) {
      if (!is_cut_off(point, state_.x[node])) nodes.push_back(node);
    };
    const auto& own = lattice_.cells[point.cell].node;
    for (const std::uint32_t node : own) add(node);
    if (!nodes.empty()) return nodes;
    for (const std::uint32_t node : own)
      for_cells_around(s_, lattice_, node, [&](std::uint32_t c) {
        for (const std::uint32_t other : lattice_.cells[c].node) add(other);
      });
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  // For a part that the lattice does not resolve: the nearest whole cell of any side.
  std::uint32_t nearest(const Carried& point) const {
    std::uint32_t found = point.cell;
    double best = INFINITY;
    for (std::uint32_t c = 0; c < s_.cells.size(); ++c)
      if (const double d = distance(lattice_, glm::dvec3(point.rest), c); d < best && is_usable(s_, lattice_, c))
        best = d, found = c;
    return found;
  }

  Sculpture& s_;
  TissueModel& model_;
  const Lattice& lattice_;
  const SteppedTissue& state_;
  const Slit& slit_;
  std::vector<glm::vec3> centre_;  // [cell] m, world
};

// Gives every vertex near the slit a whole cell on its side.
void carry_sides(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const Slit& slit) {
  CarrierFinder finder(sculpture, model, state, slit);
  finder.carry_vertices();
  finder.carry_voxels();
  finder.assign_pieces();
}

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

std::uint32_t whole_cell_near(const Sculpture& sculpture, const Lattice& lattice, std::uint32_t cell,
                              const glm::vec3& rest) {
  if (is_usable(sculpture, lattice, cell)) return cell;
  const auto& node = lattice.cells[cell].node;
  const std::uint32_t found =
      walk(sculpture, lattice, {node.begin(), node.end()}, glm::dvec3(rest), [](std::uint32_t) { return true; });
  return found < lattice.cells.size() ? found : cell;
}

std::uint32_t carrier_of(const Sculpture& sculpture, const Lattice& lattice, std::uint32_t voxel) {
  const glm::ivec3 at = sculpture.voxels.at(voxel);
  auto cell = static_cast<std::uint32_t>(sculpture.voxels.cell_of(lattice, at));
  if (sculpture.severed.empty()) return cell;
  const auto known = std::lower_bound(sculpture.carried_voxels.begin(), sculpture.carried_voxels.end(),
                                      glm::uvec2(voxel, 0u), voxel_before);
  if (known != sculpture.carried_voxels.end() && known->x == voxel) cell = known->y;
  return whole_cell_near(sculpture, lattice, cell, glm::vec3(sculpture.voxels.centre(at)));
}

bool may_carry(const Sculpture& sculpture, const Lattice& lattice, std::uint32_t neighbour, std::uint32_t cell) {
  if (sculpture.cells[cell].dead) return false;
  if (sculpture.severed.empty()) return true;
  if (lattice.cells[cell].divided) return false;
  const auto &a = lattice.cells[neighbour].node, &b = lattice.cells[cell].node;
  return std::any_of(a.begin(), a.end(),
                     [&](std::uint32_t node) { return std::find(b.begin(), b.end(), node) != b.end(); });
}

glm::vec3 place_in(const Lattice& lattice, std::span<const glm::vec3> nodes, std::uint32_t cell,
                   const glm::vec3& rest) {
  const Embedding e = embed_in(lattice, cell, rest);
  glm::vec3 sum(0.f);
  for (int i = 0; i < 8; ++i) sum += e.weight[i] * nodes[e.node[i]];
  return sum;
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
  renumber_faces(sculpture.faces, sculpture.change.faces);
  sculpture.change.new_vertices = static_cast<std::uint32_t>(sculpture.rest.size()) - sculpture.change.first_vertex;
  return sculpture.change;
}

}  // namespace trocar
