#include "deform/cut/voxels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "geometry/disjoint_sets.hpp"

namespace trocar {
namespace {

// The test whether tissue is still connected near a burn looks this far around it.
constexpr int kNearby = 2;  // voxels

// Fills tissue through the sides of voxels, from `seed`. `visit` returns true for a voxel that is new and inside the
// limits.
template <typename Visit>
void flood(const Voxels& voxels, const glm::ivec3& seed, std::vector<glm::ivec3>& stack, Visit visit) {
  stack.assign(1, seed);
  while (!stack.empty()) {
    const glm::ivec3 at = stack.back();
    stack.pop_back();
    for (int side = 0; side < 6; ++side) {
      const glm::ivec3 next = at + side_offset(side);
      if (voxels.is(Voxel::Tissue, next) && visit(next)) stack.push_back(next);
    }
  }
}

// The voxels at most `reach` rows, columns and layers from the one that contains `p`.
template <typename Action>
void for_each_around(const Voxels& voxels, const glm::vec3& p, int reach, Action action) {
  const glm::ivec3 middle = voxels.containing(p);
  const glm::ivec3 low = glm::max(middle - reach, glm::ivec3(0));
  const glm::ivec3 high = glm::min(middle + reach, voxels.count - 1);
  for (int z = low.z; z <= high.z; ++z)
    for (int y = low.y; y <= high.y; ++y)
      for (int x = low.x; x <= high.x; ++x) action(glm::ivec3(x, y, z));
}

// Connected runs of tissue along rows; runs of the rows above and beside are compared with them.
class Runs {
 public:
  explicit Runs(const Voxels& voxels) : voxels_(voxels) {
    const int rows = voxels.count.y * voxels.count.z;
    first_run_.reserve(static_cast<std::size_t>(rows) + 1);
    for (int row = 0; row < rows; ++row) {
      first_run_.push_back(runs_.size());
      add_row(static_cast<std::uint32_t>(row));
      if (row % voxels.count.y > 0) join(row - 1, row);
      if (row >= voxels.count.y) join(row - voxels.count.y, row);
    }
    first_run_.push_back(runs_.size());
  }

  std::int32_t label(std::vector<std::int32_t>& piece_of) {
    piece_of.assign(voxels_.kind.size(), -1);
    std::vector<std::int32_t> number(runs_.size(), -1);
    std::int32_t pieces = 0;
    for (std::uint32_t r = 0; r < runs_.size(); ++r) {
      std::int32_t& piece = number[joined_.root(r)];
      if (piece < 0) piece = pieces++;
      std::fill(piece_of.begin() + runs_[r].first, piece_of.begin() + runs_[r].end, piece);
    }
    return pieces;
  }

 private:
  struct Run {
    std::uint32_t first, end;  // voxels
  };

  void add_row(std::uint32_t row) {
    const auto length = static_cast<std::uint32_t>(voxels_.count.x);
    for (std::uint32_t v = row * length; v < (row + 1) * length; ++v) {
      if (voxels_.kind[v] != Voxel::Tissue) continue;
      const std::uint32_t first = v;
      while (v < (row + 1) * length && voxels_.kind[v] == Voxel::Tissue) ++v;
      runs_.push_back({first, v});
      joined_.add();
    }
  }

