// Implements SurfaceTree for one kind of volume. The traversals are the same for all kinds. A kind provides
//   Volume::fit, Volume::Tool, meets(Tool, Volume), overlap(Volume, Volume), crosses(Volume, LinePart),
//   least_distance(Volume, point), size_of(Volume)
// and, when its split differs, its own TreeBuilder. Where the order does not matter, a traversal needs no stack: when
// the test of a volume fails, the traversal skips its subtree.   Units: metres.   Tested in
// tests/study/tree_query_test.cpp
#pragma once

#include <algorithm>
#include <array>

#include "cpu_collision/convex_tool.hpp"
#include "cpu_collision/solids/exact_edge.hpp"
#include "cpu_collision/trees/line_clip.hpp"
#include "cpu_collision/trees/motion_crossing.hpp"
#include "cpu_collision/trees/surface_tree.hpp"
#include "cpu_collision/trees/tree_change.hpp"
#include "geometry/closest.hpp"
#include "geometry/machine.hpp"
#include "geometry/refine.hpp"
#include "mesh/self_crossing.hpp"

namespace trocar {

template <class Volume>
struct TreeBuilder {
  SplitScratch scratch;

  void build(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
             VolumeTree<Volume>& tree) {
    build_topology(positions, faces, params, scratch, tree);
    tree.nodes.resize(tree.node_count());
  }
  void release() { scratch = {}; }
  std::size_t memory_bytes() const {
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
  VolumeTreeQuery(std::string name, const TreePlan& plan) : name_(std::move(name)), plan_(plan) {}

  std::string_view name() const override { return name_; }
  void rebuild(const MeshView& mesh) override;
  void change_faces(const MeshView& mesh, std::span<const FaceId> removed) override;
  void update(std::span<const glm::vec3> positions) override;
  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override;
  std::span<const FaceId> crossed(const glm::dvec3& from, const glm::dvec3& to) override;
  std::span<const FaceId> along(const glm::dvec3& from, const glm::dvec3& to) override;
  std::optional<RayHit> first_hit(const glm::dvec3& origin, const glm::dvec3& direction) override;
  std::optional<SurfacePoint> closest(const glm::dvec3& point, double within) override;
  std::span<const FaceId> around(const glm::dvec3& point) override;
  PairAnswer crossing(const SurfaceTree& other) override;
  PairAnswer self_crossing() override;
  PairAnswer self_crossing_on_the_way(std::span<const glm::vec3> after) override;
  std::size_t node_count() const override { return tree_.node_count(); }
  MeshView mesh() const override { return {positions_.view(), faces_}; }
  const StageTimes& times() const override { return times_; }
  CostCounters counters() const override { return counters_; }
  std::size_t memory_bytes() const override;

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
  TouchBook book_;
  std::vector<OpenNode> open_nodes_;
  std::vector<OpenPair> open_pairs_;
  std::vector<FacePair> pairs_;
  std::unique_ptr<VolumeTreeQuery> guest_;  // over the faces of a tree of another kind
  std::vector<SweptBox> swept_;             // [face] box of the motion in the last self_crossing_on_the_way()
  StageTimes times_;
  CostCounters counters_;
};

}  // namespace trocar
