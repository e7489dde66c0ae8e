#include "deform/cut/sculpt.hpp"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "deform/cut/sculpt_steps.hpp"
#include "geometry/disjoint_sets.hpp"
#include "geometry/error.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {

void LiveFaces::add(FaceKind face_kind, const glm::uvec3& face, std::uint32_t wall_side) {
  corners.push_back(face);
  kind.push_back(face_kind);
  side.push_back(wall_side);
  removed.push_back(0);
}

void renumber_faces(LiveFaces& faces, FaceChanges& changes) {
  changes.removed.clear();
  changes.first_new = FaceId(faces.next_id);
  const std::size_t numbered = faces.id.size();
  std::size_t kept = 0;
  for (std::size_t slot = 0; slot < faces.size(); ++slot) {
    if (faces.removed[slot]) {
      if (slot < numbered) changes.removed.push_back(faces.id[slot]);
      continue;
    }
    faces.corners[kept] = faces.corners[slot];
    faces.kind[kept] = faces.kind[slot];
    faces.side[kept] = faces.side[slot];
    if (slot < numbered)
      faces.id[kept] = faces.id[slot];
    else if (kept < numbered)
      faces.id[kept] = FaceId(faces.next_id++);
    else
      faces.id.push_back(FaceId(faces.next_id++));
    ++kept;
  }
  faces.corners.resize(kept);
  faces.kind.resize(kept);
  faces.side.resize(kept);
  faces.id.resize(kept);
  faces.removed.assign(kept, 0);
  changes.new_faces = faces.next_id - index(changes.first_new);
}

namespace {

// Heats voxels around hot metal: every voxel of the lattice keeps its largest depth in the heat so far.

// The heat is stored up to this distance outside its boundary, so that the boundary is located between voxels.
constexpr float kHeatBand = 1.f;  // voxels
// Where tissue voxels get hotter without burning, the surface is updated each time the heat has risen by this much.
constexpr float kHeatStep = 0.25f;  // voxels
// Metal that touches the surface without reaching the centre of a voxel burns the nearest one within this distance.
constexpr float kNearest = 0.6f;     // voxels
constexpr float kFaintHeat = 0.05f;  // voxels  its depth in the heat

bool is_sound(const HotSegment& hot) {
  for (int axis = 0; axis < 3; ++axis)
    if (!std::isfinite(hot.from[axis]) || !std::isfinite(hot.to[axis])) return false;
  return std::isfinite(hot.radius) && hot.radius > 0.f;
}

bool apart(const HeatBox& a, const HeatBox& b) {
  return glm::any(glm::lessThan(a.high, b.low)) || glm::any(glm::greaterThan(a.low, b.high));
}

// Computes Cohen-Sutherland outcodes: the faces of the box beyond which each node lies. A cell whose nodes all lie
// beyond the same face is outside.
void find_sides(const HeatBox& box, std::span<const glm::vec3> nodes, std::span<std::uint8_t> sides) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const glm::vec3& p = nodes[i];
    sides[i] = static_cast<std::uint8_t>((p.x < box.low.x) | (p.x > box.high.x) << 1 | (p.y < box.low.y) << 2 |
                                         (p.y > box.high.y) << 3 | (p.z < box.low.z) << 4 | (p.z > box.high.z) << 5);
  }
}

void kill_cell(Sculpture& sculpture, std::uint32_t c) {
  sculpture.cells[c].dead = true;
  sculpture.scratch.changed[c] = 1;
  sculpture.scratch.cell_died = true;
}

// Burns one tissue voxel, independent of its heat, and records it and its cell in scratch.
void burn_voxel(Sculpture& sculpture, const Lattice& lattice, std::uint32_t voxel) {
  if (sculpture.voxels.kind[voxel] != Voxel::Tissue) return;
  sculpture.voxels.kind[voxel] = Voxel::Burnt;
  if (!(sculpture.voxels.heat[voxel] > 0.f)) {
    sculpture.voxels.heat[voxel] = 1.f;
    sculpture.scratch.cold.push_back(voxel);
  }
  sculpture.scratch.burnt.push_back(voxel);
  const auto c = static_cast<std::uint32_t>(sculpture.voxels.cell_of(lattice, sculpture.voxels.at(voxel)));
  sculpture.scratch.changed[c] = 1;
  if (--sculpture.cells[c].left == 0) kill_cell(sculpture, c);
  auto guest = std::lower_bound(sculpture.hosted.begin(), sculpture.hosted.end(), voxel,
                                [](const glm::uvec2& a, std::uint32_t v) { return a.x < v; });
  for (; guest != sculpture.hosted.end() && guest->x == voxel; ++guest)
    if (!sculpture.cells[guest->y].dead) kill_cell(sculpture, guest->y);
}

// Burns all tissue of a cell; also removes a cell that never had tissue voxels.
void burn_cell(Sculpture& sculpture, const Lattice& lattice, std::uint32_t cell) {
  if (sculpture.cells[cell].dead) return;
  const int n = sculpture.voxels.per_cell;
  for (int i = 0; i < n * n * n; ++i)
    burn_voxel(sculpture, lattice,
               sculpture.voxels.flat(lattice.cells[cell].at * n + glm::ivec3(i % n, i / n % n, i / n / n)));
  if (!sculpture.cells[cell].dead) kill_cell(sculpture, cell);
}