  // Connects the runs of `row`, the latest one, with those of an earlier row.
  void join(int before, int row) {
    const auto shift = static_cast<std::uint32_t>(row - before) * static_cast<std::uint32_t>(voxels_.count.x);
    std::size_t a = first_run_[before], b = first_run_[row];
    while (a < first_run_[before + 1] && b < runs_.size()) {
      if (runs_[a].first + shift < runs_[b].end && runs_[b].first < runs_[a].end + shift)
        joined_.join(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
      ++(runs_[a].end + shift < runs_[b].end ? a : b);
    }
  }

  const Voxels& voxels_;
  std::vector<Run> runs_;
  DisjointSets joined_;                 // [run]
  std::vector<std::size_t> first_run_;  // [row + 1]
};

}  // namespace

Voxels make_voxels(const MeshView& organ, const Lattice& lattice, int per_cell, int smallest_piece) {
  Lattice fine;
  fine.origin = lattice.origin;
  fine.spacing = lattice.spacing / per_cell;
  fine.size = lattice.size * per_cell;
  const std::vector<float> share = measure_volume_fractions(organ, fine);

  Voxels voxels;
  voxels.per_cell = per_cell;
  voxels.size = fine.spacing;
  voxels.origin = fine.origin;
  voxels.count = fine.size;
  voxels.kind.assign(share.size(), Voxel::Outside);
  voxels.heat.assign(share.size(), -1.f);
  for (std::uint32_t v = 0; v < share.size(); ++v)
    if (share[v] >= 0.5f && voxels.cell_of(lattice, voxels.at(v)) >= 0) voxels.kind[v] = Voxel::Tissue;

  std::vector<std::int32_t> piece_of;
  std::vector<int> size(label_pieces(voxels, piece_of), 0);
  for (const std::int32_t piece : piece_of)
    if (piece >= 0) ++size[piece];
  for (std::uint32_t v = 0; v < share.size(); ++v)
    if (piece_of[v] >= 0 && size[piece_of[v]] < smallest_piece) voxels.kind[v] = Voxel::Outside;
  return voxels;
}

std::uint32_t nearest_tissue(const Voxels& voxels, const glm::vec3& p, int reach) {
  std::uint32_t nearest = kNoVoxel;
  double best = INFINITY;
  for_each_around(voxels, p, reach, [&](const glm::ivec3& at) {
    const std::uint32_t voxel = voxels.flat(at);
    if (voxels.kind[voxel] != Voxel::Tissue) return;
    const glm::dvec3 gap = voxels.centre(at) - glm::dvec3(p);
    if (const double squared = glm::dot(gap, gap); squared < best) best = squared, nearest = voxel;
  });
  return nearest;
}

bool burnt_near(const Voxels& voxels, const glm::vec3& p, double reach) {
  bool near = false;
  const double farthest = reach * voxels.size;
  for_each_around(voxels, p, static_cast<int>(std::ceil(reach)), [&](const glm::ivec3& at) {
    const glm::dvec3 gap = voxels.centre(at) - glm::dvec3(p);
    near |= voxels.kind[voxels.flat(at)] == Voxel::Burnt && glm::dot(gap, gap) <= farthest * farthest;
  });
  return near;
}

float heat_at(const Voxels& voxels, const Lattice& lattice, const glm::vec3& p) {
  return mean_around(voxels, lattice, p, -1.f,
                     [&](const glm::ivec3& at, std::int32_t) { return voxels.heat[voxels.flat(at)]; });
}

std::int32_t label_pieces(const Voxels& voxels, std::vector<std::int32_t>& piece_of) {
  return Runs(voxels).label(piece_of);
}

std::vector<std::uint32_t> sides_of_burn(const Voxels& voxels, std::span<const std::uint32_t> burnt) {
  std::vector<std::uint32_t> sides;
  glm::ivec3 low(voxels.count), high(0);
  for (const std::uint32_t voxel : burnt) {
    low = glm::min(low, voxels.at(voxel) - kNearby);
    high = glm::max(high, voxels.at(voxel) + kNearby);
  }
  low = glm::max(low, glm::ivec3(0));
  high = glm::min(high, voxels.count - 1);
  const glm::ivec3 size = high - low + 1;
  if (burnt.empty() || glm::any(glm::lessThan(size, glm::ivec3(1)))) return sides;
  const auto local = [&](const glm::ivec3& at) {
    return ((at.z - low.z) * size.y + at.y - low.y) * size.x + at.x - low.x;
  };

  std::vector<char> reached(static_cast<std::size_t>(size.x) * size.y * size.z, 0);
  std::vector<glm::ivec3> stack;
  for (const std::uint32_t voxel : burnt)
    for (int side = 0; side < 6; ++side) {
      const glm::ivec3 next = voxels.at(voxel) + side_offset(side);
      if (!voxels.is(Voxel::Tissue, next) || reached[local(next)]) continue;
      sides.push_back(voxels.flat(next));
      reached[local(next)] = 1;
      flood(voxels, next, stack, [&](const glm::ivec3& at) {
        if (glm::any(glm::lessThan(at, low)) || glm::any(glm::greaterThan(at, high)) || reached[local(at)])
          return false;
        reached[local(at)] = 1;
        return true;
      });
    }
  return sides;
}

namespace {

// Voxels that a search visits in a turn.
constexpr int kVoxelsPerTurn = 64;

// A search through one side of a burn. Searches that meet belong to the same piece.
struct PieceSearch {
  std::int32_t old;      // the piece in which it started
  std::size_t next = 0;  // of the voxels: those before it are done
  std::vector<std::uint32_t> voxels;

