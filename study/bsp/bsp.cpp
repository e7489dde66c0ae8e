#include "study/bsp/bsp.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cpu_collision/convex_tool.hpp"
#include "geometry/machine.hpp"
#include "geometry/refine.hpp"

namespace trocar {
namespace {

// A plane contains points closer than this part of the largest coordinate: a thousandth of the borderline band for an
// organ at 1 m, a million times the rounding of double arithmetic.
constexpr double kTolerance = 0x1p-30;
// Limit of the recursion, one call per level.
constexpr std::size_t kDeepest = 5000;
constexpr std::uint32_t kMostPieceCorners = 64;  // of a piece that can be cut
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
    if (piece.count > kMostPieceCorners) {
      scratch_.lists.push_back(id);
      scratch_.aside.push_back(id);
      return;
    }
    ++tree_.cuts;
    std::array<glm::dvec3, kMostPieceCorners> corner;
    std::array<double, kMostPieceCorners> height;
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

using solids::PointLocation;

namespace {

// A face is met up to this many tolerances beyond its corners; the walk needs a larger margin.
constexpr double kCornerTolerances = 2.0, kWalkTolerances = 4.0;

double signed_distance(const glm::dvec4& plane, const glm::dvec3& p) {
  return glm::dot(glm::dvec3(plane), p) + plane.w;
}

// Returns the part of a segment within the three sides of a face, each moved outwards by `tolerance`. n: unit normal.
std::optional<double> first_between_sides(const glm::dvec3& from, const glm::dvec3& to, const Triangle& face,
                                          const glm::dvec3& n, double tolerance) {
  double low = 0.0, high = 1.0;
  const glm::dvec3 corner[3] = {face.a, face.b, face.c};
  for (int i = 0; i < 3; ++i) {
    const glm::dvec3 inward = glm::normalize(glm::cross(n, corner[(i + 1) % 3] - corner[i]));
    const double a = glm::dot(inward, from - corner[i]) + tolerance, b = glm::dot(inward, to - corner[i]) + tolerance;
    if (a < 0.0 && b < 0.0) return std::nullopt;
    if (a < 0.0) low = std::max(low, a / (a - b));
    if (b < 0.0) high = std::min(high, a / (a - b));
  }
  return low <= high ? std::optional(low) : std::nullopt;
}

double parameter_of(const glm::dvec3& from, const glm::dvec3& to, const glm::dvec3& point) {
  const glm::dvec3 direction = to - from;
  const double squared = glm::dot(direction, direction);
  return squared > 0.0 ? std::clamp(glm::dot(point - from, direction) / squared, 0.0, 1.0) : 0.0;
}

// Returns the part of a stretch at `height` or above, where a and b are the heights of its ends; from > to if there is
// none.
template <class Stretch>
Stretch above(double a, double b, double height, const Stretch& whole, std::uint32_t child) {
  Stretch part{child, whole.from, whole.to};
  if (a < height && b < height) return {child, 1.0, 0.0};
  if (a >= height && b >= height) return part;
  const double crossing = whole.from + (whole.to - whole.from) * ((height - a) / (b - a));
  (a < height ? part.from : part.to) = crossing;
  return part;
}

}  // namespace

std::optional<double> first_meeting(const glm::dvec3& from, const glm::dvec3& to, const Triangle& face,
                                    double tolerance) {
  const glm::dvec3 normal = glm::cross(face.b - face.a, face.c - face.a);
  const double size = glm::length(normal);
  const double longest =
      std::max({glm::length(face.b - face.a), glm::length(face.c - face.a), glm::length(face.c - face.b)});
  if (!(size > tolerance * longest)) {
    const ClosestPoints closest = closest_segment_triangle(from, to, face);
    if (closest.distance > tolerance) return std::nullopt;
    return parameter_of(from, to, closest.on_first);
  }
  const glm::dvec3 n = normal / size;
  const double a = glm::dot(n, from - face.a), b = glm::dot(n, to - face.a);
  if ((a > tolerance && b > tolerance) || (a < -tolerance && b < -tolerance)) return std::nullopt;
  // First the part of the segment within the tolerance of the plane is kept, then the part within the sides.
  const auto at_height = [&](double height) { return std::clamp((height - a) / (b - a), 0.0, 1.0); };
  const double low = std::abs(a) > tolerance ? at_height(std::copysign(tolerance, a)) : 0.0;
  const double high = std::abs(b) > tolerance ? at_height(std::copysign(tolerance, b)) : 1.0;
  const glm::dvec3 start = from + low * (to - from), end = from + high * (to - from);
  const auto within = first_between_sides(start, end, face, n, tolerance);
  if (!within) return std::nullopt;
  // Beyond a sharp corner the outward-moved sides meet far away.
  const double t = low + *within * (high - low);
  const glm::dvec3 at = from + t * (to - from);
  if (closest_segment_triangle(at, at, face).distance > kCornerTolerances * tolerance) return std::nullopt;
  return t;
}

BspSolid::BspSolid(const MeshView& mesh, const BspParams& params) : mesh_(mesh), asked_(mesh.faces.size(), 0) {
  BspScratch scratch;
  build_bsp_tree(mesh, params, scratch, tree_);
}

void BspSolid::meet_faces(const BspNode& node, const glm::dvec3& from, const glm::dvec3& to) {
  for (std::uint32_t k = node.first; k < node.first + node.count; ++k) {
    const std::uint32_t face = tree_.faces[k];
    if (asked_[face] == question_) continue;
    asked_[face] = question_;
    const auto t = first_meeting(from, to, triangle_of(mesh_.positions, mesh_.faces[face]), tree_.tolerance);
    if (!t) continue;
    meetings_.push_back({FaceId(face), *t});
    nearest_ = std::min(nearest_, *t);
  }
}

// Visits the near side of each node before the far one. With `only_first`, skips a stretch beyond the first hit.
void BspSolid::walk(const glm::dvec3& from, const glm::dvec3& to, bool only_first) {
  meetings_.clear();
  waiting_.clear();
  ++question_;
  nearest_ = std::numeric_limits<double>::infinity();
  const double margin = kWalkTolerances * tree_.tolerance;
  const glm::dvec3 direction = to - from;
  if (!is_leaf(tree_.root)) waiting_.push_back({tree_.root, 0.0, 1.0});
  while (!waiting_.empty()) {
    const Stretch at = waiting_.back();
    waiting_.pop_back();
    if (only_first && nearest_ < at.from) continue;
    const BspNode& node = tree_.nodes[at.node];
    if (glm::dvec3(node.plane) == glm::dvec3(0.0)) {
      meet_faces(node, from, to);
      continue;
    }
    const double a = signed_distance(node.plane, from + at.from * direction),
                 b = signed_distance(node.plane, from + at.to * direction);
    if (std::min(a, b) <= margin && std::max(a, b) >= -margin) meet_faces(node, from, to);
    const Stretch front = above(a, b, -margin, at, node.front), back = above(-a, -b, -margin, at, node.back);
    for (const Stretch& side : {a < 0.0 ? front : back, a < 0.0 ? back : front})
      if (!is_leaf(side.node) && side.from <= side.to) waiting_.push_back(side);
  }
}

std::span<const SegmentMeeting> BspSolid::crossed(const glm::dvec3& from, const glm::dvec3& to) {
  walk(from, to, false);
  std::sort(meetings_.begin(), meetings_.end(),
            [](const SegmentMeeting& a, const SegmentMeeting& b) { return a.t != b.t ? a.t < b.t : a.face < b.face; });
  return meetings_;
}

std::optional<SegmentMeeting> BspSolid::first_crossed(const glm::dvec3& from, const glm::dvec3& to) {
  walk(from, to, true);
  const auto first = std::min_element(
      meetings_.begin(), meetings_.end(),
      [](const SegmentMeeting& a, const SegmentMeeting& b) { return a.t != b.t ? a.t < b.t : a.face < b.face; });
  return first == meetings_.end() ? std::nullopt : std::optional(*first);
}

bool BspSolid::on_a_face(const BspNode& node, const glm::dvec3& point) const {
  for (std::uint32_t k = node.first; k < node.first + node.count; ++k) {
    const Triangle face = triangle_of(mesh_.positions, mesh_.faces[tree_.faces[k]]);
    if (closest_segment_triangle(point, point, face).distance <= tree_.tolerance) return true;
  }
  return false;
}

// Returns nothing where the tree cannot decide.
std::optional<PointLocation> BspSolid::locate_below(std::uint32_t child, const glm::dvec3& point) const {
  while (!is_leaf(child)) {
    const BspNode& node = tree_.nodes[child];
    const double d = signed_distance(node.plane, point);
    const bool unsplit = glm::dvec3(node.plane) == glm::dvec3(0.0);
    if (unsplit || std::abs(d) <= tree_.tolerance) {
      if (on_a_face(node, point)) return PointLocation::OnSurface;
      const auto front = locate_below(node.front, point), back = locate_below(node.back, point);
      if (front == PointLocation::OnSurface || back == PointLocation::OnSurface) return PointLocation::OnSurface;
      return front == back ? front : std::nullopt;
    }
    child = d > 0.0 ? node.front : node.back;
  }
  if (child == static_cast<std::uint32_t>(BspLeaf::Unknown)) return std::nullopt;
  return child == static_cast<std::uint32_t>(BspLeaf::Inside) ? PointLocation::Inside : PointLocation::Outside;
}

PointLocation BspSolid::locate(const glm::dvec3& point) const {
  if (const auto known = locate_below(tree_.root, point)) return *known;
  return std::abs(solids::winding_number(mesh_, point)) > 0.5 ? PointLocation::Inside : PointLocation::Outside;
}

namespace {

template <class T>
void reserve_spare(std::vector<T>& v) {
  v.reserve(v.size() + v.size() / 2);
}

class BspQuery final : public TouchQuery {
 public:
  std::string_view name() const override { return "bsp"; }