void heat_voxel(Sculpture& sculpture, const Lattice& lattice, std::uint32_t voxel, float depth) {
  if (!(depth > sculpture.voxels.heat[voxel])) return;
  sculpture.voxels.heat[voxel] = depth;
  if (sculpture.voxels.kind[voxel] != Voxel::Tissue) return;
  if (depth > 0.f)
    burn_voxel(sculpture, lattice, voxel);
  else if (depth > sculpture.shown[voxel] + kHeatStep && touches_wall(sculpture, voxel))
    sculpture.scratch.moved.push_back(voxel);
}

HeatAxis heat_axis(const HotSegment& hot, float margin) {
  const glm::vec3 along = hot.to - hot.from, more(hot.radius + margin);
  return {hot.from,
          along,
          glm::dot(along, along),
          hot.radius,
          {glm::min(hot.from, hot.to) - more, glm::max(hot.from, hot.to) + more}};
}

// Prepares the segments for reach_cell(). Points farther from a segment than its radius and `margin` do not matter.
// Returns false when no segment is sound.
bool find_heat(Sculpture& sculpture, std::span<const glm::vec3> nodes, std::span<const HotSegment> hot, float margin) {
  std::vector<HeatAxis>& axes = sculpture.scratch.axes;
  axes.clear();
  HeatBox box;
  for (const HotSegment& segment : hot) {
    if (!is_sound(segment)) continue;
    axes.push_back(heat_axis(segment, margin));
    box.low = glm::min(box.low, axes.back().box.low);
    box.high = glm::max(box.high, axes.back().box.high);
  }
  if (!axes.empty()) find_sides(box, nodes, sculpture.scratch.sides);
  return !axes.empty();
}

// Returns whether segments are near the cell, and which.
bool reach_cell(Sculpture& sculpture, const LatticeCell& cell, std::span<const glm::vec3> nodes, CellHeat& out) {
  std::uint8_t beyond = 0xff;
  for (const std::uint32_t node : cell.node) beyond &= sculpture.scratch.sides[node];
  if (beyond != 0) return false;
  HeatBox box;
  for (int corner = 0; corner < 8; ++corner) {
    out.x[corner] = nodes[cell.node[corner]];
    box.low = glm::min(box.low, out.x[corner]);
    box.high = glm::max(box.high, out.x[corner]);
  }
  out.near.clear();
  for (const HeatAxis& axis : sculpture.scratch.axes)
    if (cell.divided || !apart(box, axis.box)) out.near.push_back(axis);  // a slit may open wider than its cell
  return !out.near.empty();
}

// Calls action(voxel, present position of its centre, segments near its cell) for the voxels of all cells near the
// segments of find_heat().
template <typename Action>
void for_each_voxel_near_heat(Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
                              Action action) {
  const int n = sculpture.voxels.per_cell;
  const auto share = [n](int i) { return (static_cast<float>(i) + 0.5f) / static_cast<float>(n); };
  CellHeat& here = sculpture.scratch.cell;
  for (const LatticeCell& cell : lattice.cells) {
    if (!reach_cell(sculpture, cell, nodes, here)) continue;
    const auto& x = here.x;
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) {
        const float w = share(k), v = share(j);
        const glm::vec3 a = glm::mix(glm::mix(x[0], x[2], v), glm::mix(x[4], x[6], v), w);
        const glm::vec3 b = glm::mix(glm::mix(x[1], x[3], v), glm::mix(x[5], x[7], v), w);
        for (int i = 0; i < n; ++i) {
          const std::uint32_t voxel = sculpture.voxels.flat(cell.at * n + glm::ivec3(i, j, k));
          action(voxel, cell.divided ? place_of(sculpture, lattice, nodes, voxel) : glm::mix(a, b, share(i)),
                 here.near);
        }
      }
  }
}

// Raises the heat of the voxels near the segments, and burns the tissue voxels in the heat. `touching`: if
// none is in the heat, the nearest one to it burns.
void heat_tissue(Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
                 std::span<const HotSegment> hot, bool touching) {
  const auto voxel_size = static_cast<float>(sculpture.voxels.size), per_voxel = 1.f / voxel_size;
  if (!find_heat(sculpture, nodes, hot, kHeatBand * voxel_size)) return;
  float best = -kNearest;
  std::uint32_t nearest = kNoVoxel;
  for_each_voxel_near_heat(sculpture, lattice, nodes,
                           [&](std::uint32_t voxel, const glm::vec3& p, std::span<const HeatAxis> near) {
                             float depth = -INFINITY;
                             for (const HeatAxis& axis : near) depth = std::max(depth, axis.depth(p) * per_voxel);
                             if (depth > best && sculpture.voxels.kind[voxel] == Voxel::Tissue)
                               best = depth, nearest = voxel;
                             heat_voxel(sculpture, lattice, voxel, std::min(depth, 1.f));
                           });
  if (touching && nearest != kNoVoxel && sculpture.scratch.burnt.empty())
    heat_voxel(sculpture, lattice, nearest, kFaintHeat);
}

}  // namespace

glm::vec3 place_of(const Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
                   std::uint32_t voxel) {
  const glm::vec3 rest(sculpture.voxels.centre(sculpture.voxels.at(voxel)));
  return place_in(lattice, nodes, carrier_of(sculpture, lattice, voxel), rest);
}

