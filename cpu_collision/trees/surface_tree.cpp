// Plans of trees by name, the splits that every kind of tree shares, and trees of axis-aligned boxes.
#include "cpu_collision/trees/surface_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "cpu_collision/trees/aabb.hpp"
#include "cpu_collision/trees/tree_query.hpp"
#include "geometry/face_numbers.hpp"

namespace trocar {
namespace {

struct SplitName {
  std::string_view name;
  SplitRule rule;
};
constexpr std::array<SplitName, 4> kSplits = {{{"median", SplitRule::Median},
                                               {"mean", SplitRule::Mean},
                                               {"middle", SplitRule::Middle},
                                               {"octree", SplitRule::Octree}}};

constexpr std::string_view kRefit = "-refit";

std::string name_of(const TreePlan& plan) {
  std::string name(plan.volume->name);
  if (!plan.volume->oriented && plan.split != plan.volume->split)
    name.append(":").append(kSplits[static_cast<std::size_t>(plan.split)].name);
  return plan.update == TreeUpdate::Refit ? name.append(kRefit) : name;
}

}  // namespace

std::optional<TreePlan> tree_plan(std::string_view name, std::span<const TreeVolume> volumes) {
  TreePlan plan{.update = TreeUpdate::Rebuild};
  if (name.ends_with(kRefit)) {
    plan.update = TreeUpdate::Refit;
    name.remove_suffix(kRefit.size());
  }
  const std::size_t colon = name.find(':');
  for (const TreeVolume& volume : volumes) {
    if (volume.name != name.substr(0, colon)) continue;
    plan.volume = &volume;
    plan.split = volume.split;
    if (colon == std::string_view::npos) return plan;
    for (const SplitName& split : kSplits) {
      if (split.name != name.substr(colon + 1) || volume.oriented) continue;
      plan.split = split.rule;
      return plan;
    }
  }
  return std::nullopt;
}

std::unique_ptr<SurfaceTree> make_surface_tree(const TreePlan& plan) { return plan.volume->make(name_of(plan), plan); }

std::unique_ptr<SurfaceTree> make_aabb_tree(std::string name, const TreePlan& plan) {
  return std::make_unique<VolumeTreeQuery<Aabb>>(std::move(name), plan);
}

void PaddedPositions::assign(std::span<const glm::vec3> positions) {
  count_ = positions.size();
  room_.resize(count_ + 1);
  if (count_ > 0) std::memcpy(room_.data(), positions.data(), positions.size_bytes());
}

// Reads whole vectors of the flat array: the order of the coordinates does not matter.
float reach_of(std::span<const glm::vec3> positions) {
  if (positions.empty()) return 0.f;
  const float* flat = &positions[0].x;
  Lanes4 lanes_max = lanes(0.f);
  std::size_t k = 0;
  for (; k + 4 <= 3 * positions.size(); k += 4) {
    Lanes4 four;
    std::memcpy(&four, flat + k, sizeof(four));
    lanes_max = max(lanes_max, abs(four));
  }
  float largest = std::fmax(std::fmax(lanes_max[0], lanes_max[1]), std::fmax(lanes_max[2], lanes_max[3]));
  for (; k < 3 * positions.size(); ++k) largest = std::fmax(largest, std::abs(flat[k]));
  return largest;
}

namespace {

// From this depth on faces are halved by index: no mesh, however uneven, makes a tree deeper than this + 32.
constexpr int kDeepestSplit = 48;

struct SplitBox {
  Lanes4 low = lanes(std::numeric_limits<float>::max()), high = lanes(std::numeric_limits<float>::lowest());

