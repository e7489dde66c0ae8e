// Implements SurfaceTree for one kind of volume. The traversals are the same for all kinds. A kind provides
//   Volume::fit, Volume::Tool, meets(Tool, Volume), overlap(Volume, Volume), crosses(Volume, LinePart),
//   least_distance(Volume, point), size_of(Volume)
// and, when its split differs, its own TreeBuilder. Where the order does not matter, a traversal needs no stack: when
// the test of a volume fails, the traversal skips its subtree.   Units: metres. Arrays: positions [vertex], faces
// [face].   Tested in tests/study/trees_test.cpp
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <limits>

#include "cpu_collision/convex_tool.hpp"
#include "cpu_collision/trees/motion_crossing.hpp"
#include "cpu_collision/trees/surface_tree.hpp"
#include "cpu_collision/trees/volume_tree.hpp"
#include "geometry/closest.hpp"
#include "geometry/face_numbers.hpp"
#include "geometry/machine.hpp"
#include "geometry/refine.hpp"
#include "mesh/exact_sign.hpp"

namespace trocar {

// Changes a refitted tree where faces change. Each new face goes to the leaf whose volume is nearest on the path from
// the root. Leaves that lose or gain faces are split again; a larger subtree is, when as many of its faces have changed
// since it was built as it now has, so that the depth and the volumes stay those of a new tree up to a constant factor.
// The cost per changed face is then O(log n) on average, in addition to a pass that copies and renumbers the flat
// arrays. Based on: the partial rebuilding of Overmars, "The design of dynamic data structures", 1983.

template <class Volume>
struct TreeBuilder;

template <class Volume>
class TreeChange {
  // A subtree with more than this part of all faces is built again only after this many times as many changes: one that
  // is smaller costs less than a frame can spare.
  static constexpr float kLargePart = 0.125f;
  static constexpr std::uint32_t kLargeAge = 8;

 public:
  using Tree = VolumeTree<Volume>;

  // Call after a build of the whole tree.
  void begin(const Tree& tree) { age_.assign(tree.node_count(), 0); }
  // Applies a change as TouchQuery::change_faces() defines it. `faces`, `positions`: after it. The volumes are not yet
  // fitted. The tree must have faces before.
  void apply(std::span<const FaceId> removed, std::span<const glm::uvec3> faces, const PaddedPositions& positions,
             const SplitParams& params, Tree& tree);
  std::size_t memory_bytes() const;  // of its arrays

 private:
  // A new face and its leaf.
  struct Entering {
    std::uint32_t leaf, face;
    auto operator<=>(const Entering&) const = default;
  };
  struct NodeChange {
    std::uint32_t own, below;  // faces removed from or entering its own faces; this subtree
    std::uint32_t faces;       // below it, after the change
  };

  void choose_leaves(std::uint32_t first_new, std::span<const glm::uvec3> faces, const PaddedPositions& positions,
                     const Tree& tree);
  std::uint32_t nearest_leaf(Lanes4 point, const Tree& tree) const;
  void count_changes(const Tree& tree);
  void copy_faces(IndexRange slots, const Tree& tree);
  void copy_vertices(IndexRange own, const Tree& tree);
  void copy_node(std::uint32_t node, const Tree& tree);
  void copy_subtree(std::uint32_t node, const Tree& tree);
  void build_subtree(std::uint32_t node, std::span<const glm::uvec3> faces, const PaddedPositions& positions,
                     const SplitParams& params, const Tree& tree);