bool in_tissue(Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
               std::span<const HotSegment> metal) {
  if (!find_heat(sculpture, nodes, metal, 0.f)) return false;
  bool inside = false;
  for_each_voxel_near_heat(
      sculpture, lattice, nodes, [&](std::uint32_t voxel, const glm::vec3& p, std::span<const HeatAxis> near) {
        if (inside || sculpture.voxels.kind[voxel] != Voxel::Tissue) return;
        inside = std::any_of(near.begin(), near.end(), [&](const HeatAxis& axis) { return axis.depth(p) >= 0.f; });
      });
  return inside;
}

namespace {

// Nearer voxels get the dose of this distance: the metal's surface has the temperature of the spark.
constexpr float kNearestPoint = 3e-4f;  // m
// The skin is refined where the dose passes this one.
constexpr float kShows = 0.2f;  // 1

// Returns the doses of a cell, which begin at 0.
float* doses_of(CoagulationField& field, std::size_t cells, std::uint32_t cell, int voxels) {
  if (field.block.empty()) field.block.assign(cells, kNoDose);
  if (field.block[cell] == kNoDose) {
    field.block[cell] = static_cast<std::uint32_t>(field.dose.size());
    field.dose.resize(field.dose.size() + static_cast<std::size_t>(voxels), 0.f);
  }
  return field.dose.data() + field.block[cell];
}

int number_in_cell(const Voxels& voxels, const glm::ivec3& at) {
  const int n = voxels.per_cell;
  const glm::ivec3 in = at % n;
  return (in.z * n + in.y) * n + in.x;
}

// Adds the dose of `dt` seconds of contact with `metal` (its surface: the radius of a segment is that of the wire).
// Allocates only when a cell gets its first dose.
CoagulationBox coagulate(Sculpture& sculpture, const Lattice& lattice, std::span<const glm::vec3> nodes,
                         std::span<const HotSegment> metal, const CoagulationParams& params, float dt) {
  CoagulationBox box;
  const auto deepest = static_cast<float>(params.deepest), spread = static_cast<float>(params.spread);
  if (!(dt > 0.f) || !find_heat(sculpture, nodes, metal, deepest)) return box;
  const Voxels& voxels = sculpture.voxels;
  sculpture.coagulated.char_dose = static_cast<float>(params.char_dose);
  const float most = 2.f * sculpture.coagulated.char_dose;
  const int n = voxels.per_cell;
  for_each_voxel_near_heat(
      sculpture, lattice, nodes, [&](std::uint32_t voxel, const glm::vec3& p, std::span<const HeatAxis> near) {
        float away = INFINITY;
        for (const HeatAxis& axis : near) away = std::min(away, -axis.depth(p));
        if (!(away <= deepest)) return;
        const float share = spread / std::max(away, kNearestPoint);
        const glm::ivec3 at = voxels.at(voxel);
        const auto cell = static_cast<std::uint32_t>(voxels.cell_of(lattice, at));
        float& dose = doses_of(sculpture.coagulated, lattice.cells.size(), cell, n * n * n)[number_in_cell(voxels, at)];
        const float before = dose;
        // Doses beyond the one that blackens tissue make no difference.
        dose = std::min(dose + dt * share * share, most);
        if (before < kShows && dose >= kShows && voxels.kind[voxel] == Voxel::Tissue)
          sculpture.scratch.moved.push_back(voxel);
        const glm::vec3 low(voxels.origin + voxels.size * glm::dvec3(at)), side(static_cast<float>(voxels.size));
        box.low = glm::min(box.low, low - side);
        box.high = glm::max(box.high, low + 2.f * side);
      });
  return box;
}

}  // namespace

float dose_at(const Sculpture& sculpture, const Lattice& lattice, const glm::vec3& p) {
  const Voxels& voxels = sculpture.voxels;
  const CoagulationField& field = sculpture.coagulated;
  if (field.block.empty()) return 0.f;
  return mean_around(voxels, lattice, p, 0.f, [&](const glm::ivec3& at, std::int32_t cell) {
    const std::uint32_t block = field.block[static_cast<std::size_t>(cell)];
    return block == kNoDose ? 0.f : field.dose[block + static_cast<std::size_t>(number_in_cell(voxels, at))];
  });
}

float look_at(const Sculpture& sculpture, const Lattice& lattice, const glm::vec3& p) {
  const float dose = dose_at(sculpture, lattice, p);
  const float charred = (dose - 1.f) / (sculpture.coagulated.char_dose - 1.f);
  return 0.5f * std::clamp(dose, 0.f, 1.f) + 0.5f * std::clamp(charred, 0.f, 1.f);
}

namespace {

// Makes separated pieces of tissue independent in the lattice, and applies gravity where nothing holds them.

class Parting {
 public:
  Parting(Sculpture& sculpture, const Lattice& lattice) : s_(sculpture), lattice_(lattice) {}

