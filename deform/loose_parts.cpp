// Makes separated pieces of tissue independent in the lattice, and applies gravity where nothing holds them.
#include <algorithm>
#include <utility>

#include "deform/cut/sculpt_steps.hpp"
#include "deform/links.hpp"

namespace trocar {
namespace {

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

bool severed_before(const glm::uvec2& a, const glm::uvec2& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; }

}  // namespace

void part_pieces(Sculpture& sculpture, const Lattice& lattice) {
  Parting parting(sculpture, lattice);
  std::size_t first = 0, burnt = sculpture.scratch.burnt.size();
  while (parting.round(first)) first = std::exchange(burnt, sculpture.scratch.burnt.size());
}

std::vector<char> held_nodes(const TissueModel& model) {
  std::vector<char> held(model.rest.size(), 0);
  for (std::size_t node = 0; node < held.size(); ++node)
    held[node] = model.mass[node] > 0.f && model.inverse_mass[node] == 0.f;
  for (const Tether& tether : model.tethers) held[tether.node] = 1;
  for (std::size_t node = 0; node < model.bonded.size(); ++node) held[node] |= model.bonded[node] != 0;
  return held;
}

bool is_connected(const Sculpture& sculpture, std::uint32_t a, std::uint32_t b) {
  return !std::binary_search(sculpture.severed.begin(), sculpture.severed.end(),
                             glm::uvec2(std::min(a, b), std::max(a, b)), severed_before);
}

bool is_whole(const Sculpture& sculpture, const Lattice& lattice, std::uint32_t cell) {
  if (sculpture.severed.empty()) return true;
  const auto& node = lattice.cells[cell].node;
  Links corners(8);
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
  Links nodes(lattice.node_at.size());
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
    for (const std::uint32_t node : lattice.cells[cell].node) size[part[node]] += 0.125 * lattice.cells[cell].fullness;
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

}  // namespace trocar
