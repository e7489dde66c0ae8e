// Changes the surface of a sculpture: refines the skin, cuts it along the boundary of the heat, removes shreds (small
// pieces that a cut has separated), and makes the wall of the burnt cavity.
#include <algorithm>
#include <climits>
#include <cmath>
#include <tuple>

#include "deform/cut/sculpt_steps.hpp"
#include "geometry/disjoint_sets.hpp"

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

namespace {

// A separated piece of skin below this area is a shred.
constexpr float kSmallestSkin = 4.f;  // voxel sides
// Skin within this distance of the cut is searched for shreds.
constexpr float kSearchRange = 6.f;  // voxels
constexpr std::uint32_t kNoShred = 0xffffffffu;

bool is_skin(const Sculpture& s, std::size_t slot) {
  return s.faces.kind[slot] == FaceKind::Skin && !s.faces.removed[slot];
}

float area_of(const Sculpture& s, std::size_t slot) {
  const glm::uvec3 f = s.faces.corners[slot];
  return 0.5f * glm::length(glm::cross(s.rest[f.y] - s.rest[f.x], s.rest[f.z] - s.rest[f.x]));
}

float smallest_skin(const Sculpture& s) { return kSmallestSkin * static_cast<float>(s.voxels.size * s.voxels.size); }

// Walks from the cut over the skin around it. A walk stops when the area is clearly that of no shred.
class ShredSearch {
 public:
  ShredSearch(const Sculpture& sculpture, std::span<const std::uint32_t> cut) : s_(sculpture) {
    find_near(cut);
    first_.assign(near_.size(), kNoShred);
    walk_of_.assign(near_.size(), kNoShred);
    for (std::size_t slot = 0; slot < s_.faces.size(); ++slot) {
      const glm::uvec3 f = s_.faces.corners[slot];
      if (!(near_[f.x] || near_[f.y] || near_[f.z]) || !is_skin(s_, slot)) continue;
      for (int corner = 0; corner < 3; ++corner) {
        next_.push_back(first_[f[corner]]);
        first_[f[corner]] = static_cast<std::uint32_t>(next_.size() - 1);
      }
      slots_.push_back(slot);
    }
    taken_.assign(slots_.size(), 0);
  }

  // Returns false when the walk reaches the border of the skin around the cut: then the piece is unknown.
  bool walk_from(std::uint32_t seed) {
    if (walk_of_[seed] != kNoShred || first_[seed] == kNoShred) return true;
    ++walk_;
    piece_.clear();
    open_.assign(1, seed);
    walk_of_[seed] = walk_;
    float area = 0.f;
    while (!open_.empty()) {
      const std::uint32_t vertex = open_.back();
      open_.pop_back();
      if (!near_[vertex]) return false;
      for (std::uint32_t k = first_[vertex]; k != kNoShred; k = next_[k])
        if (!taken_[k / 3]) area += take(k / 3);
      if (joins_large_ || area > 2.f * smallest_skin(s_)) return joins_large_ = false, true;
    }
    // In the order of drop_shreds_everywhere(), so that the sum has the same bits.
    std::sort(piece_.begin(), piece_.end());
    area = 0.f;
    for (const std::size_t slot : piece_) area += area_of(s_, slot);
    if (area < smallest_skin(s_)) shreds.insert(shreds.end(), piece_.begin(), piece_.end());
    return true;
  }

  std::vector<std::size_t> shreds;  // slots

 private:
  // Marks the vertices in the box around the cut.
  void find_near(std::span<const std::uint32_t> cut) {
    glm::vec3 low(INFINITY), high(-INFINITY);
    for (const std::uint32_t v : cut) low = glm::min(low, s_.rest[v]), high = glm::max(high, s_.rest[v]);
    const glm::vec3 range(kSearchRange * static_cast<float>(s_.voxels.size));
    low -= range, high += range;
    near_.resize(s_.rest.size());
    for (std::size_t v = 0; v < near_.size(); ++v)
      near_[v] = glm::all(glm::lessThanEqual(low, s_.rest[v])) && glm::all(glm::lessThanEqual(s_.rest[v], high));
  }

  // Adds a face to the walk. Returns its area.
  float take(std::size_t face) {
    taken_[face] = 1;
    piece_.push_back(slots_[face]);
    for (int corner = 0; corner < 3; ++corner) {
      const std::uint32_t u = s_.faces.corners[slots_[face]][corner];
      if (walk_of_[u] == walk_) continue;
      // A vertex of an earlier walk that did not end: its piece is large.
      if (walk_of_[u] != kNoShred) {
        joins_large_ = true;
        continue;
      }
      walk_of_[u] = walk_;
      open_.push_back(u);
    }
    return area_of(s_, slots_[face]);
  }

  const Sculpture& s_;
  std::vector<char> near_;                   // [vertex]
  std::vector<std::size_t> slots_;           // skin with a vertex near the cut
  std::vector<std::uint32_t> first_, next_;  // [vertex], [3 slot + corner] list of the face corners at a vertex
  std::vector<std::uint32_t> walk_of_;       // [vertex] number of the walk that reached it
  std::vector<char> taken_;                  // [slots_]
  std::vector<std::size_t> piece_;           // slots of the walk
  std::vector<std::uint32_t> open_;
  std::uint32_t walk_ = 0;
  bool joins_large_ = false;
};

}  // namespace

