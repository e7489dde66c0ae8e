// Burns the organ's own surface: refines it, then cuts it along the boundary of the heat.
#include <algorithm>
#include <climits>
#include <cmath>
#include <tuple>

#include "deform/cut/sculpt_steps.hpp"

namespace trocar {
namespace {

// Skin edges near a burn are divided above this length, which is below the width of the smallest crater.
constexpr float kLongestSide = 0.8f;  // voxels
// A cut leaves at least this length of an edge, or nothing: this avoids slivers and endless cutting.
constexpr float kShortestRest = 0.25f;  // voxels
// A cut keeps this fraction of an edge away from its ends, where heat and voxels can disagree.
constexpr float kLeastCut = 0.1f;  // 1
// Tissue within this distance of a point of skin can carry it.
constexpr int kTissueRange = 3;  // voxels
// Skin within this distance of burnt tissue is refined.
constexpr float kNear = 1.5f;  // voxels
// Hot skin within this distance of burnt tissue is cut: a shallow crater extends beyond its burnt voxels.
constexpr float kHotRange = 2.f;  // voxels
// Skin whose tissue was removed may move to tissue that is at most this much farther away than the first.
constexpr float kSlack = 0.75f;  // voxels

struct HotBox {
  glm::vec3 low{INFINITY}, high{-INFINITY};  // m
  bool holds(const glm::vec3& p) const {
    return glm::all(glm::lessThanEqual(low, p)) && glm::all(glm::lessThanEqual(p, high));
  }
};

// Returns the box around the centres of the voxels in scratch.moved, grown by `margin` voxels.
HotBox moved_box(const Sculpture& sculpture, float margin) {
  HotBox box;
  const float more = margin * static_cast<float>(sculpture.voxels.size);
  for (const std::uint32_t voxel : sculpture.scratch.moved) {
    const glm::vec3 centre(sculpture.voxels.centre(sculpture.voxels.at(voxel)));
    box.low = glm::min(box.low, centre - more);
    box.high = glm::max(box.high, centre + more);
  }
  return box;
}

float gap_to(const Voxels& voxels, const glm::vec3& p, std::uint32_t voxel) {
  return static_cast<float>(glm::distance(voxels.centre(voxels.at(voxel)), glm::dvec3(p)));
}

struct Edge {
  std::uint32_t u, v;
  std::uint32_t vertex = 0;  // in the middle
};
bool edge_before(const Edge& a, const Edge& b) { return std::tie(a.u, a.v) < std::tie(b.u, b.v); }
bool same_edge(const Edge& a, const Edge& b) { return a.u == b.u && a.v == b.v; }

void sort_unique(std::vector<Edge>& edges) {
  std::sort(edges.begin(), edges.end(), edge_before);
  edges.erase(std::unique(edges.begin(), edges.end(), same_edge), edges.end());
}

// Returns the entry of `edges` for u, v, or null.
const Edge* find_edge(const std::vector<Edge>& edges, std::uint32_t u, std::uint32_t v) {
  const auto found = std::lower_bound(edges.begin(), edges.end(), Edge{u, v}, edge_before);
  return found != edges.end() && same_edge(*found, {u, v}) ? &*found : nullptr;
}

class Refiner {
 public:
  Refiner(Sculpture& sculpture, TissueModel& model) : s_(sculpture), model_(model), box_(moved_box(sculpture, kNear)) {
    note_moved();
  }

  // One round: marks the longest side of each face that is too long, and of each face that has another marked side.
  bool round() {
    begin_round();
    const float longest = kLongestSide * static_cast<float>(s_.voxels.size);
    for (; looked_at_ < s_.faces.size(); ++looked_at_)
      if (is_skin(looked_at_) && overlaps_box(looked_at_)) near_.push_back(looked_at_);
    std::erase_if(near_, [&](std::size_t slot) { return s_.faces.removed[slot] != 0; });
    for (const std::size_t slot : near_) {
      const int side = longest_side(slot);
      if (length(slot, side) > longest * longest && near_moved(slot)) mark(slot, side);
    }
    return divide_marked();
  }
  // Does the same for the longest sides of given faces. [slot]
  void round(const std::vector<char>& wanted) {
    begin_round();
    for (std::size_t slot = 0; slot < wanted.size(); ++slot)
      if (wanted[slot] && is_skin(slot)) mark(slot, longest_side(slot)), near_.push_back(slot);
    divide_marked();
  }

