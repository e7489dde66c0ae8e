// Removes shreds: small pieces of skin that a cut has separated. A piece is a set of faces that share vertices.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "deform/cut/sculpt_steps.hpp"

namespace trocar {
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
  std::vector<std::uint32_t> parent(s.rest.size());
  std::iota(parent.begin(), parent.end(), 0u);
  const auto root = [&](std::uint32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (std::size_t slot = 0; slot < s.faces.size(); ++slot)
    if (is_skin(s, slot))
      for (int side = 0; side < 2; ++side) {
        const std::uint32_t u = root(s.faces.corners[slot][side]), v = root(s.faces.corners[slot][side + 1]);
        parent[std::max(u, v)] = std::min(u, v);
      }
  std::vector<float> area(parent.size(), 0.f);
  std::vector<char> is_cut(parent.size(), 0);
  for (std::size_t slot = 0; slot < s.faces.size(); ++slot)
    if (is_skin(s, slot)) area[root(s.faces.corners[slot].x)] += area_of(s, slot);
  for (const std::uint32_t vertex : cut) is_cut[root(vertex)] = 1;
  for (std::size_t slot = 0; slot < s.faces.size(); ++slot)
    if (const std::uint32_t v = root(s.faces.corners[slot].x);
        is_skin(s, slot) && is_cut[v] && area[v] < smallest_skin(s))
      s.faces.removed[slot] = 1;
}

}  // namespace trocar