  std::vector<std::uint32_t> age_;  // [node] faces that changed below it since its subtree was built
  // Scratch buffers.
  std::vector<std::uint32_t> after_;  // [face before the change] its number after it
  std::vector<Entering> entering_;    // sorted
  std::size_t entered_ = 0;           // those that are already in next_
  std::vector<NodeChange> changes_;   // [node]
  Tree next_;                         // the changed tree
  std::vector<std::uint32_t> next_age_;
  // A subtree that is built again, with its own numbers of faces and vertices.
  TreeBuilder<Volume> builder_;
  Tree part_;
  std::vector<std::uint32_t> part_faces_, part_vertices_;  // [local number] number in the mesh
  std::vector<std::uint32_t> local_;                       // [vertex] its local number, kRemovedFace: none
  std::vector<glm::uvec3> local_faces_;
  std::vector<Lanes4> local_positions_;
};

template <class Volume>
void TreeChange<Volume>::apply(std::span<const FaceId> removed, std::span<const glm::uvec3> faces,
                               const PaddedPositions& positions, const SplitParams& params, Tree& tree) {
  renumber(removed, tree.face_of_slot.size(), after_);
  choose_leaves(static_cast<std::uint32_t>(after_.size() - removed.size()), faces, positions, tree);
  count_changes(tree);
  for (auto* list : {&next_.own, &next_.face_of_slot, &next_.listed, &next_age_}) list->clear();
  next_.nodes.clear(), next_.slots.clear(), next_.own_vertices.clear();
  local_.resize(positions.view().size(), kRemovedFace);
  entered_ = 0;
  for (std::uint32_t node = 0; node < tree.node_count();) {
    const NodeChange& change = changes_[node];
    const bool large = change.faces > kLargePart * changes_[0].faces;
    const bool many = age_[node] + change.below > (large ? kLargeAge : 1u) * change.faces;
    if (change.faces > 0 && change.below > 0 && change.own == 0 && !many) {
      copy_node(node++, tree);
      continue;
    }
    if (change.below == 0) {
      copy_subtree(node, tree);
    } else if (change.faces > 0) {
      build_subtree(node, faces, positions, params, tree);
    }
    node = tree.skip[node];
  }
  link_nodes(next_);
  arrange_vertices(next_);
  std::swap(tree, next_);
  std::swap(age_, next_age_);
}

template <class Volume>
std::uint32_t TreeChange<Volume>::nearest_leaf(Lanes4 point, const Tree& tree) const {
  std::uint32_t node = 0;
  while (!tree.is_leaf(node)) {
    std::uint32_t nearest = node + 1;
    float least = std::numeric_limits<float>::max();
    for (std::uint32_t child = node + 1; child != tree.skip[node]; child = tree.skip[child]) {
      const float distance = least_distance(tree.nodes[child], point);
      if (distance < least) least = distance, nearest = child;
    }
    node = nearest;
  }
  return node;
}

template <class Volume>
void TreeChange<Volume>::choose_leaves(std::uint32_t first_new, std::span<const glm::uvec3> faces,
                                       const PaddedPositions& positions, const Tree& tree) {
  entering_.clear();
  for (std::uint32_t face = first_new; face < faces.size(); ++face) {
    const glm::uvec3& corner = faces[face];
    const Lanes4 middle = first_three(positions[corner.x] + positions[corner.y] + positions[corner.z]) / lanes(3.f);
    entering_.push_back({nearest_leaf(middle, tree), face});
  }
  std::sort(entering_.begin(), entering_.end());
}

template <class Volume>
void TreeChange<Volume>::count_changes(const Tree& tree) {
  changes_.assign(tree.node_count(), {});
  for (const Entering& entering : entering_) ++changes_[entering.leaf].own, ++changes_[entering.leaf].faces;
  for (std::uint32_t node = tree.node_count(); node-- > 0;) {
    NodeChange& change = changes_[node];
    for (std::uint32_t k = tree.slots[node].first; k < tree.slots[node].first + tree.own[node]; ++k) {
      const bool stays = after_[tree.face_of_slot[k]] != kRemovedFace;
      change.own += !stays;
      change.faces += stays;
    }
    change.below = change.own;
    for (std::uint32_t child = node + 1; child != tree.skip[node]; child = tree.skip[child]) {
      change.below += changes_[child].below;
      change.faces += changes_[child].faces;
    }
  }
}

template <class Volume>
void TreeChange<Volume>::copy_faces(IndexRange slots, const Tree& tree) {
  for (std::uint32_t k = slots.first; k < slots.first + slots.count; ++k)
    next_.face_of_slot.push_back(after_[tree.face_of_slot[k]]);
}

template <class Volume>
void TreeChange<Volume>::copy_vertices(IndexRange own, const Tree& tree) {
  next_.own_vertices.push_back({static_cast<std::uint32_t>(next_.listed.size()), own.count});
  const auto first = tree.vertices.begin() + own.first;
  next_.listed.insert(next_.listed.end(), first, first + own.count);
}

// Copies a node without its children.
template <class Volume>
void TreeChange<Volume>::copy_node(std::uint32_t node, const Tree& tree) {
  next_.nodes.push_back(tree.nodes[node]);
  next_.slots.push_back({static_cast<std::uint32_t>(next_.face_of_slot.size()), changes_[node].faces});
  next_.own.push_back(tree.own[node]);
  next_age_.push_back(age_[node] + changes_[node].below);
  copy_faces({tree.slots[node].first, tree.own[node]}, tree);
  copy_vertices(tree.own_vertices[node], tree);
}

template <class Volume>
void TreeChange<Volume>::copy_subtree(std::uint32_t node, const Tree& tree) {
  const std::uint32_t end = tree.skip[node];
  const std::uint32_t moved = static_cast<std::uint32_t>(next_.face_of_slot.size()) - tree.slots[node].first;
  copy_faces(tree.slots[node], tree);
  next_.nodes.insert(next_.nodes.end(), tree.nodes.begin() + node, tree.nodes.begin() + end);
  next_.own.insert(next_.own.end(), tree.own.begin() + node, tree.own.begin() + end);
  next_age_.insert(next_age_.end(), age_.begin() + node, age_.begin() + end);
  for (std::uint32_t k = node; k < end; ++k) {
    next_.slots.push_back({tree.slots[k].first + moved, tree.slots[k].count});
    copy_vertices(tree.own_vertices[k], tree);
  }
}

template <class Volume>
void TreeChange<Volume>::build_subtree(std::uint32_t node, std::span<const glm::uvec3> faces,
                                       const PaddedPositions& positions, const SplitParams& params, const Tree& tree) {
  part_faces_.clear(), part_vertices_.clear(), local_faces_.clear(), local_positions_.clear();
  const IndexRange slots = tree.slots[node];
  for (std::uint32_t k = slots.first; k < slots.first + slots.count; ++k)
    if (const std::uint32_t face = after_[tree.face_of_slot[k]]; face != kRemovedFace) part_faces_.push_back(face);
  for (; entered_ < entering_.size() && entering_[entered_].leaf < tree.skip[node]; ++entered_)
    part_faces_.push_back(entering_[entered_].face);
  const auto local = [&](std::uint32_t vertex) {
    if (local_[vertex] == kRemovedFace) {
      local_[vertex] = static_cast<std::uint32_t>(part_vertices_.size());
      part_vertices_.push_back(vertex);
      local_positions_.push_back(first_three(positions[vertex]));
    }
    return local_[vertex];
  };
  for (const std::uint32_t face : part_faces_) {
    const glm::uvec3& corner = faces[face];
    const std::uint32_t a = local(corner.x), b = local(corner.y), c = local(corner.z);
    local_faces_.push_back({a, b, c});
  }
  builder_.build(local_positions_, local_faces_, params, part_);
  const auto moved = static_cast<std::uint32_t>(next_.face_of_slot.size());
  for (const std::uint32_t face : part_.face_of_slot) next_.face_of_slot.push_back(part_faces_[face]);
  next_.nodes.insert(next_.nodes.end(), part_.nodes.begin(), part_.nodes.end());
  next_.own.insert(next_.own.end(), part_.own.begin(), part_.own.end());
  next_age_.resize(next_.nodes.size(), 0);
  for (std::uint32_t k = 0; k < part_.node_count(); ++k) {
    next_.slots.push_back({part_.slots[k].first + moved, part_.slots[k].count});
    const IndexRange own = part_.own_vertices[k];
    next_.own_vertices.push_back({static_cast<std::uint32_t>(next_.listed.size()), own.count});
    for (std::uint32_t i = own.first; i < own.first + own.count; ++i)
      next_.listed.push_back(part_vertices_[part_.vertices[i]]);
  }
  for (const std::uint32_t vertex : part_vertices_) local_[vertex] = kRemovedFace;
}

template <class Volume>
std::size_t TreeChange<Volume>::memory_bytes() const {
  return trocar::memory_bytes(next_) + trocar::memory_bytes(part_) + builder_.memory_bytes() +
         held_bytes(age_, after_, entering_, changes_, next_.nodes, next_age_, part_.nodes, part_faces_, part_vertices_,
                    local_, local_faces_, local_positions_);
}

template <class Volume>
struct TreeBuilder {
  SplitScratch scratch;

