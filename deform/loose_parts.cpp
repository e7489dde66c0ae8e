// Makes separated pieces of tissue independent in the lattice, and applies gravity where nothing holds them.
#include <algorithm>
#include <numeric>

#include "deform/sculpt_parts.hpp"

namespace trocar {
namespace {

class Parting {
 public:
  Parting(Sculpture& sculpture, const Lattice& lattice) : s_(sculpture), lattice_(lattice) {}

  // Makes one round. Returns false when no voxel was burnt.
  bool round() {
    const std::int32_t pieces = label_pieces(s_.voxels, piece_of_);
    const std::size_t before = s_.scratch.burnt.size();
    burn_specks(pieces);
    if (pieces > 1) {
      part_cells();
      part_nodes();
    }
    return s_.scratch.burnt.size() != before;
  }

 private:
  void burn_specks(std::int32_t pieces) {
    std::vector<int> size(pieces, 0);
    for (const std::int32_t piece : piece_of_)
      if (piece >= 0) ++size[piece];
    if (std::all_of(size.begin(), size.end(), [&](int n) { return n >= s_.params.smallest_piece; })) return;
    for (std::uint32_t voxel = 0; voxel < piece_of_.size(); ++voxel)
      if (piece_of_[voxel] >= 0 && size[piece_of_[voxel]] < s_.params.smallest_piece) burn_voxel(s_, lattice_, voxel);
  }

  // Has burning separated the two? Pieces that were separate from the beginning stay connected by the lattice.
  bool parted(const glm::uvec2& a, const glm::uvec2& b) const { return a.x != b.x && a.y == b.y; }
  glm::uvec2 piece(std::uint32_t voxel) const { return {piece_of_[voxel], s_.first_piece[voxel]}; }

  template <typename Action>
  void for_each_tissue_voxel(std::uint32_t cell, Action action) const {
    const int n = s_.voxels.per_cell;
    for (int i = 0; i < n * n * n; ++i) {
      const std::uint32_t voxel = s_.voxels.flat(lattice_.cells[cell].at * n + glm::ivec3(i % n, i / n % n, i / n / n));
      if (s_.voxels.kind[voxel] == Voxel::Tissue) action(voxel);
    }
  }

  // A cell keeps the piece with the most voxels in it.
  void part_cells() {
    cell_piece_.assign(s_.cells.size(), glm::uvec2(kNoVoxel));
    std::vector<std::pair<glm::uvec2, int>> counts;
    for (std::uint32_t cell = 0; cell < s_.cells.size(); ++cell) {
      if (s_.cells[cell].dead) continue;
      if (s_.cells[cell].at_first == 0) {
        if (s_.cells[cell].host != kNoVoxel) cell_piece_[cell] = piece(s_.cells[cell].host);
        continue;
      }
      counts.clear();
      for_each_tissue_voxel(cell, [&](std::uint32_t voxel) { count(piece(voxel), 1, counts); });
      const glm::uvec2 kept = cell_piece_[cell] = largest(counts);
      if (counts.size() > 1)
        for_each_tissue_voxel(cell, [&](std::uint32_t voxel) {
          if (parted(piece(voxel), kept)) burn_voxel(s_, lattice_, voxel);
        });
    }
  }

  // A node keeps the piece with the most tissue in the cells around it; the cells of other pieces are removed.
  void part_nodes() {
    std::vector<std::pair<glm::uvec2, int>> counts;
    for (const glm::ivec3& node : lattice_.node_at) {
      counts.clear();
      std::array<std::uint32_t, 8> around{};
      int cells = 0;
      for (int corner = 0; corner < 8; ++corner) {
        const glm::ivec3 at = node - corner_offset(corner);
        if (glm::any(glm::lessThan(at, glm::ivec3(0))) || glm::any(glm::greaterThanEqual(at, lattice_.size))) continue;
        const std::int32_t cell = lattice_.cell_of[lattice_.flat(at)];
        if (cell < 0 || s_.cells[cell].dead || cell_piece_[cell].x == kNoVoxel) continue;
        around[cells++] = static_cast<std::uint32_t>(cell);
        count(cell_piece_[cell], s_.cells[cell].left, counts);
      }
      if (counts.size() < 2) continue;
      const glm::uvec2 kept = largest(counts);
      for (int i = 0; i < cells; ++i)
        if (parted(cell_piece_[around[i]], kept)) burn_cell(s_, lattice_, around[i]);
    }
  }

  static void count(const glm::uvec2& piece, int voxels, std::vector<std::pair<glm::uvec2, int>>& counts) {
    for (auto& [known, n] : counts)
      if (known == piece) {
        n += voxels;
        return;
      }
    counts.emplace_back(piece, voxels);
  }
  static glm::uvec2 largest(const std::vector<std::pair<glm::uvec2, int>>& counts) {
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) {
                              return a.second != b.second ? a.second < b.second : a.first.x > b.first.x;
                            })
        ->first;
  }

  Sculpture& s_;
  const Lattice& lattice_;
  std::vector<std::int32_t> piece_of_;  // [voxel]
  std::vector<glm::uvec2> cell_piece_;  // [cell] piece now, piece at first; kNoVoxel: none
};

// Returns the components of cells with tissue that shared nodes connect. [cell] first cell of its component; dead
// cells: itself.
std::vector<std::uint32_t> lattice_parts(const Sculpture& sculpture, const Lattice& lattice) {
  std::vector<std::uint32_t> parent(sculpture.cells.size()), cell_at(lattice.node_at.size(), kNoVoxel);
  std::iota(parent.begin(), parent.end(), 0u);
  const auto root = [&](std::uint32_t cell) {
    while (parent[cell] != cell) cell = parent[cell] = parent[parent[cell]];
    return cell;
  };
  for (std::uint32_t cell = 0; cell < parent.size(); ++cell) {
    if (sculpture.cells[cell].dead) continue;
    for (const std::uint32_t node : lattice.cells[cell].node) {
      if (cell_at[node] == kNoVoxel) cell_at[node] = cell;
      const std::uint32_t a = root(cell), b = root(cell_at[node]);
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  for (std::uint32_t cell = 0; cell < parent.size(); ++cell) parent[cell] = root(cell);
  return parent;
}

}  // namespace

void part_pieces(Sculpture& sculpture, const Lattice& lattice) {
  if (!may_have_divided(sculpture.voxels, sculpture.scratch.burnt)) return;
  Parting parting(sculpture, lattice);
  while (parting.round()) {
  }
}

void release_loose(Sculpture& sculpture, TissueModel& model) {
  const std::vector<std::uint32_t> part = lattice_parts(sculpture, model.lattice);
  std::vector<char> held(part.size(), 0);
  std::vector<double> size(part.size(), 0.0);
  for (std::uint32_t cell = 0; cell < part.size(); ++cell) {
    if (sculpture.cells[cell].dead) continue;
    held[part[cell]] |= sculpture.cells[cell].held;
    if (!sculpture.cells[cell].loose) size[part[cell]] += model.lattice.cells[cell].fullness;
  }
  // An organ without attachments is where its largest part is.
  if (!sculpture.any_held && !size.empty()) held[std::max_element(size.begin(), size.end()) - size.begin()] = 1;
  for (std::uint32_t cell = 0; cell < part.size(); ++cell) {
    SculptCell& own = sculpture.cells[cell];
    if (own.dead || own.loose || held[part[cell]]) continue;
    own.loose = true;
    sculpture.change.loose.push_back(cell);
    for (const std::uint32_t node : model.lattice.cells[cell].node) model.gravity[node] = sculpture.params.fall;
  }
}

}  // namespace trocar
