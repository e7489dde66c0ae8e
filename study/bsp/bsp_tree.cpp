#include "study/bsp/bsp_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace trocar {
namespace {

// A plane contains points closer than this part of the largest coordinate: a thousandth of the borderline band for an
// organ at 1 m, a million times the rounding of double arithmetic.
constexpr double kTolerance = 0x1p-30;
// Limit of the recursion, one call per level.
constexpr std::size_t kDeepest = 5000;
constexpr std::uint32_t kMostCorners = 64;  // of a piece that can be cut
// Weight of a cut against one face of imbalance.
constexpr std::size_t kCutWeight = 4;

constexpr std::uint32_t leaf(BspLeaf kind) { return static_cast<std::uint32_t>(kind); }

double distance(const glm::dvec4& plane, const glm::dvec3& p) {
  return plane.x * p.x + plane.y * p.y + plane.z * p.z + plane.w;
}

enum Side { kIn = 0, kFront = 1, kBack = 2, kBoth = 3 };

struct Divider {
  glm::dvec4 plane;
  int axis = -1;  // the axis it is perpendicular to; -1: the plane of a face
};

struct Ends {
  std::uint32_t front, back;  // leaf kinds of empty sides
};

class Builder {
 public:
  Builder(const MeshView& mesh, const BspParams& params, BspScratch& scratch, BspTree& tree)
      : mesh_(mesh), params_(params), scratch_(scratch), tree_(tree) {}

  void build() {
    double largest = 0.0;
    for (const glm::vec3& p : mesh_.positions)
      largest = std::max({largest, double(std::abs(p.x)), double(std::abs(p.y)), double(std::abs(p.z))});
    tree_.nodes.clear();
    tree_.faces.clear();
    tree_.cuts = tree_.depth = tree_.unsplit_leaves = 0;
    tree_.tolerance = kTolerance * largest;
    load_faces();
    tree_.root =
        divide(0, scratch_.lists.size(), params_.cuts_per_face * mesh_.faces.size() + 16, leaf(BspLeaf::Unknown), 1);
  }

 private:
  void load_faces() {
    scratch_.pieces.clear();
    scratch_.points.clear();
    scratch_.face_planes.clear();
    scratch_.lists.clear();
    for (std::uint32_t f = 0; f < mesh_.faces.size(); ++f) {
      const Triangle t = triangle_of(mesh_.positions, mesh_.faces[f]);
      const glm::dvec3 ab = t.b - t.a, ac = t.c - t.a, normal = glm::cross(ab, ac);
      const double twice_area = glm::length(normal);
      const double longest = std::sqrt(std::max({glm::dot(ab, ab), glm::dot(ac, ac), glm::dot(ac - ab, ac - ab)}));
      const bool flat = !(twice_area > tree_.tolerance * longest);
      const glm::dvec3 n = flat ? glm::dvec3(0.0) : normal / twice_area;
      scratch_.face_planes.emplace_back(n, -glm::dot(n, t.a));
      scratch_.points.insert(scratch_.points.end(), {t.a, t.b, t.c});
      add_piece(f, static_cast<std::uint32_t>(scratch_.points.size()) - 3);
      scratch_.lists.push_back(f);
    }
  }

  // The piece's corners are the last points.
  void add_piece(std::uint32_t face, std::uint32_t first) {
    BspPiece piece{face, first, static_cast<std::uint32_t>(scratch_.points.size()) - first, glm::dvec3(1e300),
                   glm::dvec3(-1e300)};
    for (const glm::dvec3& p : corners(piece)) {
      piece.low = glm::min(piece.low, p);
      piece.high = glm::max(piece.high, p);
    }
    scratch_.pieces.push_back(piece);
  }

  std::span<const glm::dvec3> corners(const BspPiece& piece) const {
    return std::span(scratch_.points).subspan(piece.first, piece.count);
  }

  int side_of(const BspPiece& piece, const Divider& by) const {
    if (by.axis >= 0) {
      const bool front = piece.high[by.axis] + by.plane.w > tree_.tolerance;
      const bool back = piece.low[by.axis] + by.plane.w < -tree_.tolerance;
      return (front ? kFront : kIn) | (back ? kBack : kIn);
    }
    int side = kIn;
    for (const glm::dvec3& p : corners(piece)) {
      const double d = distance(by.plane, p);
      side |= d > tree_.tolerance ? kFront : d < -tree_.tolerance ? kBack : kIn;
    }
    return side;
  }