  void build(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
             VolumeTree<Volume>& tree) {  // the volumes are not yet fitted
    build_topology(positions, faces, params, scratch, tree);
    tree.nodes.resize(tree.node_count());
  }
  void release() { scratch = {}; }    // frees the scratch buffers
  std::size_t memory_bytes() const {  // of the scratch buffers
    return held_bytes(scratch.middles, scratch.aside, scratch.face_low, scratch.face_high, scratch.waiting);
  }
};

// A node, or only its own faces.
struct TreePart {
  std::uint32_t node;
  bool own_only;
  bool operator==(const TreePart&) const = default;
};

// Touches in a call for which a tree has room from the start; more of them allocate once.
constexpr std::size_t kUsualTouches = 4096;

// Box around a face's motion.
struct SweptBox {
  Lanes4 low, high;  // m  x, y, z, 0
};

template <class Volume>
class VolumeTreeQuery final : public SurfaceTree {
 public:
  VolumeTreeQuery(std::string name, const TreePlan& plan) : name_(std::move(name)), plan_(plan) {}  // no faces

  std::string_view name() const override { return name_; }                                 // the one given
  void rebuild(const MeshView& mesh) override;                                             // a full build
  void change_faces(const MeshView& mesh, std::span<const FaceId> removed) override;       // a large change rebuilds
  void update(std::span<const glm::vec3> positions) override;                              // as plan.update says
  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override;             // no stack: skips subtrees
  std::span<const FaceId> crossed(const glm::dvec3& from, const glm::dvec3& to) override;  // decided in double
  std::span<const FaceId> along(const glm::dvec3& from, const glm::dvec3& to) override;    // tests no face
  std::optional<RayHit> first_hit(const glm::dvec3& origin, const glm::dvec3& direction) override;  // of equal t: any
  std::optional<SurfacePoint> closest(const glm::dvec3& point, double within) override;  // the nearest child first
  std::span<const FaceId> around(const glm::dvec3& point) override;                      // tests no face
  PairAnswer crossing(const SurfaceTree& other) override;  // another kind: builds our kind over its faces in each call
  PairAnswer self_crossing() override;                     // faces without area cross nothing
  PairAnswer self_crossing_on_the_way(std::span<const glm::vec3> after) override;  // fits the volumes around the motion
  std::size_t node_count() const override { return tree_.node_count(); }           // 0 without faces
  MeshView mesh() const override { return {positions_.view(), faces_}; }           // of our copies
  const StageTimes& times() const override { return times_; }                      // ms
  CostCounters counters() const override { return counters_; }  // tests of the last query, nodes of the last update()
  std::size_t memory_bytes() const override;                    // with the tree built for crossing()