 private:
  void begin_round() {
    marks_.clear();
    marked_.assign(s_.rest.size(), 0);
  }

  bool divide_marked() {
    if (marks_.empty()) return false;
    while (spread()) {
    }
    for (Edge& edge : marks_) edge.vertex = add_middle(edge);
    for (const std::size_t slot : with_marks_) divide(slot);
    return true;
  }

  bool is_skin(std::size_t slot) const { return s_.faces.kind[slot] == FaceKind::Skin && !s_.faces.removed[slot]; }

  HotBox box_of(std::size_t slot) const {
    const glm::uvec3 f = s_.faces.corners[slot];
    const glm::vec3 &a = s_.rest[f.x], &b = s_.rest[f.y], &c = s_.rest[f.z];
    return {glm::min(a, glm::min(b, c)), glm::max(a, glm::max(b, c))};
  }
  bool overlaps_box(std::size_t slot) const {
    const HotBox face = box_of(slot);
    return glm::all(glm::greaterThanEqual(face.high, box_.low)) && glm::all(glm::lessThanEqual(face.low, box_.high));
  }
  // Is the centre of a moved voxel in the box of the face, with a margin?
  bool near_moved(std::size_t slot) const {
    const HotBox face = box_of(slot);
    const Voxels& voxels = s_.voxels;
    const glm::dvec3 low = (glm::dvec3(face.low) - voxels.origin) / voxels.size - 0.5 - static_cast<double>(kNear);
    const glm::dvec3 high = (glm::dvec3(face.high) - voxels.origin) / voxels.size - 0.5 + static_cast<double>(kNear);
    const glm::ivec3 first = glm::max(glm::ivec3(glm::ceil(low)), moved_low_);
    const glm::ivec3 last = glm::min(glm::ivec3(glm::floor(high)), moved_high_);
    for (int z = first.z; z <= last.z; ++z)
      for (int y = first.y; y <= last.y; ++y)
        for (int x = first.x; x <= last.x; ++x)
          if (is_moved_[place_of({x, y, z})]) return true;
    return false;
  }
  std::size_t place_of(const glm::ivec3& at) const {
    const glm::ivec3 size = moved_high_ - moved_low_ + 1, in = at - moved_low_;
    return (static_cast<std::size_t>(in.z) * size.y + in.y) * size.x + in.x;
  }
  void note_moved() {
    for (const std::uint32_t voxel : s_.scratch.moved) {
      moved_low_ = glm::min(moved_low_, s_.voxels.at(voxel));
      moved_high_ = glm::max(moved_high_, s_.voxels.at(voxel));
    }
    if (s_.scratch.moved.empty()) return;
    is_moved_.assign(place_of(moved_high_) + 1, 0);
    for (const std::uint32_t voxel : s_.scratch.moved) is_moved_[place_of(s_.voxels.at(voxel))] = 1;
  }

  std::pair<std::uint32_t, std::uint32_t> ends(std::size_t slot, int side) const {
    return std::minmax({s_.faces.corners[slot][side], s_.faces.corners[slot][(side + 1) % 3]});
  }
  float length(std::size_t slot, int side) const {
    const auto [u, v] = ends(slot, side);
    const glm::vec3 d = s_.rest[v] - s_.rest[u];
    return glm::dot(d, d);
  }
  // Ties are broken by the vertex indices, so that both faces of an edge agree.
  int longest_side(std::size_t slot) const {
    int best = 0;
    for (int side = 1; side < 3; ++side) {
      const float l = length(slot, side), b = length(slot, best);
      if (l > b || (l == b && ends(slot, side) < ends(slot, best))) best = side;
    }
    return best;
  }