  // Makes one round, after the voxels of scratch.burnt from `first` on have burnt. Returns false when it burnt none.
  bool round(std::size_t first) {
    const std::size_t before = s_.scratch.burnt.size();
    const SeparatedPieces separated = separate_pieces(s_.voxels, std::span(s_.scratch.burnt).subspan(first), s_.pieces);
    cells_.clear();
    for (std::size_t k = 0; k < separated.ends.size(); ++k) {
      const std::span<const std::uint32_t> piece = separated.piece(k);
      if (piece.size() < static_cast<std::size_t>(s_.params.smallest_piece))
        for (const std::uint32_t voxel : piece) burn_voxel(s_, lattice_, voxel);
      else
        for (const std::uint32_t voxel : piece) cells_.push_back(cell_of(voxel));
    }
    if (!cells_.empty()) {
      add_guests(separated.voxels);
      sort_unique(cells_);
      cell_piece_.assign(s_.cells.size(), kUnknown);
      part_cells();
      part_nodes();
    }
    return s_.scratch.burnt.size() != before;
  }

 private:
  using Counts = std::vector<std::pair<glm::uvec2, int>>;  // piece now and at first, voxels
  static constexpr glm::uvec2 kUnknown{kNoVoxel - 1}, kNone{kNoVoxel};

  static void sort_unique(std::vector<std::uint32_t>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  std::uint32_t cell_of(std::uint32_t voxel) const {
    return static_cast<std::uint32_t>(s_.voxels.cell_of(lattice_, s_.voxels.at(voxel)));
  }
  // Cells without tissue of their own belong to the piece of their host.
  void add_guests(std::span<const std::uint32_t> voxels) {
    std::vector<std::uint32_t> sorted(voxels.begin(), voxels.end());
    std::sort(sorted.begin(), sorted.end());
    for (const glm::uvec2& guest : s_.hosted)
      if (std::binary_search(sorted.begin(), sorted.end(), guest.x)) cells_.push_back(guest.y);
  }

  // Has burning separated the two? Pieces that were separate from the beginning stay connected by the lattice.
  static bool parted(const glm::uvec2& a, const glm::uvec2& b) { return a.x != b.x && a.y == b.y; }
  glm::uvec2 piece(std::uint32_t voxel) const {
    const std::int32_t now = s_.pieces.of[voxel];
    return {now, s_.pieces.first[now]};
  }

  template <typename Action>
  void for_each_tissue_voxel(std::uint32_t cell, Action action) const {
    const int n = s_.voxels.per_cell;
    for (int i = 0; i < n * n * n; ++i) {
      const std::uint32_t voxel = s_.voxels.flat(lattice_.cells[cell].at * n + glm::ivec3(i % n, i / n % n, i / n / n));
      if (s_.voxels.kind[voxel] == Voxel::Tissue) action(voxel);
    }
  }

  // Returns the piece with the most voxels in a cell that is not dead.
  glm::uvec2 piece_of_cell(std::uint32_t cell) {
    glm::uvec2& known = cell_piece_[cell];
    if (known != kUnknown) return known;
    if (s_.cells[cell].at_first == 0)
      return known = s_.cells[cell].host != kNoVoxel ? piece(s_.cells[cell].host) : kNone;
    counts_.clear();
    for_each_tissue_voxel(cell, [&](std::uint32_t voxel) { count(piece(voxel), 1, counts_); });
    return known = largest(counts_);
  }

  // A cell keeps the piece with the most voxels in it.
  void part_cells() {
    for (const std::uint32_t cell : cells_) {
      if (s_.cells[cell].dead || s_.cells[cell].at_first == 0) continue;
      const glm::uvec2 kept = piece_of_cell(cell);
      if (counts_.size() < 2) continue;
      for_each_tissue_voxel(cell, [&](std::uint32_t voxel) {
        if (parted(piece(voxel), kept)) burn_voxel(s_, lattice_, voxel);
      });
    }
  }

  // A node keeps the piece with the most tissue in the cells around it; the cells of other pieces are removed.
  void part_nodes() {
    std::vector<std::uint32_t> nodes;
    for (const std::uint32_t cell : cells_)
      nodes.insert(nodes.end(), lattice_.cells[cell].node.begin(), lattice_.cells[cell].node.end());
    sort_unique(nodes);
    for (const std::uint32_t node : nodes) part_node(lattice_.node_at[node]);
  }
  void part_node(const glm::ivec3& node) {
    Counts counts;
    std::array<std::uint32_t, 8> around{};
    int cells = 0;
    for (int corner = 0; corner < 8; ++corner) {
      const glm::ivec3 at = node - corner_offset(corner);
      if (glm::any(glm::lessThan(at, glm::ivec3(0))) || glm::any(glm::greaterThanEqual(at, lattice_.size))) continue;
      const std::int32_t found = lattice_.cell_of[lattice_.flat(at)];
      if (found < 0) continue;
      const auto cell = static_cast<std::uint32_t>(found);
      if (s_.cells[cell].dead || piece_of_cell(cell) == kNone) continue;
      around[cells++] = cell;
      count(cell_piece_[cell], s_.cells[cell].left, counts);
    }
    if (counts.size() < 2) return;
    const glm::uvec2 kept = largest(counts);
    for (int i = 0; i < cells; ++i)
      if (parted(cell_piece_[around[i]], kept)) burn_cell(s_, lattice_, around[i]);
  }

  static void count(const glm::uvec2& piece, int voxels, Counts& counts) {
    for (auto& [known, n] : counts)
      if (known == piece) {
        n += voxels;
        return;
      }
    counts.emplace_back(piece, voxels);
  }
  static glm::uvec2 largest(const Counts& counts) {
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) {
                              return a.second != b.second ? a.second < b.second : a.first.x > b.first.x;
                            })
        ->first;
  }