 private:
  using Tool = typename Volume::Tool;
  struct OpenNode {
    std::uint32_t node;
    float bound;  // m
  };
  struct OpenPair {
    TreePart first, second;
  };

  SplitParams split_params() const { return {plan_.split, plan_.leaf_faces, plan_.update == TreeUpdate::Refit}; }
  void build();
  void finish_update(Clock::time_point start);
  void search(const ConvexTool& convex, const Tool& tool, TouchSet set);
  void take_faces(IndexRange slots);
  void test_faces(const ConvexTool& tool, IndexRange slots, TouchSet set);
  IndexRange own_slots(std::uint32_t node) const { return {tree_.slots[node].first, tree_.own[node]}; }
  bool closed(TreePart part) const { return part.own_only || tree_.is_leaf(part.node); }
  Triangle triangle(std::uint32_t face) const { return triangle_of(positions_.view(), faces_[face]); }
  float slack(const glm::dvec3& point) const {
    return kFitRounding *
           (2.f * reach_ + static_cast<float>(std::abs(point.x) + std::abs(point.y) + std::abs(point.z)));
  }
  void begin_question() { counters_.volume_tests = counters_.face_tests = 0; }
  // Calls visit(face) for the own faces of every node that passes together with all its ancestors.
  template <class Passes, class Visit>
  void descend(Passes passes, Visit visit);
  // Calls visit(child) for the parts of `part`: its children, and its own faces as one part.
  template <class Visit>
  void open(TreePart part, Visit visit) const;
  // Calls test(our slots, other's slots) for every pair of parts that have no parts of their own.
  template <class Test>
  void walk_pairs(const VolumeTreeQuery& other, Test test);
  void open_same(TreePart part);
  const VolumeTreeQuery& of_this_kind(const SurfaceTree& other);
  PairAnswer pair_answer();