  void add(Lanes4 p) {
    low = min(low, p);
    high = max(high, p);
  }
};

// A face number read as a float may be denormal, and slow: sums leave out lane 3.
std::uint32_t face_in(Lanes4 middle) { return std::bit_cast<std::uint32_t>(middle[3]); }

int longest_side(Lanes4 size) {
  return size[0] >= size[1] ? (size[0] >= size[2] ? 0 : 2) : (size[1] >= size[2] ? 1 : 2);
}

void gather_faces(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, bool keep_boxes,
                  SplitScratch& s) {
  s.middles.resize(faces.size());
  s.aside.resize(faces.size());
  if (keep_boxes) s.face_low.resize(faces.size()), s.face_high.resize(faces.size());
  for (std::uint32_t f = 0; f < faces.size(); ++f) {
    const Lanes4 a = positions[faces[f].x], b = positions[faces[f].y], c = positions[faces[f].z];
    const Lanes4 low = min(min(a, b), c), high = max(max(a, b), c);
    s.middles[f] = 0.5f * (low + high);
    s.middles[f][3] = std::bit_cast<float>(f);
    if (keep_boxes) s.face_low[f] = low, s.face_high[f] = high;
  }
}

// Result of splitting a node's slots: first its own, then each child's.
struct Parts {
  std::uint32_t own = 0;
  int children = 0;
  std::array<std::uint32_t, 8> count{};
  std::array<Lanes4, 8> low{}, high{};  // SplitRule::Octree only

