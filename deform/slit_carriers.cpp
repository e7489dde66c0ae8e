// Chooses the whole cells that move the surface and the voxels near slits. Such a cell lies on the same side of every
// slit: it is found by walking along springs that no slit cuts, from the nodes of the cell that carried the point
// before.
#include <algorithm>
#include <tuple>

#include "deform/cut/sculpt_steps.hpp"
#include "deform/slit_parts.hpp"

namespace trocar {
namespace {

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
  void settle_pieces() {
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
      if (piece[v] != kNoVoxel) settle_vertex(v, piece[v], part, shares);
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
    std::vector<std::uint32_t> parent(s_.rest.size(), kNoVoxel);
    const auto root = [&](std::uint32_t v) {
      while (parent[v] != v) v = parent[v] = parent[parent[v]];
      return v;
    };
    for (std::size_t slot = 0; slot < s_.faces.size(); ++slot) {
      if (s_.faces.removed[slot]) continue;
      const glm::uvec3& f = s_.faces.corners[slot];
      for (int i = 0; i < 3; ++i)
        if (parent[f[i]] == kNoVoxel) parent[f[i]] = f[i];
      for (int i = 1; i < 3; ++i) {
        const std::uint32_t a = root(f.x), b = root(f[i]);
        parent[std::max(a, b)] = std::min(a, b);
      }
    }
    for (std::uint32_t v = 0; v < parent.size(); ++v)
      if (parent[v] != kNoVoxel) parent[v] = root(v);
    return parent;
  }

  void settle_vertex(std::uint32_t v, std::uint32_t piece, const std::vector<std::uint32_t>& part,
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

void carry_sides(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const Slit& slit) {
  CarrierFinder finder(sculpture, model, state, slit);
  finder.carry_vertices();
  finder.carry_voxels();
  finder.settle_pieces();
}

}  // namespace trocar