  std::string name_;
  TreePlan plan_;
  TreeBuilder<Volume> builder_;
  TreeChange<Volume> change_;
  std::vector<glm::uvec3> faces_;      // [face]
  PaddedPositions positions_, after_;  // [vertex] m
  std::vector<Lanes4> corners_;        // [vertex] m  x, y, z, 0: input of a build
  float reach_ = 0.f;                  // m  largest coordinate
  VolumeTree<Volume> tree_;
  std::vector<FaceId> candidates_;
  TouchCollector collector_;
  std::vector<OpenNode> open_nodes_;
  std::vector<OpenPair> open_pairs_;
  std::vector<FacePair> pairs_;
  std::unique_ptr<VolumeTreeQuery> guest_;  // over the faces of a tree of another kind
  std::vector<SweptBox> swept_;             // [face] box of the motion in the last self_crossing_on_the_way()
  StageTimes times_;
  CostCounters counters_;
};

// Implements the update of positions and the touch query of VolumeTreeQuery.

template <class Volume>
void VolumeTreeQuery<Volume>::build() {
  const std::span<const glm::vec3> positions = positions_.view();
  corners_.resize(positions.size());
  std::transform(positions.begin(), positions.end(), corners_.begin(), [](const glm::vec3& p) { return lanes(p); });
  builder_.build(corners_, faces_, split_params(), tree_);
}

template <class Volume>
void VolumeTreeQuery<Volume>::rebuild(const MeshView& mesh) {
  const auto start = Clock::now();
  faces_.assign(mesh.faces.begin(), mesh.faces.end());
  candidates_.reserve(faces_.size());
  collector_.reserve(std::min(faces_.size(), kUsualTouches));
  positions_.assign(mesh.positions);
  build();
  if (plan_.update == TreeUpdate::Refit) {
    builder_.release();
    corners_ = {};
    change_.begin(tree_);
  }
  finish_update(start);
}

// A tree that is rebuilt in every frame is rebuilt here too, and so is one of which a large part changes.
template <class Volume>
void VolumeTreeQuery<Volume>::change_faces(const MeshView& mesh, std::span<const FaceId> removed) {
  constexpr std::size_t kSmallPart = 4;  // 1 / part of the faces
  const std::size_t changed = mesh.faces.size() + 2 * removed.size() - faces_.size();
  if (plan_.update == TreeUpdate::Rebuild || changed * kSmallPart > faces_.size()) return rebuild(mesh);
  const auto start = Clock::now();
  faces_.assign(mesh.faces.begin(), mesh.faces.end());
  candidates_.reserve(faces_.size());
  collector_.reserve(std::min(faces_.size(), kUsualTouches));
  positions_.assign(mesh.positions);
  change_.apply(removed, faces_, positions_, split_params(), tree_);
  finish_update(start);
}

template <class Volume>
void VolumeTreeQuery<Volume>::update(std::span<const glm::vec3> positions) {
  const auto start = Clock::now();
  positions_.assign(positions);
  if (plan_.update == TreeUpdate::Rebuild) build();
  finish_update(start);
}

template <class Volume>
void VolumeTreeQuery<Volume>::finish_update(Clock::time_point start) {
  reach_ = reach_of(positions_.view());
  if (plan_.tight) {
    fit_tightly<Volume>(positions_, faces_, reach_, tree_);
  } else {
    fit_tree<Volume>(positions_, nullptr, reach_, tree_);
  }
  counters_.updated_nodes = tree_.node_count();
  times_.update_ms = milliseconds_since(start);
}

template <class Volume>
TouchList VolumeTreeQuery<Volume>::touched(std::span<const ToolVolume> tools, TouchSet set) {
  times_.search_ms = times_.refine_ms = 0.0;
  begin_question();
  collector_.open();
  for (const ToolVolume& tool : tools) {
    const auto start = Clock::now();
    const ConvexTool convex = convex_tool(tool, reach_, set);
    candidates_.clear();
    if (convex.corner_count > 0) search(convex, Tool(convex), set);
    times_.search_ms += milliseconds_since(start);
    const auto found = Clock::now();
    std::sort(candidates_.begin(), candidates_.end());
    collector_.add_tool(tool, set, mesh(), candidates_);
    times_.refine_ms += milliseconds_since(found);
  }
  return collector_.list();
}

// A volume that misses the tool skips its subtree, a volume inside the tool takes all faces below, and the faces of all
// other visited nodes are tested one by one.
template <class Volume>
void VolumeTreeQuery<Volume>::search(const ConvexTool& convex, const Tool& tool, TouchSet set) {
  const std::uint32_t end = tree_.node_count();
  for (std::uint32_t node = 0; node < end;) {
    ++counters_.volume_tests;
    const BoxAnswer answer = meets(tool, tree_.nodes[node]);
    if (answer == BoxAnswer::Crosses) {
      if (tree_.own[node] > 0) test_faces(convex, own_slots(node), set);
      ++node;
      continue;
    }
    if (answer == BoxAnswer::Inside) take_faces(tree_.slots[node]);
    node = tree_.skip[node];
  }
}

template <class Volume>
void VolumeTreeQuery<Volume>::take_faces(IndexRange slots) {
  for (std::uint32_t k = slots.first; k < slots.first + slots.count; ++k)
    candidates_.push_back(FaceId(tree_.face_of_slot[k]));
}

// For the exact set every face that may be in the volume is a candidate: the refinement decides it.
template <class Volume>
void VolumeTreeQuery<Volume>::test_faces(const ConvexTool& tool, IndexRange slots, TouchSet set) {
  counters_.face_tests += slots.count;
  for (std::uint32_t k = slots.first; k < slots.first + slots.count; ++k) {
    const std::uint32_t face = tree_.face_of_slot[k];
    const glm::uvec3& v = faces_[face];
    const FaceAnswer answer = face_quick(tool, positions_[v.x], positions_[v.y], positions_[v.z]);
    if (answer == FaceAnswer::Out) continue;
    if (answer == FaceAnswer::Unclear && set == TouchSet::Volume && !face_meets(tool, triangle(face))) continue;
    candidates_.push_back(FaceId(face));
  }
}

template <class Volume>
std::size_t VolumeTreeQuery<Volume>::memory_bytes() const {
  return sizeof(*this) + trocar::memory_bytes(tree_) + builder_.memory_bytes() + change_.memory_bytes() +
         positions_.memory_bytes() + after_.memory_bytes() + collector_.memory_bytes() +
         held_bytes(tree_.nodes, faces_, corners_, candidates_, open_nodes_, open_pairs_, pairs_, swept_) +
         (guest_ ? guest_->memory_bytes() : 0);
}

// Implements the queries of VolumeTreeQuery for a segment, a ray and a point.

template <class Volume>
template <class Passes, class Visit>
void VolumeTreeQuery<Volume>::descend(Passes passes, Visit visit) {
  begin_question();
  for (std::uint32_t node = 0; node < tree_.node_count();) {
    ++counters_.volume_tests;
    if (!passes(tree_.nodes[node])) {
      node = tree_.skip[node];
      continue;
    }
    const IndexRange own = own_slots(node);
    for (std::uint32_t k = own.first; k < own.first + own.count; ++k) visit(tree_.face_of_slot[k]);
    ++node;
  }
}

template <class Volume>
std::span<const FaceId> VolumeTreeQuery<Volume>::crossed(const glm::dvec3& from, const glm::dvec3& to) {
  candidates_.clear();
  const LinePart line = segment_between(glm::vec3(from), glm::vec3(to), slack(from) + slack(to));
  descend([&](const Volume& volume) { return crosses(volume, line); },
          [&](std::uint32_t face) {
            ++counters_.face_tests;
            if (line_meets_triangle(from, to - from, 1.0, triangle(face))) candidates_.push_back(FaceId(face));
          });
  std::sort(candidates_.begin(), candidates_.end());
  return candidates_;
}

template <class Volume>
std::span<const FaceId> VolumeTreeQuery<Volume>::along(const glm::dvec3& from, const glm::dvec3& to) {
  candidates_.clear();
  const LinePart line = segment_between(glm::vec3(from), glm::vec3(to), slack(from) + slack(to));
  descend([&](const Volume& volume) { return crosses(volume, line); },
          [&](std::uint32_t face) { candidates_.push_back(FaceId(face)); });
  return candidates_;
}

// A hit shortens the ray, so that volumes behind it are not crossed.
template <class Volume>
std::optional<RayHit> VolumeTreeQuery<Volume>::first_hit(const glm::dvec3& origin, const glm::dvec3& direction) {
  std::optional<RayHit> first;
  LinePart line = ray_from(glm::vec3(origin), glm::vec3(direction), 2.f * slack(origin));
  double most = std::numeric_limits<double>::infinity();
  descend([&](const Volume& volume) { return crosses(volume, line); },
          [&](std::uint32_t face) {
            ++counters_.face_tests;
            const std::optional<double> t = line_meets_triangle(origin, direction, most, triangle(face));
            if (!t || (first && *t >= first->t)) return;
            first = RayHit{FaceId(face), *t};
            most = *t;
            line.last = std::nextafter(static_cast<float>(*t), std::numeric_limits<float>::infinity());
          });
  return first;
}

// The traversal visits the nearest child first.
template <class Volume>
std::optional<SurfacePoint> VolumeTreeQuery<Volume>::closest(const glm::dvec3& point, double within) {
  begin_question();
  std::optional<SurfacePoint> best;
  if (tree_.nodes.empty()) return best;
  const Lanes4 query = lanes(glm::vec3(point));
  const float rounding = 2.f * slack(point);
  double least = within;
  open_nodes_.assign(1, {0, 0.f});
  while (!open_nodes_.empty()) {
    const OpenNode open = open_nodes_.back();
    open_nodes_.pop_back();
    if (open.bound - rounding > least) continue;
    const IndexRange own = own_slots(open.node);
    counters_.face_tests += own.count;
    for (std::uint32_t k = own.first; k < own.first + own.count; ++k) {
      const std::uint32_t face = tree_.face_of_slot[k];
      const ClosestPoints found = closest_segment_triangle(point, point, triangle(face));
      const bool as_near = best && found.distance == least && FaceId(face) < best->face;
      if (!as_near && !(found.distance < least)) continue;
      least = found.distance;
      best = SurfacePoint{FaceId(face), found.on_second, found.distance};
    }
    const std::size_t first_child = open_nodes_.size();
    for (std::uint32_t child = open.node + 1; child != tree_.skip[open.node]; child = tree_.skip[child]) {
      ++counters_.volume_tests;
      const float bound = least_distance(tree_.nodes[child], query);
      if (bound - rounding <= least) open_nodes_.push_back({child, bound});
    }
    std::sort(
        open_nodes_.begin() + static_cast<std::ptrdiff_t>(first_child), open_nodes_.end(),
        [](const OpenNode& a, const OpenNode& b) { return a.bound != b.bound ? a.bound > b.bound : a.node > b.node; });
  }
  return best;
}

template <class Volume>
std::span<const FaceId> VolumeTreeQuery<Volume>::around(const glm::dvec3& point) {
  candidates_.clear();
  const Lanes4 query = lanes(glm::vec3(point));
  const float rounding = slack(point);
  descend([&](const Volume& volume) { return !(least_distance(volume, query) > rounding); },
          [&](std::uint32_t face) { candidates_.push_back(FaceId(face)); });
  return candidates_;
}

// Implements the queries of VolumeTreeQuery for pairs of faces of two trees, or of one tree with itself. Where two
// volumes overlap, the traversal descends into the larger.

// Faces count as meeting during the motion when they come this close, as a part of the largest coordinate.
constexpr double kMeetingTolerance = 1e-7;

template <class Volume>
template <class Visit>
void VolumeTreeQuery<Volume>::open(TreePart part, Visit visit) const {
  if (tree_.own[part.node] > 0) visit(TreePart{part.node, true});
  for (std::uint32_t c = part.node + 1; c != tree_.skip[part.node]; c = tree_.skip[c]) visit(TreePart{c, false});
}

// Compares a part with itself: compares each of its own parts with itself and with those after it.
template <class Volume>
void VolumeTreeQuery<Volume>::open_same(TreePart part) {
  open(part, [&](TreePart first) {
    open_pairs_.push_back({first, first});
    bool after = false;
    open(part, [&](TreePart second) {
      if (after) open_pairs_.push_back({first, second});
      after = after || second == first;
    });
  });
}

template <class Volume>
template <class Test>
void VolumeTreeQuery<Volume>::walk_pairs(const VolumeTreeQuery& other, Test test) {
  begin_question();
  pairs_.clear();
  open_pairs_.clear();
  if (tree_.nodes.empty() || other.tree_.nodes.empty()) return;
  open_pairs_.push_back({{0, false}, {0, false}});
  while (!open_pairs_.empty()) {
    const TreePart a = open_pairs_.back().first, b = open_pairs_.back().second;
    open_pairs_.pop_back();
    const bool same = this == &other && a == b;
    if (!same) {
      ++counters_.volume_tests;
      if (!overlap(tree_.nodes[a.node], other.tree_.nodes[b.node])) continue;
    }
    if (closed(a) && other.closed(b)) {
      test(own_slots(a.node), other.own_slots(b.node), same);
    } else if (same) {
      open_same(a);
    } else if (other.closed(b) || (!closed(a) && size_of(tree_.nodes[a.node]) >= size_of(other.tree_.nodes[b.node]))) {
      open(a, [&](TreePart part) { open_pairs_.push_back({part, b}); });
    } else {
      other.open(b, [&](TreePart part) { open_pairs_.push_back({a, part}); });
    }
  }
}

template <class Volume>
PairAnswer VolumeTreeQuery<Volume>::pair_answer() {
  std::sort(pairs_.begin(), pairs_.end());
  return {pairs_, counters_};
}

namespace tree_pairs {

// A face with its box, which separates most pairs of a leaf's faces.
struct BoxedFace {
  glm::vec3 corner[3];
  glm::vec3 low, high;