  void rebuild(const MeshView& mesh) override {
    faces_.assign(mesh.faces.begin(), mesh.faces.end());
    asked_.assign(faces_.size(), 0);
    question_ = 0;
    candidates_.reserve(faces_.size());
    update(mesh.positions);
    // A deformed organ may need more or fewer cuts.
    reserve_spare(tree_.nodes), reserve_spare(tree_.faces);
    reserve_spare(scratch_.pieces), reserve_spare(scratch_.points), reserve_spare(scratch_.lists),
        reserve_spare(scratch_.aside);
    waiting_.reserve(2 * tree_.depth + 64);
  }

  void update(std::span<const glm::vec3> positions) override {
    const auto start = Clock::now();
    positions_.assign(positions.begin(), positions.end());
    corners_.resize(positions_.size());
    Lanes4 largest = lanes(0.f);
    for (std::size_t v = 0; v < positions_.size(); ++v) {
      corners_[v] = lanes(positions_[v]);
      largest = max(largest, abs(corners_[v]));
    }
    largest_ = std::max({largest[0], largest[1], largest[2]});
    build_bsp_tree({positions_, faces_}, {}, scratch_, tree_);
    counters_.updated_nodes = tree_.nodes.size();
    times_.update_ms = milliseconds_since(start);
  }

  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override {
    times_.search_ms = times_.refine_ms = 0.0;
    counters_.volume_tests = counters_.face_tests = 0;
    collector_.open();
    for (const ToolVolume& tool : tools) {
      const auto start = Clock::now();
      candidates_.clear();
      const ConvexTool convex = convex_tool(tool, largest_, set);
      if (convex.corner_count > 0 && !is_leaf(tree_.root)) search(convex, set);
      times_.search_ms += milliseconds_since(start);
      const auto found = Clock::now();
      std::sort(candidates_.begin(), candidates_.end());
      collector_.add_tool(tool, set, MeshView{positions_, faces_}, candidates_);
      times_.refine_ms += milliseconds_since(found);
    }
    return collector_.list();
  }