  // ---- choice of the plane ----

  // Chooses the plane through the median along the longest side of the box around the pieces' centres. Returns false
  // when all centres coincide.
  bool median_plane(std::span<const std::uint32_t> list, Divider& by) {
    glm::dvec3 low(1e300), high(-1e300);
    for (const std::uint32_t id : list) {
      const glm::dvec3 middle = scratch_.pieces[id].low + scratch_.pieces[id].high;  // twice
      low = glm::min(low, middle);
      high = glm::max(high, middle);
    }
    const glm::dvec3 size = high - low;
    const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    if (!(size[axis] > 4.0 * tree_.tolerance)) return false;
    scratch_.middles.clear();
    for (const std::uint32_t id : list)
      scratch_.middles.push_back(scratch_.pieces[id].low[axis] + scratch_.pieces[id].high[axis]);
    const auto half = scratch_.middles.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
    std::nth_element(scratch_.middles.begin(), half, scratch_.middles.end());
    by = {glm::dvec4(0.0, 0.0, 0.0, -0.5 * *half), axis};
    by.plane[axis] = 1.0;
    return true;
  }

  // False when no piece has a plane.
  bool face_plane(std::span<const std::uint32_t> list, Divider& by) const {
    const std::size_t stride = 1 + (list.size() - 1) / params_.candidates;
    std::size_t least = static_cast<std::size_t>(-1);
    for (std::size_t offset = 0; offset < stride && least == static_cast<std::size_t>(-1); ++offset) {
      for (std::size_t i = offset; i < list.size(); i += stride) {
        const glm::dvec4& candidate = scratch_.face_planes[scratch_.pieces[list[i]].face];
        if (candidate == glm::dvec4(0.0)) continue;
        const std::size_t cost = cost_of(list, {candidate});
        if (cost >= least) continue;
        least = cost;
        by = {candidate};
      }
    }
    return least != static_cast<std::size_t>(-1);
  }

  std::size_t cost_of(std::span<const std::uint32_t> list, const Divider& by) const {
    std::size_t count[4] = {};
    for (const std::uint32_t id : list) ++count[side_of(scratch_.pieces[id], by)];
    const std::size_t imbalance =
        count[kFront] > count[kBack] ? count[kFront] - count[kBack] : count[kBack] - count[kFront];
    return kCutWeight * count[kBoth] + imbalance;
  }

  // ---- dividing ----

  // The list is at the top of the stack of lists, from `begin` to `end`. Returns the node, or `empty` without pieces.
  std::uint32_t divide(std::size_t begin, std::size_t end, std::size_t budget, std::uint32_t empty, std::size_t depth) {
    if (begin == end) return empty;
    tree_.depth = std::max(tree_.depth, depth);
    const std::span<const std::uint32_t> list = std::span(scratch_.lists).subspan(begin, end - begin);
    Divider by;
    const bool halve = list.size() > params_.cell_faces && median_plane(list, by);
    if (!halve && !face_plane(list, by)) return add_unsplit_leaf(list, empty);
    const std::size_t cuts = cuts_by(list, by);
    if (cuts > budget || depth >= kDeepest) return add_unsplit_leaf(list, empty);
    const auto node = static_cast<std::uint32_t>(tree_.nodes.size());
    tree_.nodes.push_back({by.plane, 0, 0, static_cast<std::uint32_t>(tree_.faces.size()), 0});
    const Ends ends = sort_to_sides(begin, end, by, tree_.nodes[node].count);
    const std::size_t fronts = scratch_.lists.size();
    scratch_.lists.insert(scratch_.lists.end(), scratch_.aside.begin(), scratch_.aside.end());
    divide_sides(node, end, fronts, budget - cuts, ends, depth);
    return node;
  }

  std::uint32_t add_unsplit_leaf(std::span<const std::uint32_t> list, std::uint32_t empty) {
    ++tree_.unsplit_leaves;
    const auto first = static_cast<std::uint32_t>(tree_.faces.size());
    bool thin = true;  // faces without area bound nothing
    for (const std::uint32_t id : list) {
      const std::uint32_t face = scratch_.pieces[id].face;
      thin = thin && scratch_.face_planes[face] == glm::dvec4(0.0);
      tree_.faces.push_back(face);
    }
    const std::uint32_t inside = thin ? empty : leaf(BspLeaf::Unknown);
    tree_.nodes.push_back({glm::dvec4(0.0), inside, inside, first, static_cast<std::uint32_t>(list.size())});
    return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
  }