  void mark(std::size_t slot, int side) {
    const auto [u, v] = ends(slot, side);
    marks_.push_back({u, v});
    marked_[u] = marked_[v] = 1;
  }
  bool maybe_marked(std::size_t slot) const {
    const glm::uvec3 f = s_.faces.corners[slot];
    return marked_[f.x] + marked_[f.y] + marked_[f.z] >= 2;
  }
  const Edge* find(std::size_t slot, int side) const {
    const auto [u, v] = ends(slot, side);
    return find_edge(marks_, u, v);
  }

  // Marks also the longest sides of faces with other marked sides: of the near ones, and when these are done, of all.
  // Returns false when there are no more.
  bool spread() {
    sort_unique(marks_);
    more_.clear();
    for (const std::size_t slot : near_) spread_to(slot);
    if (more_.empty()) {
      with_marks_.clear();
      for (std::size_t slot = 0; slot < s_.faces.size(); ++slot)
        if (is_skin(slot) && maybe_marked(slot)) {
          with_marks_.push_back(slot);
          if (spread_to(slot)) near_.push_back(slot);
        }
    }
    marks_.insert(marks_.end(), more_.begin(), more_.end());
    return !more_.empty();
  }
  bool spread_to(std::size_t slot) {
    if (!maybe_marked(slot)) return false;
    const int side = longest_side(slot);
    if (find(slot, side) || (!find(slot, 0) && !find(slot, 1) && !find(slot, 2))) return false;
    const auto [u, v] = ends(slot, side);
    more_.push_back({u, v});
    marked_[u] = marked_[v] = 1;
    return true;
  }

  std::uint32_t add_middle(const Edge& edge) {
    const glm::vec3 middle = 0.5f * (s_.rest[edge.u] + s_.rest[edge.v]);
    return add_vertex(s_, model_, middle, attach_to_skin(s_, model_.lattice, middle, s_.vertices[edge.u]));
  }

  // Bisects the face at its longest side, then each half at its marked side.
  void divide(std::size_t slot) {
    const int side = longest_side(slot);
    const Edge* cut = find(slot, side);
    if (!cut) return;
    const glm::uvec3 f = s_.faces.corners[slot];
    const std::uint32_t a = f[side], b = f[(side + 1) % 3], c = f[(side + 2) % 3], m = cut->vertex;
    s_.faces.removed[slot] = 1;
    add_half(m, b, c);
    add_half(m, c, a);
  }
  // Adds the triangle apex, u, v; its side u - v may be marked.
  void add_half(std::uint32_t apex, std::uint32_t u, std::uint32_t v) {
    if (const Edge* cut = find_edge(marks_, std::min(u, v), std::max(u, v))) {
      s_.faces.add(FaceKind::Skin, {apex, u, cut->vertex});
      s_.faces.add(FaceKind::Skin, {apex, cut->vertex, v});
    } else {
      s_.faces.add(FaceKind::Skin, {apex, u, v});
    }
  }

  Sculpture& s_;
  TissueModel& model_;
  HotBox box_;                                      // around what was burnt
  glm::ivec3 moved_low_{INT_MAX}, moved_high_{-1};  // of the voxels in scratch.moved
  std::vector<char> is_moved_;                      // [voxel between these]
  std::vector<std::size_t> near_;  // faces of the skin that overlap the box, and others found by spread()
  std::size_t looked_at_ = 0;      // slots whose boxes are known
  std::vector<Edge> marks_, more_;
  std::vector<char> marked_;             // [vertex] end of a marked side
  std::vector<std::size_t> with_marks_;  // faces with two or more ends of marked sides, ascending
};

class Cutter {
 public:
  Cutter(Sculpture& sculpture, TissueModel& model) : s_(sculpture), model_(model), burnt_(s_.vertices.size(), 0) {
    const HotBox box = moved_box(s_, kHotRange);
    for (std::uint32_t v = 0; v < burnt_.size(); ++v) {
      SculptVertex& vertex = s_.vertices[v];
      if (vertex.wall || vertex.removed) continue;
      burnt_[v] = vertex.removed = (box.holds(s_.rest[v]) && is_hot(v)) || !has_tissue(v);
      if (!vertex.removed && s_.cells[vertex.cell].dead) carry(v);
    }
  }