  Sculpture& s_;
  const Lattice& lattice_;
  std::vector<std::uint32_t> cells_;    // with tissue of a new piece
  std::vector<glm::uvec2> cell_piece_;  // [cell] piece now, piece at first
  Counts counts_;                       // of the latest cell in piece_of_cell()
};

// Call after the tissue has separated: burns pieces that are too small, and separates pieces that the lattice still
// connects: a cell or node shared by two pieces is given to the one with more tissue there.
void part_pieces(Sculpture& sculpture, const Lattice& lattice) {
  Parting parting(sculpture, lattice);
  std::size_t first = 0, burnt = sculpture.scratch.burnt.size();
  while (parting.round(first)) first = std::exchange(burnt, sculpture.scratch.burnt.size());
}

// Returns which nodes are fixed, tethered or held by a fibre. [node]
std::vector<char> held_nodes(const TissueModel& model) {
  std::vector<char> held(model.rest.size(), 0);
  for (std::size_t node = 0; node < held.size(); ++node)
    held[node] = model.mass[node] > 0.f && model.inverse_mass[node] == 0.f;
  for (const Tether& tether : model.tethers) held[tether.node] = 1;
  for (std::size_t node = 0; node < model.bonded.size(); ++node) held[node] |= model.bonded[node] != 0;
  return held;
}

}  // namespace

bool is_connected(const Sculpture& sculpture, std::uint32_t a, std::uint32_t b) {
  return !std::binary_search(sculpture.severed.begin(), sculpture.severed.end(),
                             glm::uvec2(std::min(a, b), std::max(a, b)), pair_before);
}

bool is_whole(const Sculpture& sculpture, const Lattice& lattice, std::uint32_t cell) {
  if (sculpture.severed.empty()) return true;
  const auto& node = lattice.cells[cell].node;
  DisjointSets corners(8);
  for (std::uint32_t i = 0; i < 8; ++i)
    for (std::uint32_t j = i + 1; j < 8; ++j)
      if (is_connected(sculpture, node[i], node[j])) corners.join(i, j);
  for (std::uint32_t i = 1; i < 8; ++i)
    if (corners.root(i) != corners.root(0)) return false;
  return true;
}

std::vector<std::uint32_t> node_parts(const Sculpture& sculpture, const Lattice& lattice) {
  std::vector<char> at_slit(lattice.node_at.size(), 0);
  for (const glm::uvec2& nodes : sculpture.severed) at_slit[nodes.x] = at_slit[nodes.y] = 1;
  DisjointSets nodes(lattice.node_at.size());
  for (std::uint32_t c = 0; c < sculpture.cells.size(); ++c) {
    if (sculpture.cells[c].dead) continue;
    const auto& node = lattice.cells[c].node;
    const bool whole = std::none_of(node.begin(), node.end(), [&](std::uint32_t n) { return at_slit[n] != 0; });
    for (int i = 0; i < 8; ++i)
      for (int j = i + 1; j < (whole ? i + 2 : 8); ++j)
        if (j < 8 && (whole || is_connected(sculpture, node[i], node[j]))) nodes.join(node[i], node[j]);
  }
  for (std::uint32_t n = 0; n < nodes.parent.size(); ++n) nodes.parent[n] = nodes.root(n);
  return nodes.parent;
}

std::uint32_t largest_part(const Sculpture& sculpture, const Lattice& lattice, std::span<const std::uint32_t> part) {
  std::vector<double> size(part.size(), 0.0);
  for (std::uint32_t cell = 0; cell < sculpture.cells.size(); ++cell) {
    if (sculpture.cells[cell].dead || sculpture.cells[cell].loose) continue;
    for (const std::uint32_t node : lattice.cells[cell].node)
      size[part[node]] += 0.125 * lattice.cells[cell].volume_fraction;
  }
  return static_cast<std::uint32_t>(std::max_element(size.begin(), size.end()) - size.begin());
}

// A cell divided by a slit may belong to several parts; it falls when all of them do.
void let_fall(Sculpture& sculpture, TissueModel& model, std::span<const std::uint32_t> part,
              std::span<const char> held) {
  for (std::uint32_t cell = 0; cell < sculpture.cells.size(); ++cell) {
    SculptCell& own = sculpture.cells[cell];
    if (own.dead || own.loose) continue;
    own.loose = true;
    for (const std::uint32_t node : model.lattice.cells[cell].node)
      if (held[part[node]])
        own.loose = false;
      else
        model.gravity[node] = sculpture.params.fall;
    if (own.loose) sculpture.change.loose.push_back(cell);
  }
}

Floor floor_of(const SculptParams& params) {
  const float length = glm::length(params.fall);
  return length > 0.f && params.floor < kNoFloor ? Floor{params.fall / length, params.floor} : Floor{};
}