  std::size_t cuts_by(std::span<const std::uint32_t> list, const Divider& by) const {
    std::size_t cuts = 0;
    for (const std::uint32_t id : list) cuts += side_of(scratch_.pieces[id], by) == kBoth;
    return cuts;
  }

  // Pieces in the plane go to the node, pieces behind onto the stack, pieces in front into `aside`. Returns the leaf
  // kinds of empty sides.
  Ends sort_to_sides(std::size_t begin, std::size_t end, const Divider& by, std::uint32_t& in_plane) {
    scratch_.aside.clear();
    bool along = false, against = false;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t id = scratch_.lists[i];
      const glm::dvec4& own = scratch_.face_planes[scratch_.pieces[id].face];
      const int side = own == by.plane ? kIn : side_of(scratch_.pieces[id], by);
      if (side == kIn) {
        tree_.faces.push_back(scratch_.pieces[id].face);
        ++in_plane;
        const double lean = glm::dot(glm::dvec3(own), glm::dvec3(by.plane));
        along = along || lean > 0.0;
        against = against || lean < 0.0;
      } else if (side == kBoth) {
        cut(id, by.plane);
      } else {
        (side == kFront ? scratch_.aside : scratch_.lists).push_back(id);
      }
    }
    if (along == against) return {leaf(BspLeaf::Unknown), leaf(BspLeaf::Unknown)};
    const std::uint32_t outside = leaf(BspLeaf::Outside), inside = leaf(BspLeaf::Inside);
    return along ? Ends{outside, inside} : Ends{inside, outside};
  }

  // One piece becomes two. A polygon with too many corners stays whole on both sides.
  void cut(std::uint32_t id, const glm::dvec4& plane) {
    const BspPiece piece = scratch_.pieces[id];
    if (piece.count > kMostCorners) {
      scratch_.lists.push_back(id);
      scratch_.aside.push_back(id);
      return;
    }
    ++tree_.cuts;
    std::array<glm::dvec3, kMostCorners> corner;
    std::array<double, kMostCorners> height;
    std::copy_n(scratch_.points.begin() + piece.first, piece.count, corner.begin());
    for (std::uint32_t i = 0; i < piece.count; ++i) height[i] = distance(plane, corner[i]);
    for (const double sign : {1.0, -1.0}) {
      const auto first = static_cast<std::uint32_t>(scratch_.points.size());
      for (std::uint32_t i = 0; i < piece.count; ++i) {
        const std::uint32_t j = i + 1 == piece.count ? 0 : i + 1;
        if (sign * height[i] >= -tree_.tolerance) scratch_.points.push_back(corner[i]);
        if (std::min(height[i], height[j]) < -tree_.tolerance && std::max(height[i], height[j]) > tree_.tolerance)
          scratch_.points.push_back(corner[i] + height[i] / (height[i] - height[j]) * (corner[j] - corner[i]));
      }
      (sign > 0.0 ? scratch_.aside : scratch_.lists).push_back(static_cast<std::uint32_t>(scratch_.pieces.size()));
      add_piece(piece.face, first);
    }
  }

  // The back's list is on the stack from `backs`, the front's from `fronts` to the top.
  void divide_sides(std::uint32_t node, std::size_t backs, std::size_t fronts, std::size_t budget, const Ends& ends,
                    std::size_t depth) {
    const std::size_t top = scratch_.lists.size();
    const std::size_t of_front = top > backs ? budget * (top - fronts) / (top - backs) : 0;
    const std::uint32_t front = divide(fronts, top, of_front, ends.front, depth + 1);
    scratch_.lists.resize(fronts);
    const std::uint32_t back = divide(backs, fronts, budget - of_front, ends.back, depth + 1);
    scratch_.lists.resize(backs);
    tree_.nodes[node].front = front;
    tree_.nodes[node].back = back;
  }

  MeshView mesh_;
  BspParams params_;
  BspScratch& scratch_;
  BspTree& tree_;
};

}  // namespace

void build_bsp_tree(const MeshView& mesh, const BspParams& params, BspScratch& scratch, BspTree& tree) {
  Builder(mesh, params, scratch, tree).build();
}

}  // namespace trocar