  void add(std::uint32_t slots) { count[children++] = slots; }
};

Parts halves(std::uint32_t count) {
  Parts parts;
  parts.add(count / 2);
  parts.add(count - count / 2);
  return parts;
}

// Moves the entries for which `is_high` is 0 to the front and returns their number. Every entry is written to both
// sides and counted on one, so that there is no branch to mispredict.
template <class IsHigh>
std::uint32_t partition(std::span<Lanes4> middles, std::span<Lanes4> aside, IsHigh is_high) {
  std::uint32_t low = 0, high = 0;
  for (std::size_t i = 0; i < middles.size(); ++i) {
    const Lanes4 m = middles[i];
    const std::uint32_t on_high_side = is_high(m) ? 1u : 0u;
    middles[low] = m;
    aside[high] = m;
    low += 1 - on_high_side;
    high += on_high_side;
  }
  std::copy_n(aside.begin(), high, middles.begin() + low);
  return low;
}

template <int axis>
std::uint32_t part_at(std::span<Lanes4> middles, std::span<Lanes4> aside, float at) {
  return partition(middles, aside, [at](Lanes4 m) { return m[axis] > at; });
}

Parts split_at_mean(std::span<Lanes4> middles, std::span<Lanes4> aside) {
  SplitBox box;
  Lanes4 total = lanes(0.f);
  for (const Lanes4 m : middles) {
    const Lanes4 middle = first_three(m);
    box.add(middle);
    total += middle;
  }
  const std::uint32_t count = static_cast<std::uint32_t>(middles.size());
  const Lanes4 mean = total / lanes(static_cast<float>(count));
  const int axis = longest_side(box.high - box.low);
  const std::uint32_t low = axis == 0   ? part_at<0>(middles, aside, mean[0])
                            : axis == 1 ? part_at<1>(middles, aside, mean[1])
                                        : part_at<2>(middles, aside, mean[2]);
  if (low == 0 || low == count) return halves(count);
  Parts parts;
  parts.add(low);
  parts.add(count - low);
  return parts;
}

Parts split_at_median(std::span<Lanes4> middles) {
  SplitBox box;
  for (const Lanes4 m : middles) box.add(first_three(m));
  const int axis = longest_side(box.high - box.low);
  const auto half = middles.begin() + static_cast<std::ptrdiff_t>(middles.size() / 2);
  std::nth_element(middles.begin(), half, middles.end(), [axis](Lanes4 a, Lanes4 b) { return a[axis] < b[axis]; });
  return halves(static_cast<std::uint32_t>(middles.size()));
}

// Orders the slots: own faces first, then those of the low half, then those of the high half.
Parts split_at_middle(std::span<Lanes4> middles, int depth, const SplitScratch& s) {
  SplitBox box;
  for (const Lanes4 m : middles) box.add(s.face_low[face_in(m)]), box.add(s.face_high[face_in(m)]);
  const int axis = depth % 3;
  const float at = 0.5f * (box.low[axis] + box.high[axis]);
  const auto begin = middles.begin(), end = middles.end();
  const auto after_own = std::partition(
      begin, end, [&](Lanes4 m) { return s.face_low[face_in(m)][axis] <= at && s.face_high[face_in(m)][axis] >= at; });
  const auto after_low = std::partition(after_own, end, [&](Lanes4 m) { return s.face_high[face_in(m)][axis] < at; });
  Parts parts;
  parts.own = static_cast<std::uint32_t>(after_own - begin);
  if (after_low != after_own) parts.add(static_cast<std::uint32_t>(after_low - after_own));
  if (end != after_low) parts.add(static_cast<std::uint32_t>(end - after_low));
  return parts;
}

Parts split_in_octants(std::span<Lanes4> middles, std::span<Lanes4> aside, const WaitingRange& cell) {
  const Lanes4 centre = 0.5f * (cell.low + cell.high);
  const auto octant_of = [&](Lanes4 m) {
    return (m[0] > centre[0] ? 1 : 0) | (m[1] > centre[1] ? 2 : 0) | (m[2] > centre[2] ? 4 : 0);
  };
  std::array<std::uint32_t, 8> count{}, next{};
  for (const Lanes4 m : middles) ++count[octant_of(m)];
  for (int k = 1; k < 8; ++k) next[k] = next[k - 1] + count[k - 1];
  for (const Lanes4 m : middles) aside[next[octant_of(m)]++] = m;
  std::copy_n(aside.begin(), middles.size(), middles.begin());
  Parts parts;
  for (int k = 0; k < 8; ++k) {
    if (count[k] == 0) continue;
    Lanes4 &low = parts.low[parts.children], &high = parts.high[parts.children];
    low = cell.low, high = centre;
    for (int axis = 0; axis < 3; ++axis)
      if (k >> axis & 1) low[axis] = centre[axis], high[axis] = cell.high[axis];
    parts.add(count[k]);
  }
  return parts;
}

Parts split(const SplitParams& params, const WaitingRange& node, SplitScratch& s) {
  if (node.slots.count <= params.leaf_faces) return {.own = node.slots.count};
  if (node.depth >= kDeepestSplit) return halves(node.slots.count);
  const std::span<Lanes4> middles = std::span(s.middles).subspan(node.slots.first, node.slots.count);
  switch (params.rule) {
    case SplitRule::Median:
      return split_at_median(middles);
    case SplitRule::Mean:
      return split_at_mean(middles, s.aside);
    case SplitRule::Middle:
      return split_at_middle(middles, node.depth, s);
    default:
      return split_in_octants(middles, s.aside, node);
  }
}

WaitingRange root_of(std::span<const Lanes4> positions, std::size_t faces) {
  SplitBox box;
  for (const Lanes4 p : positions) box.add(p);
  return {{0, static_cast<std::uint32_t>(faces)}, 0, box.low, box.high};
}

// Writes all corners of a node's own faces, or each vertex once if `share` is true. Returns their number.
std::uint32_t write_vertices(std::span<const glm::uvec3> faces, std::span<const std::uint32_t> own, bool share,
                             std::uint32_t* to) {
  std::uint32_t count = 0;
  for (const std::uint32_t face : own)
    for (int k = 0; k < 3; ++k) to[count++] = faces[face][k];
  if (!share) return count;
  std::sort(to, to + count);
  return static_cast<std::uint32_t>(std::unique(to, to + count) - to);
}

// Sorts leaves by their number of vertices (counting sort). A leaf may hold any number of faces if they coincide.
void group_leaves(TreeTopology& tree) {
  constexpr std::uint32_t kMost = 3 * kLeafFaces + 1;  // this many or more
  std::array<std::uint32_t, kMost + 1> next{};
  const auto key = [&](std::uint32_t node) { return std::min(tree.own_vertices[node].count, kMost); };
  for (std::uint32_t i = 0; i < tree.node_count(); ++i)
    if (tree.is_leaf(i)) ++next[key(i)];
  std::uint32_t before = 0;
  for (std::uint32_t& n : next) before += std::exchange(n, before);
  tree.leaves.resize(before);
  for (std::uint32_t i = 0; i < tree.node_count(); ++i)
    if (tree.is_leaf(i)) tree.leaves[next[key(i)]++] = i;
  tree.leaf_groups.clear();
  for (const std::uint32_t leaf : tree.leaves) {
    const std::uint32_t count = tree.own_vertices[leaf].count;
    if (tree.leaf_groups.empty() || tree.leaf_groups.back().vertices != count) tree.leaf_groups.push_back({0, count});
    ++tree.leaf_groups.back().leaves;
  }
}

// Moves `listed`, in node order, to the order in which a fit reads the vertices.
void order_vertices(TreeTopology& tree) {
  std::uint32_t count = 0;
  for (const IndexRange& own : tree.own_vertices) count += own.count;
  tree.vertices.resize(count);
  std::uint32_t to = 0;
  const auto move = [&](std::uint32_t node) {
    IndexRange& range = tree.own_vertices[node];
    std::copy_n(tree.listed.begin() + range.first, range.count, tree.vertices.begin() + to);
    range.first = to;
    to += range.count;
  };
  for (const std::uint32_t leaf : tree.leaves) move(leaf);
  for (const std::uint32_t node : tree.inner) move(node);
}

}  // namespace

void build_topology(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
                    SplitScratch& s, TreeTopology& tree) {
  gather_faces(positions, faces, params.rule == SplitRule::Middle, s);
  tree.slots.clear();
  tree.own.clear();
  s.waiting.clear();
  if (!faces.empty()) s.waiting.push_back(root_of(positions, faces.size()));
  while (!s.waiting.empty()) {
    const WaitingRange node = s.waiting.back();
    s.waiting.pop_back();
    const Parts parts = split(params, node, s);
    tree.slots.push_back(node.slots);
    tree.own.push_back(parts.own);
    std::uint32_t end = node.slots.first + node.slots.count;
    for (int k = parts.children; k-- > 0;) {
      end -= parts.count[k];
      s.waiting.push_back({{end, parts.count[k]}, node.depth + 1, parts.low[k], parts.high[k]});
    }
  }
  tree.face_of_slot.resize(faces.size());
  for (std::size_t slot = 0; slot < faces.size(); ++slot) tree.face_of_slot[slot] = face_in(s.middles[slot]);
  link_nodes(tree);
  list_vertices(faces, params.share_vertices, tree);
}

void link_nodes(TreeTopology& tree) {
  const std::uint32_t count = static_cast<std::uint32_t>(tree.slots.size());
  tree.skip.resize(count);
  for (std::uint32_t i = count; i-- > 0;) {
    std::uint32_t next = i + 1;
    for (std::uint32_t seen = tree.own[i]; seen < tree.slots[i].count; next = tree.skip[next])
      seen += tree.slots[next].count;
    tree.skip[i] = next;
  }
}

void list_vertices(std::span<const glm::uvec3> faces, bool share, TreeTopology& tree) {
  const std::uint32_t nodes = tree.node_count();
  tree.listed.resize(3 * faces.size());
  // Trees of later frames may have a few more nodes: resize leaves spare capacity, assign does not.
  tree.own_vertices.resize(nodes);
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const auto own = std::span(tree.face_of_slot).subspan(tree.slots[i].first, tree.own[i]);
    const std::uint32_t count = write_vertices(faces, own, share, tree.listed.data() + first);
    tree.own_vertices[i] = {first, count};
    first += count;
  }
  arrange_vertices(tree);
}

void arrange_vertices(TreeTopology& tree) {
  tree.inner.clear();
  for (std::uint32_t i = tree.node_count(); i-- > 0;)
    if (!tree.is_leaf(i)) tree.inner.push_back(i);
  group_leaves(tree);
  order_vertices(tree);
}

std::size_t memory_bytes(const TreeTopology& t) {
  return held_bytes(t.skip, t.slots, t.own, t.face_of_slot, t.own_vertices, t.vertices, t.leaves, t.leaf_groups,
                    t.inner, t.listed);
}

}  // namespace trocar