  BoxedFace(std::span<const glm::vec3> positions, const glm::uvec3& face)
      : corner{positions[face.x], positions[face.y], positions[face.z]},
        low(glm::min(glm::min(corner[0], corner[1]), corner[2])),
        high(glm::max(glm::max(corner[0], corner[1]), corner[2])) {}
  bool sound() const { return has_area(corner[0], corner[1], corner[2]); }  // its corners are not collinear
};

// Returns whether the boxes share no point.
inline bool apart(const BoxedFace& a, const BoxedFace& b) {
  return glm::any(glm::lessThan(a.high, b.low)) || glm::any(glm::lessThan(b.high, a.low));
}

// Returns the box around a face's motion.
inline SweptBox swept_box(const PaddedPositions& before, const PaddedPositions& after, const glm::uvec3& face) {
  SweptBox box{before[face.x], before[face.x]};
  for (const PaddedPositions* positions : {&before, &after})
    for (int k = 0; k < 3; ++k) {
      const Lanes4 corner = (*positions)[face[k]];
      box = {min(box.low, corner), max(box.high, corner)};
    }
  return {first_three(box.low), first_three(box.high)};
}

inline bool apart(const SweptBox& a, const SweptBox& b) {  // the motions share no point
  return negative_lanes(min(a.high - b.low, b.high - a.low)) != 0;
}

inline bool share_a_vertex(const glm::uvec3& a, const glm::uvec3& b) {  // the same vertex number
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (a[i] == b[j]) return true;
  return false;
}

}  // namespace tree_pairs

// Returns `other` itself, or a tree of our kind over its faces.
template <class Volume>
const VolumeTreeQuery<Volume>& VolumeTreeQuery<Volume>::of_this_kind(const SurfaceTree& other) {
  if (const auto* same = dynamic_cast<const VolumeTreeQuery*>(&other)) return *same;
  if (!guest_) {
    TreePlan plan = plan_;
    plan.update = TreeUpdate::Rebuild;  // its build keeps its scratch buffers
    guest_ = std::make_unique<VolumeTreeQuery>(name_, plan);
  }
  guest_->rebuild(other.mesh());
  return *guest_;
}

template <class Volume>
PairAnswer VolumeTreeQuery<Volume>::crossing(const SurfaceTree& other_tree) {
  using tree_pairs::BoxedFace;
  const VolumeTreeQuery& other = of_this_kind(other_tree);
  walk_pairs(other, [&](IndexRange ours, IndexRange theirs, bool) {
    for (std::uint32_t i = ours.first; i < ours.first + ours.count; ++i) {
      const std::uint32_t f = tree_.face_of_slot[i];
      const BoxedFace face(positions_.view(), faces_[f]);
      for (std::uint32_t j = theirs.first; j < theirs.first + theirs.count; ++j) {
        const std::uint32_t g = other.tree_.face_of_slot[j];
        const BoxedFace against(other.positions_.view(), other.faces_[g]);
        ++counters_.face_tests;
        if (tree_pairs::apart(face, against)) continue;
        if (solids::faces_cross_exactly(face.corner, against.corner)) pairs_.emplace_back(f, g);
      }
    }
  });
  return pair_answer();
}

template <class Volume>
PairAnswer VolumeTreeQuery<Volume>::self_crossing() {
  using tree_pairs::BoxedFace;
  walk_pairs(*this, [&](IndexRange ours, IndexRange theirs, bool same) {
    for (std::uint32_t i = ours.first; i < ours.first + ours.count; ++i) {
      const std::uint32_t f = tree_.face_of_slot[i];
      const BoxedFace face(positions_.view(), faces_[f]);
      for (std::uint32_t j = same ? i + 1 : theirs.first; j < theirs.first + theirs.count; ++j) {
        const std::uint32_t g = tree_.face_of_slot[j];
        const BoxedFace against(positions_.view(), faces_[g]);
        ++counters_.face_tests;
        if (tree_pairs::apart(face, against) || !face.sound() || !against.sound()) continue;
        if (contact_of(face.corner, against.corner) != Contact::None)
          pairs_.emplace_back(std::min(f, g), std::max(f, g));
      }
    }
  });
  return pair_answer();
}

template <class Volume>
PairAnswer VolumeTreeQuery<Volume>::self_crossing_on_the_way(std::span<const glm::vec3> after) {
  after_.assign(after);
  const float largest = std::max(reach_, reach_of(after));
  fit_tree<Volume>(positions_, &after_, largest, tree_);
  const double tolerance = kMeetingTolerance * static_cast<double>(largest);
  swept_.resize(faces_.size());
  for (std::size_t f = 0; f < faces_.size(); ++f) swept_[f] = tree_pairs::swept_box(positions_, after_, faces_[f]);
  const auto motion = [&](std::uint32_t face) {
    return MovingTriangle{triangle(face), triangle_of(after_.view(), faces_[face])};
  };
  walk_pairs(*this, [&](IndexRange ours, IndexRange theirs, bool same) {
    for (std::uint32_t i = ours.first; i < ours.first + ours.count; ++i) {
      const std::uint32_t f = tree_.face_of_slot[i];
      for (std::uint32_t j = same ? i + 1 : theirs.first; j < theirs.first + theirs.count; ++j) {
        const std::uint32_t g = tree_.face_of_slot[j];
        if (tree_pairs::share_a_vertex(faces_[f], faces_[g])) continue;
        ++counters_.face_tests;
        if (tree_pairs::apart(swept_[f], swept_[g])) continue;
        if (triangles_meet_at_all(motion(f), motion(g), tolerance)) pairs_.emplace_back(std::min(f, g), std::max(f, g));
      }
    }
  });
  return pair_answer();
}

}  // namespace trocar