  const StageTimes& times() const override { return times_; }
  CostCounters counters() const override { return counters_; }

  std::size_t memory_bytes() const override {
    return sizeof(*this) + collector_.memory_bytes() +
           held_bytes(faces_, positions_, corners_, tree_.nodes, tree_.faces, scratch_.pieces, scratch_.points,
                      scratch_.face_planes, scratch_.lists, scratch_.aside, scratch_.middles, asked_, waiting_,
                      candidates_);
  }

 private:
  void search(const ConvexTool& tool, TouchSet set) {
    ++question_;
    const double slack = tool.slack + tree_.tolerance;
    waiting_.assign(1, tree_.root);
    while (!waiting_.empty()) {
      const BspNode& node = tree_.nodes[waiting_.back()];
      waiting_.pop_back();
      ++counters_.volume_tests;
      // An unsplit leaf has a zero plane: every height is 0 and all its faces are tested.
      double low = 1e300, high = -1e300;
      for (int i = 0; i < tool.corner_count; ++i) {
        const glm::dvec3& c = tool.corners[i];
        const double d = node.plane.x * c.x + node.plane.y * c.y + node.plane.z * c.z + node.plane.w;
        low = std::min(low, d);
        high = std::max(high, d);
      }
      if (low <= slack && high >= -slack) test_faces(tool, node, set);
      if (high >= -slack && !is_leaf(node.front)) waiting_.push_back(node.front);
      if (low <= slack && !is_leaf(node.back)) waiting_.push_back(node.back);
    }
  }

  // For the exact set every face that may be in the volume is a candidate: the refinement decides it.
  void test_faces(const ConvexTool& tool, const BspNode& node, TouchSet set) {
    for (std::uint32_t k = node.first; k < node.first + node.count; ++k) {
      const std::uint32_t face = tree_.faces[k];
      if (asked_[face] == question_) continue;
      asked_[face] = question_;
      ++counters_.face_tests;
      const glm::uvec3& v = faces_[face];
      const FaceAnswer answer = face_quick(tool, corners_[v.x], corners_[v.y], corners_[v.z]);
      if (answer == FaceAnswer::Out) continue;
      if (answer == FaceAnswer::Unclear && set == TouchSet::Volume && !face_meets(tool, triangle_of(positions_, v)))
        continue;
      candidates_.push_back(FaceId(face));
    }
  }

  std::vector<glm::uvec3> faces_;     // [face]
  std::vector<glm::vec3> positions_;  // [vertex] m
  std::vector<Lanes4> corners_;       // [vertex] m  the same, in lanes
  float largest_ = 0.f;               // m  largest coordinate
  BspTree tree_;
  BspScratch scratch_;
  std::vector<std::uint32_t> asked_;  // [face] the last search that tested it
  std::uint32_t question_ = 0;
  std::vector<std::uint32_t> waiting_;
  std::vector<FaceId> candidates_;
  TouchCollector collector_;
  StageTimes times_;
  CostCounters counters_;
};

}  // namespace

std::unique_ptr<TouchQuery> make_bsp_query() { return std::make_unique<BspQuery>(); }

}  // namespace trocar
