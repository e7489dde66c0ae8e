#include "deform/tissue_pieces.hpp"

#include <algorithm>
#include <numeric>

namespace trocar {
namespace {

// Voxels that a search visits in a turn.
constexpr int kTurn = 64;

// A search through one side of a burn. Searches that meet belong to the same piece.
struct PieceSearch {
  std::uint32_t parent;  // of a forest: the root is the lowest search of a piece
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
    list_.push_back({number, pieces_.of[voxel], 0, {voxel}});
    pieces_.of[voxel] = base_ + static_cast<std::int32_t>(number);
  }
  void run() {
    while (must_go_on())
      for (std::uint32_t k = 0; k < list_.size(); ++k) take_turn(k);
  }
  SeparatedPieces finish();

 private:
  std::uint32_t root(std::uint32_t k) {
    while (list_[k].parent != k) k = list_[k].parent = list_[list_[k].parent].parent;
    return k;
  }

  void take_turn(std::uint32_t k) {
    for (int i = 0; i < kTurn && !list_[k].ended(); ++i) {
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
    const std::uint32_t a = root(k), b = root(static_cast<std::uint32_t>(piece - base_));
    list_[std::max(a, b)].parent = std::min(a, b);
  }

  // Returns whether two or more parts of one old piece are not yet known to be separate from each other.
  bool must_go_on() {
    open_.clear();
    for (std::uint32_t k = 0; k < list_.size(); ++k)
      if (!list_[k].ended()) open_.push_back(root(k));
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
  std::vector<std::uint32_t> open_;  // roots of searches that have not ended
};

std::uint32_t Searches::heir_of(std::int32_t old) {
  std::vector<std::size_t> size(list_.size(), 0);
  for (std::uint32_t k = 0; k < list_.size(); ++k)
    if (list_[k].old == old) size[root(k)] += list_[k].ended() ? list_[k].voxels.size() : voxels_.kind.size();
  return static_cast<std::uint32_t>(std::max_element(size.begin(), size.end()) - size.begin());
}

SeparatedPieces Searches::finish() {
  SeparatedPieces out;
  for (std::uint32_t r = 0; r < list_.size(); ++r) {
    if (root(r) != r) continue;
    const bool keeps = heir_of(list_[r].old) == r;
    const auto number = keeps ? list_[r].old : static_cast<std::int32_t>(pieces_.first.size());
    for (std::uint32_t k = r; k < list_.size(); ++k) {
      if (root(k) != r) continue;
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