void drop_shreds(Sculpture& sculpture, std::span<const std::uint32_t> cut) {
  ShredSearch search(sculpture, cut);
  for (const std::uint32_t vertex : cut)
    if (!search.walk_from(vertex)) return drop_shreds_everywhere(sculpture, cut);
  for (const std::size_t slot : search.shreds) sculpture.faces.removed[slot] = 1;
}

void drop_shreds_everywhere(Sculpture& s, std::span<const std::uint32_t> cut) {
  DisjointSets vertices(s.rest.size());
  for (std::size_t slot = 0; slot < s.faces.size(); ++slot)
    if (is_skin(s, slot))
      for (int side = 0; side < 2; ++side) vertices.join(s.faces.corners[slot][side], s.faces.corners[slot][side + 1]);
  std::vector<float> area(s.rest.size(), 0.f);
  std::vector<char> is_cut(s.rest.size(), 0);
  for (std::size_t slot = 0; slot < s.faces.size(); ++slot)
    if (is_skin(s, slot)) area[vertices.root(s.faces.corners[slot].x)] += area_of(s, slot);
  for (const std::uint32_t vertex : cut) is_cut[vertices.root(vertex)] = 1;
  for (std::size_t slot = 0; slot < s.faces.size(); ++slot)
    if (const std::uint32_t v = vertices.root(s.faces.corners[slot].x);
        is_skin(s, slot) && is_cut[v] && area[v] < smallest_skin(s))
      s.faces.removed[slot] = 1;
}

namespace {

std::uint32_t corner_index(const Voxels& voxels, const glm::ivec3& at) {
  const glm::ivec3 corners = voxels.count + 1;
  return (static_cast<std::uint32_t>(at.z) * corners.y + at.y) * corners.x + at.x;
}

// Returns the corners of a voxel's side, counter-clockwise seen from outside the voxel.
std::array<glm::ivec3, 4> side_corners(const glm::ivec3& voxel, int side) {
  const int axis = side / 2;
  glm::ivec3 base = voxel, u(0), w(0);
  base[axis] += side % 2;
  u[(axis + 1) % 3] = 1;
  w[(axis + 2) % 3] = 1;
  return side % 2 ? std::array{base, base + u, base + u + w, base + w}
                  : std::array{base, base + w, base + u + w, base + u};
}

// Moves the end of the wall above the centres of the last voxels below the skin, by this fraction of the distance to
// their sides: where tissue is one voxel thin, its two ends then stay apart.
constexpr double kLift = 0.2;  // 1

// Returns the mean of the points with heat 0 on the twelve edges between the eight voxels around a corner. Voxels
// outside the organ are ignored: the wall ends below the skin.
glm::vec3 corner_position(const Voxels& voxels, const glm::ivec3& corner) {
  std::array<float, 8> heat{};
  std::array<bool, 8> known{};
  glm::dvec3 inside(0.0);
  int voxels_inside = 0;
  for (int i = 0; i < 8; ++i) {
    const glm::ivec3 at = corner - 1 + corner_offset(i);
    known[i] = voxels.holds(at) && voxels.kind[voxels.flat(at)] != Voxel::Outside;
    if (!known[i]) continue;
    heat[i] = voxels.heat[voxels.flat(at)];
    inside += glm::dvec3(corner_offset(i));
    ++voxels_inside;
  }
  glm::dvec3 sum(0.0);
  int crossings = 0;
  for (int i = 0; i < 8; ++i)
    for (int axis = 0; axis < 3; ++axis) {
      const int j = i | 1 << axis;
      if (j == i || !known[i] || !known[j] || (heat[i] > 0.f) == (heat[j] > 0.f)) continue;
      glm::dvec3 zero_point(corner_offset(i));
      zero_point[axis] += static_cast<double>(heat[i]) / (static_cast<double>(heat[i]) - static_cast<double>(heat[j]));
      sum += zero_point;
      ++crossings;
    }
  glm::dvec3 mean = crossings > 0 ? sum / static_cast<double>(crossings) : glm::dvec3(0.5);
  mean += kLift * (0.5 - inside / static_cast<double>(voxels_inside));
  return glm::vec3(voxels.origin + voxels.size * (glm::dvec3(corner) - 0.5 + mean));
}

// Returns the cell with tissue next to the corner that lies closest to `p`. As long as the corner's voxels do not
// change, this cell has tissue.
std::uint32_t carrier(const Sculpture& sculpture, const Lattice& lattice, const glm::ivec3& corner,
                      const glm::vec3& p) {
  std::uint32_t best = 0;
  double nearest = INFINITY;
  for (int i = 0; i < 8; ++i) {
    const glm::ivec3 at = corner - 1 + corner_offset(i);
    if (!sculpture.voxels.is(Voxel::Tissue, at)) continue;
    const std::uint32_t cell = carrier_of(sculpture, lattice, sculpture.voxels.flat(at));
    const glm::dvec3 low = lattice.origin + lattice.spacing * glm::dvec3(lattice.cells[cell].at);
    const glm::dvec3 gap = glm::dvec3(p) - glm::clamp(glm::dvec3(p), low, low + lattice.spacing);
    if (const double squared = glm::dot(gap, gap); squared < nearest) nearest = squared, best = cell;
  }
  return best;
}

class WallMaker {
 public:
  WallMaker(Sculpture& sculpture, TissueModel& model) : s_(sculpture), model_(model) {}