  void cut() {
    for (std::size_t slot = 0; slot < s_.faces.size(); ++slot)
      if (s_.faces.kind[slot] == FaceKind::Skin && !s_.faces.removed[slot] && burnt_corners(slot) > 0)
        slots_.push_back(slot);
    for (const std::size_t slot : slots_)
      for (int side = 0; side < 3; ++side) {
        const std::uint32_t u = s_.faces.corners[slot][side], v = s_.faces.corners[slot][(side + 1) % 3];
        if (burnt_[u] != burnt_[v]) cuts_.push_back(burnt_[u] ? Edge{u, v} : Edge{v, u});
      }
    sort_unique(cuts_);
    for (Edge& edge : cuts_) edge.vertex = cut_vertex(edge.u, edge.v);
    for (const std::size_t slot : slots_) replace(slot);
    if (!slots_.empty()) drop_shreds(s_, vertices_of_cut());
  }

 private:
  std::vector<std::uint32_t> vertices_of_cut() const {
    std::vector<std::uint32_t> vertices;
    for (const std::size_t slot : slots_)
      for (int corner = 0; corner < 3; ++corner) vertices.push_back(s_.faces.corners[slot][corner]);
    for (const Edge& edge : cuts_) vertices.push_back(edge.vertex);
    return vertices;
  }

  bool is_hot(std::uint32_t v) const {
    return heat_at(s_.voxels, model_.lattice, s_.rest[v]) > 0.f && burnt_near(s_.voxels, s_.rest[v], kHotRange);
  }

  // A skin vertex whose tissue was removed moves to the nearest tissue, if that is near enough.
  bool has_tissue(std::uint32_t v) {
    SculptVertex& vertex = s_.vertices[v];
    if (vertex.anchor == kNoVoxel) return !s_.cells[vertex.cell].dead;
    if (s_.voxels.kind[vertex.anchor] == Voxel::Tissue) return true;
    const std::uint32_t next = nearest_tissue(s_.voxels, s_.rest[v], kTissueRange);
    if (next == kNoVoxel || gap_to(s_.voxels, s_.rest[v], next) > vertex.reach) return false;
    vertex.anchor = next;
    return true;
  }

  void carry(std::uint32_t v) {
    SculptVertex& vertex = s_.vertices[v];
    vertex.cell = s_.severed.empty() ? carrier_of(s_, model_.lattice, vertex.anchor)
                                     : whole_cell_near(s_, model_.lattice, vertex.cell, s_.rest[v]);
    model_.embedding[v] = embed_in(model_.lattice, vertex.cell, s_.rest[v]);
    s_.change.carried.push_back(v);
  }

  int burnt_corners(std::size_t slot) const {
    const glm::uvec3 f = s_.faces.corners[slot];
    return burnt_[f.x] + burnt_[f.y] + burnt_[f.z];
  }

  // The cut vertex on the edge from a burnt to a kept vertex; the kept one if the remainder would be too short.
  std::uint32_t cut_vertex(std::uint32_t burnt, std::uint32_t kept) {
    const glm::vec3 &a = s_.rest[burnt], &b = s_.rest[kept];
    const float hot = std::max(heat_at(s_.voxels, model_.lattice, a), 0.f);
    const float cold = std::min(heat_at(s_.voxels, model_.lattice, b), 0.f);
    const float t = hot > cold ? std::clamp(hot / (hot - cold), kLeastCut, 1.f - kLeastCut) : 0.5f;
    if ((1.f - t) * glm::distance(a, b) < kShortestRest * static_cast<float>(s_.voxels.size)) return kept;
    const glm::vec3 position = a + t * (b - a);
    return add_vertex(s_, model_, position, attach_to_skin(s_, model_.lattice, position, s_.vertices[kept]));
  }

