// Makes the walls of a slit: the lips and the slit's inner border form loops in the plane, which are filled once for
// each side. The inner border runs along the outline of the cut, through the tissue, from the end of one lip to the
// start of the next; its vertices belong to both sides.
#include <algorithm>
#include <cmath>

#include "deform/cut/sculpt_steps.hpp"
#include "deform/polygon_fill.hpp"
#include "deform/slit_parts.hpp"
#include "deform/trilinear_cell.hpp"

namespace trocar {
namespace {

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
      if (!(lattice_.cells[c].fullness > 0.f) || lattice_.cells[c].divided || !is_near(c, p)) continue;
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

}  // namespace

void add_slit_walls(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, Slit& slit) {
  WallBuilder(sculpture, model, state, slit).build();
}

}  // namespace trocar