  void update() {
    for (const std::uint32_t voxel : s_.scratch.moved)
      for (int i = 0; i < 8; ++i)
        s_.corner_vertex[corner_index(s_.voxels, s_.voxels.at(voxel) + corner_offset(i))] = kNoVoxel;
    drop_changed();
    find_sides();
    for (const std::uint32_t side : sides_) add_square(side);
  }

 private:
  void drop_changed() {
    for (std::size_t slot = 0; slot < s_.faces.size(); ++slot) {
      if (s_.faces.kind[slot] != FaceKind::Wall || s_.faces.removed[slot]) continue;
      const std::uint32_t side = s_.faces.side[slot];
      bool changed = s_.voxels.kind[side / 6] != Voxel::Tissue;
      for (const glm::ivec3& corner : side_corners(s_.voxels.at(side / 6), static_cast<int>(side % 6)))
        changed |= s_.corner_vertex[corner_index(s_.voxels, corner)] == kNoVoxel;
      if (changed) s_.faces.removed[slot] = 1;
    }
  }

  // All sides between tissue and burnt voxels that touch a corner of a voxel in scratch.moved.
  void find_sides() {
    for (const std::uint32_t voxel : s_.scratch.moved) {
      const glm::ivec3 middle = s_.voxels.at(voxel);
      for (int i = 0; i < 27; ++i) {
        const glm::ivec3 at = middle + glm::ivec3(i % 3, i / 3 % 3, i / 9) - 1;
        if (!s_.voxels.is(Voxel::Tissue, at)) continue;
        for (int side = 0; side < 6; ++side) {
          const glm::ivec3 next = at + side_offset(side);
          if (s_.voxels.is(Voxel::Burnt, next) && touches(middle, at, side))
            sides_.push_back(6 * s_.voxels.flat(at) + static_cast<std::uint32_t>(side));
        }
      }
    }
    std::sort(sides_.begin(), sides_.end());
    sides_.erase(std::unique(sides_.begin(), sides_.end()), sides_.end());
    // The squares that a slit has split are skin now.
    std::erase_if(sides_, [&](std::uint32_t side) {
      return std::binary_search(s_.slit_sides.begin(), s_.slit_sides.end(), side);
    });
  }

  static bool touches(const glm::ivec3& voxel, const glm::ivec3& at, int side) {
    for (const glm::ivec3& corner : side_corners(at, side)) {
      const glm::ivec3 offset = corner - voxel;
      if (glm::all(glm::greaterThanEqual(offset, glm::ivec3(0))) && glm::all(glm::lessThanEqual(offset, glm::ivec3(1))))
        return true;
    }
    return false;
  }

  std::uint32_t vertex_at(const glm::ivec3& corner) {
    std::uint32_t& vertex = s_.corner_vertex[corner_index(s_.voxels, corner)];
    if (vertex == kNoVoxel) {
      const glm::vec3 position = corner_position(s_.voxels, corner);
      const SculptVertex owner{.cell = carrier(s_, model_.lattice, corner, position), .wall = true};
      vertex = add_vertex(s_, model_, position, owner);
    }
    return vertex;
  }

  void add_square(std::uint32_t side) {
    std::array<std::uint32_t, 4> v{};
    const auto corners = side_corners(s_.voxels.at(side / 6), static_cast<int>(side % 6));
    for (int i = 0; i < 4; ++i) v[i] = vertex_at(corners[i]);
    const bool first = glm::distance(s_.rest[v[0]], s_.rest[v[2]]) <= glm::distance(s_.rest[v[1]], s_.rest[v[3]]);
    s_.faces.add(FaceKind::Wall, first ? glm::uvec3(v[0], v[1], v[2]) : glm::uvec3(v[1], v[2], v[3]), side);
    s_.faces.add(FaceKind::Wall, first ? glm::uvec3(v[0], v[2], v[3]) : glm::uvec3(v[1], v[3], v[0]), side);
  }

  Sculpture& s_;
  TissueModel& model_;
  std::vector<std::uint32_t> sides_;  // 6 * tissue voxel + side
};

}  // namespace

bool touches_wall(const Sculpture& sculpture, std::uint32_t voxel) {
  for (int i = 0; i < 8; ++i)
    if (sculpture.corner_vertex[corner_index(sculpture.voxels, sculpture.voxels.at(voxel) + corner_offset(i))] !=
        kNoVoxel)
      return true;
  return false;
}

void update_wall(Sculpture& sculpture, TissueModel& model) { WallMaker(sculpture, model).update(); }

}  // namespace trocar