  std::uint32_t cut_between(std::uint32_t burnt, std::uint32_t kept) const {
    return find_edge(cuts_, burnt, kept)->vertex;
  }

  void add(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (a != b && b != c && c != a) s_.faces.add(FaceKind::Skin, {a, b, c});
  }

  // Replaces a face by the part that remains: nothing, a triangle, or a quadrangle.
  void replace(std::size_t slot) {
    s_.faces.removed[slot] = 1;
    const int burnt = burnt_corners(slot);
    if (burnt == 3) return;
    glm::uvec3 f = s_.faces.corners[slot];
    while (burnt_[f.x] != (burnt == 1)) f = {f.y, f.z, f.x};
    if (burnt == 1) {
      const std::uint32_t p = cut_between(f.x, f.y), q = cut_between(f.x, f.z);
      const bool through_p = glm::distance(s_.rest[p], s_.rest[f.z]) <= glm::distance(s_.rest[q], s_.rest[f.y]);
      if (through_p) {
        add(p, f.y, f.z);
        add(p, f.z, q);
      } else {
        add(p, f.y, q);
        add(q, f.y, f.z);
      }
    } else {
      add(f.x, cut_between(f.y, f.x), cut_between(f.z, f.x));
    }
  }

  Sculpture& s_;
  TissueModel& model_;
  std::vector<char> burnt_;         // [vertex] skin vertex without tissue
  std::vector<std::size_t> slots_;  // faces with such a vertex
  std::vector<Edge> cuts_;          // from burnt to kept
};

}  // namespace

SculptVertex attach_to_skin(const Sculpture& sculpture, const Lattice& lattice, const glm::vec3& p,
                            const SculptVertex& fallback) {
  SculptVertex vertex = fallback;
  if (const std::uint32_t nearest = nearest_tissue(sculpture.voxels, p, kTissueRange); nearest != kNoVoxel) {
    vertex.anchor = nearest;
    vertex.reach = gap_to(sculpture.voxels, p, nearest) + kSlack * static_cast<float>(sculpture.voxels.size);
  }
  const std::int32_t around = lattice.cell_of[lattice.flat(lattice.column_of(glm::dvec3(p)))];
  if (around >= 0 && may_carry(sculpture, lattice, fallback.cell, static_cast<std::uint32_t>(around)))
    vertex.cell = static_cast<std::uint32_t>(around);
  else if (!sculpture.severed.empty())
    vertex.cell = whole_cell_near(sculpture, lattice, fallback.cell, p);
  else if (vertex.anchor != kNoVoxel)
    vertex.cell = carrier_of(sculpture, lattice, vertex.anchor);
  return vertex;
}

void refine_skin(Sculpture& sculpture, TissueModel& model) {
  // A new skin vertex is anchored to the tissue under it, including tissue burnt in this call.
  for (const std::uint32_t voxel : sculpture.scratch.burnt) sculpture.voxels.kind[voxel] = Voxel::Tissue;
  Refiner refiner(sculpture, model);
  while (refiner.round()) {
  }
  for (const std::uint32_t voxel : sculpture.scratch.burnt) sculpture.voxels.kind[voxel] = Voxel::Burnt;
}

void bisect_skin(Sculpture& sculpture, TissueModel& model, const std::vector<char>& wanted) {
  Refiner(sculpture, model).round(wanted);
}

void cut_skin(Sculpture& sculpture, TissueModel& model) { Cutter(sculpture, model).cut(); }

}  // namespace trocar