  bool ended() const { return next == voxels.size(); }
};

class Searches {
 public:
  Searches(const Voxels& voxels, TissuePieces& pieces)
      : voxels_(voxels), pieces_(pieces), base_(static_cast<std::int32_t>(pieces.first.size())) {}

  void start(std::uint32_t voxel) {
    const auto number = static_cast<std::uint32_t>(list_.size());
    list_.push_back({pieces_.of[voxel], 0, {voxel}});
    joined_.add();
    pieces_.of[voxel] = base_ + static_cast<std::int32_t>(number);
  }
  void run() {
    while (must_go_on())
      for (std::uint32_t k = 0; k < list_.size(); ++k) take_turn(k);
  }
  SeparatedPieces finish();

 private:
  void take_turn(std::uint32_t k) {
    for (int i = 0; i < kVoxelsPerTurn && !list_[k].ended(); ++i) {
      const glm::ivec3 at = voxels_.at(list_[k].voxels[list_[k].next++]);
      for (int side = 0; side < 6; ++side)
        if (voxels_.is(Voxel::Tissue, at + side_offset(side))) visit(k, voxels_.flat(at + side_offset(side)));
    }
  }
  void visit(std::uint32_t k, std::uint32_t voxel) {
    std::int32_t& piece = pieces_.of[voxel];
    if (piece < base_) {
      piece = base_ + static_cast<std::int32_t>(k);
      list_[k].voxels.push_back(voxel);
      return;
    }
    joined_.join(k, static_cast<std::uint32_t>(piece - base_));
  }

  // Returns whether two or more parts of one old piece are not yet known to be separate from each other.
  bool must_go_on() {
    open_.clear();
    for (std::uint32_t k = 0; k < list_.size(); ++k)
      if (!list_[k].ended()) open_.push_back(joined_.root(k));
    std::sort(open_.begin(), open_.end());
    open_.erase(std::unique(open_.begin(), open_.end()), open_.end());
    for (std::size_t i = 0; i < open_.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (list_[open_[i]].old == list_[open_[j]].old) return true;
    return false;
  }

  // Returns the root that keeps the number of the piece `old`.
  std::uint32_t heir_of(std::int32_t old);

  const Voxels& voxels_;
  TissuePieces& pieces_;
  std::int32_t base_;
  std::vector<PieceSearch> list_;
  DisjointSets joined_;              // [list_]
  std::vector<std::uint32_t> open_;  // roots of searches that have not ended
};

std::uint32_t Searches::heir_of(std::int32_t old) {
  std::vector<std::size_t> size(list_.size(), 0);
  for (std::uint32_t k = 0; k < list_.size(); ++k)
    if (list_[k].old == old) size[joined_.root(k)] += list_[k].ended() ? list_[k].voxels.size() : voxels_.kind.size();
  return static_cast<std::uint32_t>(std::max_element(size.begin(), size.end()) - size.begin());
}

SeparatedPieces Searches::finish() {
  SeparatedPieces out;
  for (std::uint32_t r = 0; r < list_.size(); ++r) {
    if (joined_.root(r) != r) continue;
    const bool keeps = heir_of(list_[r].old) == r;
    const auto number = keeps ? list_[r].old : static_cast<std::int32_t>(pieces_.first.size());
    for (std::uint32_t k = r; k < list_.size(); ++k) {
      if (joined_.root(k) != r) continue;
      for (const std::uint32_t voxel : list_[k].voxels) pieces_.of[voxel] = number;
      if (!keeps) out.voxels.insert(out.voxels.end(), list_[k].voxels.begin(), list_[k].voxels.end());
    }
    if (keeps) continue;
    pieces_.first.push_back(pieces_.first[list_[r].old]);
    out.ends.push_back(out.voxels.size());
  }
  return out;
}

}  // namespace

TissuePieces first_pieces(const Voxels& voxels) {
  TissuePieces pieces;
  pieces.first.resize(label_pieces(voxels, pieces.of));
  std::iota(pieces.first.begin(), pieces.first.end(), 0);
  return pieces;
}

SeparatedPieces separate_pieces(const Voxels& voxels, std::span<const std::uint32_t> burnt, TissuePieces& pieces) {
  const std::vector<std::uint32_t> sides = sides_of_burn(voxels, burnt);
  if (sides.size() < 2) return {};
  Searches searches(voxels, pieces);
  for (const std::uint32_t voxel : sides) searches.start(voxel);
  searches.run();
  return searches.finish();
}

}  // namespace trocar