void release_loose(Sculpture& sculpture, TissueModel& model) {
  const std::vector<std::uint32_t> part = node_parts(sculpture, model.lattice);
  const std::vector<char> is_held = held_nodes(model);
  std::vector<char> held(part.size(), 0);
  for (std::uint32_t cell = 0; cell < sculpture.cells.size(); ++cell) {
    if (sculpture.cells[cell].dead) continue;
    for (const std::uint32_t node : model.lattice.cells[cell].node) held[part[node]] |= is_held[node];
  }
  // An organ that was never attached is where its largest part is.
  if (!sculpture.any_held && !part.empty()) held[largest_part(sculpture, model.lattice, part)] = 1;
  let_fall(sculpture, model, part, held);
}

namespace {

// Largest distance that a strip bridges between skin and wall; a loop without a partner within it is capped.
constexpr float kStripRange = 2.5f;  // voxels

void require_valid(const SculptParams& params) {
  if (!(params.tears_at == 0.f || params.tears_at > 1.f))
    throw InputError(
        fmt::format("tissue tears at {} times its length; choose 0 for never, or more than 1", params.tears_at));
  if (params.voxels_per_cell < 1 || params.voxels_per_cell > 8)
    throw InputError(fmt::format("{} voxels along a lattice cell; choose 1 to 8", params.voxels_per_cell));
  if (params.smallest_piece < 0)
    throw InputError(fmt::format("the smallest piece has {} voxels; choose 0 or more", params.smallest_piece));
  for (int axis = 0; axis < 3; ++axis)
    if (!std::isfinite(params.fall[axis])) throw InputError("the gravity of loose parts is not a finite number");
}

void count_cells(Sculpture& sculpture, const TissueModel& model) {
  const Lattice& lattice = model.lattice;
  sculpture.cells.resize(lattice.cells.size());
  for (std::uint32_t v = 0; v < sculpture.voxels.kind.size(); ++v)
    if (sculpture.voxels.kind[v] == Voxel::Tissue) {
      SculptCell& cell = sculpture.cells[sculpture.voxels.cell_of(lattice, sculpture.voxels.at(v))];
      ++cell.at_first;
      ++cell.left;
    }
  for (std::uint32_t c = 0; c < lattice.cells.size(); ++c) {
    SculptCell& cell = sculpture.cells[c];
    cell.whole = lattice.cells[c].volume_fraction;
    if (cell.at_first > 0) continue;
    const glm::dvec3 centre = lattice.origin + lattice.spacing * (glm::dvec3(lattice.cells[c].at) + 0.5);
    cell.host = nearest_tissue(sculpture.voxels, glm::vec3(centre), 2 * sculpture.voxels.per_cell);
    if (cell.host != kNoVoxel) sculpture.hosted.push_back({cell.host, c});
  }
  std::sort(sculpture.hosted.begin(), sculpture.hosted.end(), pair_before);
}

// Where tissue was removed without heat, the outside voxels next to it get the mean heat of the inside voxels around
// them: the skin between them is then cut at the edge of the tissue.
void spread_heat(Voxels& voxels, std::span<const std::uint32_t> cold) {
  const auto neighbour = [](int i) { return glm::ivec3(i % 3, i / 3 % 3, i / 9) - 1; };
  for (const std::uint32_t voxel : cold)
    for (int i = 0; i < 27; ++i) {
      const glm::ivec3 outside = voxels.at(voxel) + neighbour(i);
      if (!voxels.is(Voxel::Outside, outside)) continue;
      float sum = 0.f, inside = 0.f;
      for (int j = 0; j < 27; ++j) {
        const glm::ivec3 at = outside + neighbour(j);
        if (!voxels.holds(at) || voxels.kind[voxels.flat(at)] == Voxel::Outside) continue;
        sum += voxels.heat[voxels.flat(at)];
        ++inside;
      }
      float& heat = voxels.heat[voxels.flat(outside)];
      heat = std::max(heat, sum / inside);
    }
}

void apply_fullness(Sculpture& sculpture, TissueModel& model) {
  SculptChange& change = sculpture.change;
  for (std::uint32_t c = 0; c < sculpture.cells.size(); ++c) {
    if (!sculpture.scratch.changed[c]) continue;
    sculpture.scratch.changed[c] = 0;
    const SculptCell& cell = sculpture.cells[c];
    change.cells.push_back(c);
    change.volume_fraction.push_back(
        cell.dead ? 0.f : cell.whole * static_cast<float>(cell.left) / static_cast<float>(cell.at_first));
  }
  if (!change.cells.empty()) set_volume_fractions(model, change.cells, change.volume_fraction);
}

LiveFaces make_live_faces(std::span<const glm::uvec3> faces) {
  LiveFaces live;
  for (const glm::uvec3& face : faces) {
    live.add(FaceKind::Skin, face);
    live.id.push_back(FaceId(live.next_id++));
  }
  return live;
}

// Returns the corners in the face's order, starting with the lowest.
std::array<std::uint32_t, 3> from_lowest(glm::uvec3 f) {
  while (f.x > f.y || f.x > f.z) f = {f.y, f.z, f.x};
  return {f.x, f.y, f.z};
}

// Strips and caps are rebuilt; unchanged ones keep their face ids.
void update_strips(Sculpture& sculpture) {
  const Loops loops = find_loops(sculpture.rim);
  std::vector<char> wall;
  for (std::size_t k = 0; k < loops.count(); ++k) wall.push_back(sculpture.vertices[loops.loop(k)[0]].wall);
  std::vector<glm::uvec3> wanted =
      close_loops(sculpture.rest, loops, wall, kStripRange * static_cast<float>(sculpture.voxels.size));

  std::vector<std::pair<std::array<std::uint32_t, 3>, std::size_t>> had;
  for (std::size_t slot = 0; slot < sculpture.faces.size(); ++slot)
    if (sculpture.faces.kind[slot] == FaceKind::Strip) {
      had.emplace_back(from_lowest(sculpture.faces.corners[slot]), slot);
      sculpture.faces.removed[slot] = 1;
    }
  std::sort(had.begin(), had.end());
  for (const glm::uvec3& face : wanted) {
    const auto key = from_lowest(face);
    auto known = std::lower_bound(had.begin(), had.end(), std::pair{key, std::size_t{0}});
    while (known != had.end() && known->first == key && !sculpture.faces.removed[known->second]) ++known;
    if (known != had.end() && known->first == key)
      sculpture.faces.removed[known->second] = 0;
    else
      sculpture.faces.add(FaceKind::Strip, face);
  }
}

// A strip face may coincide with another face in opposite orientation. The two enclose nothing, so both are removed;
// the surface stays closed, because their edges cancel.
void drop_back_to_back(Sculpture& sculpture) {
  LiveFaces& faces = sculpture.faces;
  std::vector<char> on_strip(sculpture.rest.size(), 0);
  for (std::size_t slot = 0; slot < faces.size(); ++slot)
    if (faces.kind[slot] == FaceKind::Strip && !faces.removed[slot])
      for (int corner = 0; corner < 3; ++corner) on_strip[faces.corners[slot][corner]] = 1;
  struct Side {
    std::array<std::uint32_t, 3> corners;  // ascending
    bool turned;                           // the face has the opposite orientation
    std::size_t slot;
  };
  std::vector<Side> sides;
  for (std::size_t slot = 0; slot < faces.size(); ++slot) {
    const glm::uvec3& f = faces.corners[slot];
    if (faces.removed[slot] || !on_strip[f.x] || !on_strip[f.y] || !on_strip[f.z]) continue;
    const auto [low, second, third] = from_lowest(f);
    sides.push_back({{low, std::min(second, third), std::max(second, third)}, second > third, slot});
  }
  const auto key = [](const Side& side) { return std::tie(side.corners, side.turned, side.slot); };
  std::sort(sides.begin(), sides.end(), [&](const Side& a, const Side& b) { return key(a) < key(b); });
  sculpture.scratch.edges.clear();
  for (std::size_t begin = 0, turned = 0, end = 0; begin < sides.size(); begin = end) {
    for (end = begin; end < sides.size() && sides[end].corners == sides[begin].corners && !sides[end].turned;) ++end;
    for (turned = end; end < sides.size() && sides[end].corners == sides[begin].corners;) ++end;
    for (std::size_t i = begin, j = turned; i < turned && j < end; ++i, ++j)
      for (const std::size_t slot : {sides[i].slot, sides[j].slot}) {
        faces.removed[slot] = 1;
        if (faces.kind[slot] != FaceKind::Strip) add_edges(faces.corners[slot], -1, sculpture.scratch.edges);
      }
  }
  update_rim(sculpture.rim, sculpture.scratch.edges);
}

const SculptChange& resurface(Sculpture& sculpture, TissueModel& model) {
  part_pieces(sculpture, model.lattice);
  spread_heat(sculpture.voxels, sculpture.scratch.cold);
  apply_fullness(sculpture, model);
  if (sculpture.scratch.cell_died) release_loose(sculpture, model);
  std::vector<std::uint32_t>& moved = sculpture.scratch.moved;
  moved.insert(moved.end(), sculpture.scratch.burnt.begin(), sculpture.scratch.burnt.end());
  refine_skin(sculpture, model);
  cut_skin(sculpture, model);
  update_wall(sculpture, model);
  note_edges(sculpture);
  update_strips(sculpture);
  drop_back_to_back(sculpture);
  renumber_faces(sculpture.faces, sculpture.change.faces);
  for (const std::uint32_t voxel : moved) sculpture.shown[voxel] = sculpture.voxels.heat[voxel];
  sculpture.change.new_vertices = static_cast<std::uint32_t>(sculpture.rest.size()) - sculpture.change.first_vertex;
  sculpture.change.burnt_voxels = static_cast<std::uint32_t>(sculpture.scratch.burnt.size());
  return sculpture.change;
}

const SculptChange& resurface_if_changed(Sculpture& sculpture, TissueModel& model) {
  const bool changed = !sculpture.scratch.burnt.empty() || !sculpture.scratch.moved.empty();
  return changed ? resurface(sculpture, model) : sculpture.change;
}

}  // namespace

