// Splits the surface along the plane of a cut. First vertices are inserted where edges cross the plane inside the
// outline, and where the slit ends inside a face; then the slit runs along edges. Second, the vertices of the slit are
// doubled: one for the faces above the plane, one for those below. A vertex close to the plane counts as on it, so a
// cut that repeats or continues an older one leaves no slivers; faces on the plane belong to the side of their tissue.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "deform/cut/sculpt_steps.hpp"
#include "deform/slit_parts.hpp"

namespace trocar {
namespace {

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
    settle_sides();
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
  void settle_sides() {
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

}  // namespace

bool split_skin(Sculpture& sculpture, TissueModel& model, Slit& slit) {
  const bool split = Splitter(sculpture, model, slit).split();
  std::sort(sculpture.slit_sides.begin(), sculpture.slit_sides.end());
  sculpture.slit_sides.erase(std::unique(sculpture.slit_sides.begin(), sculpture.slit_sides.end()),
                             sculpture.slit_sides.end());
  return split;
}

}  // namespace trocar