void begin_change(Sculpture& sculpture) {
  sculpture.change.faces.removed.clear();
  sculpture.change.faces.first_new = FaceId(sculpture.faces.next_id);
  sculpture.change.faces.new_faces = 0;
  sculpture.change.first_vertex = static_cast<std::uint32_t>(sculpture.rest.size());
  sculpture.change.new_vertices = 0;
  sculpture.change.carried.clear();
  sculpture.change.cells.clear();
  sculpture.change.volume_fraction.clear();
  sculpture.change.loose.clear();
  sculpture.change.slit_walls = 0;
  sculpture.change.burnt_voxels = 0;
  sculpture.scratch.burnt.clear();
  sculpture.scratch.cold.clear();
  sculpture.scratch.moved.clear();
  sculpture.scratch.cell_died = false;
}

void note_edges(Sculpture& sculpture) {
  const LiveFaces& faces = sculpture.faces;
  sculpture.scratch.edges.clear();
  for (std::size_t slot = 0; slot < faces.size(); ++slot) {
    const bool old = slot < faces.id.size();
    if (faces.kind[slot] == FaceKind::Strip || old != (faces.removed[slot] != 0)) continue;
    add_edges(faces.corners[slot], old ? -1 : 1, sculpture.scratch.edges);
  }
  update_rim(sculpture.rim, sculpture.scratch.edges);
}

std::uint32_t add_vertex(Sculpture& sculpture, TissueModel& model, const glm::vec3& rest, const SculptVertex& vertex) {
  sculpture.rest.push_back(rest);
  sculpture.vertices.push_back(vertex);
  model.embedding.push_back(embed_in(model.lattice, vertex.cell, rest));
  return static_cast<std::uint32_t>(sculpture.rest.size() - 1);
}

Sculpture make_sculpture(const MeshView& organ, const TissueModel& model, const SculptParams& params) {
  require_valid(params);
  Sculpture sculpture;
  sculpture.params = params;
  sculpture.voxels = make_voxels(organ, model.lattice, params.voxels_per_cell, params.smallest_piece);
  count_cells(sculpture, model);
  const std::vector<char> held = held_nodes(model);
  sculpture.any_held = std::find(held.begin(), held.end(), 1) != held.end();
  sculpture.pieces = first_pieces(sculpture.voxels);
  sculpture.rest.assign(organ.positions.begin(), organ.positions.end());
  for (const glm::vec3& p : organ.positions)
    sculpture.vertices.push_back(attach_to_skin(sculpture, model.lattice, p, SculptVertex{}));
  sculpture.faces = make_live_faces(welded_faces(organ.positions, organ.faces));
  const glm::ivec3 corners = sculpture.voxels.count + 1;
  sculpture.shown = sculpture.voxels.heat;
  sculpture.corner_vertex.assign(static_cast<std::size_t>(corners.x) * corners.y * corners.z, kNoVoxel);
  sculpture.scratch.sides.assign(model.rest.size(), 0);
  sculpture.scratch.changed.assign(sculpture.cells.size(), 0);
  begin_change(sculpture);
  return sculpture;
}

const SculptChange& burn(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const HotSegment& hot) {
  begin_change(sculpture);
  heat_tissue(sculpture, model.lattice, state.x, std::span(&hot, 1), false);
  return resurface_if_changed(sculpture, model);
}

const SculptChange& cauterise(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const HotMetal& hot,
                              CoagulationBox& box) {
  begin_change(sculpture);
  if (!hot.cut.empty()) heat_tissue(sculpture, model.lattice, state.x, hot.cut, true);
  box = coagulate(sculpture, model.lattice, state.x, hot.metal, hot.coagulation, hot.time);
  return resurface_if_changed(sculpture, model);
}

// A cell that is pressed to less than this share of its volume, or turned inside out, is crushed.
constexpr float kLeastVolume = 0.1f;

void overstretched_cells(const Lattice& lattice, std::span<const glm::vec3> nodes, float tears_at,
                         std::vector<std::uint32_t>& cells) {
  cells.clear();
  const auto spacing = static_cast<float>(lattice.spacing);
  const float limit = tears_at * spacing, thin = spacing / (tears_at * tears_at);
  const auto longer = [limit](const glm::vec3& way, float rest) {
    return glm::dot(way, way) >= limit * limit * rest * rest;
  };
  for (std::uint32_t c = 0; c < lattice.cells.size(); ++c) {
    const LatticeCell& cell = lattice.cells[c];
    if (!(cell.volume_fraction > 0.f)) continue;
    const auto x = [&](std::size_t corner) { return nodes[cell.node[corner]]; };
    bool apart = false;
    glm::mat3 edges(0.f);
    for (int axis = 0; axis < 3; ++axis) {
      for (std::size_t corner = 0; corner < 8; ++corner)
        edges[axis] += (corner >> axis & 1 ? 0.25f : -0.25f) * x(corner);
      apart = apart || longer(edges[axis], 1.f) || glm::dot(edges[axis], edges[axis]) <= thin * thin;
    }
    apart = apart || glm::determinant(edges) <= kLeastVolume * spacing * spacing * spacing;
    for (std::size_t corner = 0; corner < 4; ++corner)
      apart = apart || longer(x(7 - corner) - x(corner), std::sqrt(3.f));
    if (apart) cells.push_back(c);
  }
}

const SculptChange& remove_cells(Sculpture& sculpture, TissueModel& model, std::span<const std::uint32_t> cells) {
  begin_change(sculpture);
  for (const std::uint32_t cell : cells)
    if (cell < sculpture.cells.size()) burn_cell(sculpture, model.lattice, cell);
  return sculpture.scratch.cell_died ? resurface(sculpture, model) : sculpture.change;
}

}  // namespace trocar
