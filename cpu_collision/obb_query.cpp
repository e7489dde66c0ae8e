// The backends `obb` (tree rebuilt every frame) and `obb-refit` (same tree, boxes fitted again): the validation path.
// A walk down the boxes from the root, without a stack: a box that misses the volume skips its subtree, a box inside it
// takes all faces below, and the faces of the leaves that remain are decided one by one.
// Units: metres.   Checked against the reference in tests/cpu_collision/obb_query_test.cpp
#include <algorithm>
#include <chrono>

#include "cpu_collision/obb_tree.hpp"
#include "cpu_collision/obb_volume.hpp"
#include "cpu_collision/queries.hpp"
#include "geometry/refine.hpp"

namespace trocar {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

template <class T>
std::size_t bytes(const std::vector<T>& v) {
  return v.capacity() * sizeof(T);
}

class ObbQuery final : public TouchQuery {
 public:
  explicit ObbQuery(TreeUpdate update) : update_(update) {}

  std::string_view name() const override { return update_ == TreeUpdate::Rebuild ? "obb" : "obb-refit"; }

  void rebuild(const MeshView& mesh) override {
    const auto start = Clock::now();
    faces_.assign(mesh.faces.begin(), mesh.faces.end());
    candidates_.reserve(faces_.size());
    positions_.assign(mesh.positions.begin(), mesh.positions.end());
    load_positions();
    build_obb_tree(corners_, faces_, update_ == TreeUpdate::Refit, scratch_, tree_);
    if (update_ == TreeUpdate::Refit) scratch_ = {};
    finish_update(start);
  }

  void update(std::span<const glm::vec3> positions) override {
    const auto start = Clock::now();
    std::copy(positions.begin(), positions.end(), positions_.begin());
    load_positions();
    if (update_ == TreeUpdate::Rebuild) build_obb_tree(corners_, faces_, false, scratch_, tree_);
    finish_update(start);
  }

  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override {
    times_.search_ms = times_.refine_ms = 0.0;
    counters_.volume_tests = counters_.face_tests = 0;
    touches_.clear();
    first_.assign(1, 0);
    for (const ToolVolume& tool : tools) {
      const auto start = Clock::now();
      search(convex_tool(tool, reach_), set);
      times_.search_ms += milliseconds_since(start);
      const auto found = Clock::now();
      std::sort(candidates_.begin(), candidates_.end());
      answer(tool, set);
      times_.refine_ms += milliseconds_since(found);
      first_.push_back(static_cast<std::uint32_t>(touches_.size()));
    }
    return {touches_, first_};
  }

  const StageTimes& times() const override { return times_; }
  CostCounters counters() const override { return counters_; }

  std::size_t memory_bytes() const override {
    return sizeof(*this) + bytes(faces_) + bytes(positions_) + bytes(corners_) + bytes(tree_.nodes) +
           bytes(tree_.skip) + bytes(tree_.slots) + bytes(tree_.face_of_slot) + bytes(tree_.leaf_vertices) +
           bytes(tree_.vertices) + bytes(scratch_.moments) + bytes(scratch_.aside) + bytes(scratch_.split) +
           bytes(scratch_.waiting) + bytes(candidates_) + bytes(touches_) + bytes(first_);
  }

 private:
  // Into four lanes, and the largest coordinate on the way.
  void load_positions() {
    corners_.resize(positions_.size());
    Lanes4 reach = lanes(0.f);
    for (std::size_t v = 0; v < positions_.size(); ++v) {
      corners_[v] = lanes(positions_[v]);
      reach = max(reach, abs(corners_[v]));
    }
    reach_ = std::max({reach[0], reach[1], reach[2]});
  }

  void finish_update(Clock::time_point start) {
    fit_obb_tree(corners_, reach_, tree_);
    counters_.updated_nodes = tree_.nodes.size();
    times_.update_ms = milliseconds_since(start);
  }

  void search(const ConvexTool& tool, TouchSet set) {
    candidates_.clear();
    const std::uint32_t end = static_cast<std::uint32_t>(tree_.nodes.size());
    for (std::uint32_t node = 0; node < end;) {
      ++counters_.volume_tests;
      const BoxAnswer answer = box_meets(tool, tree_.nodes[node]);
      if (answer == BoxAnswer::Crosses) {
        if (tree_.is_leaf(node)) test_faces(tool, tree_.slots[node], set);
        ++node;
        continue;
      }
      if (answer == BoxAnswer::Inside) take_faces(tree_.slots[node]);
      node = tree_.skip[node];
    }
  }

  void take_faces(IndexRange slots) {
    for (std::uint32_t k = slots.first; k < slots.first + slots.count; ++k) {
      candidates_.push_back(FaceId(tree_.face_of_slot[k]));
    }
  }

  // Of the exact set every face that may be in the volume is a candidate: the refinement decides it.
  void test_faces(const ConvexTool& tool, IndexRange slots, TouchSet set) {
    counters_.face_tests += slots.count;
    for (std::uint32_t k = slots.first; k < slots.first + slots.count; ++k) {
      const std::uint32_t face = tree_.face_of_slot[k];
      const glm::uvec3& v = faces_[face];
      const FaceAnswer answer = face_quick(tool, corners_[v.x], corners_[v.y], corners_[v.z]);
      if (answer == FaceAnswer::Out) continue;
      if (answer == FaceAnswer::Unclear && set == TouchSet::Volume && !face_meets(tool, triangle_of(positions_, v)))
        continue;
      candidates_.push_back(FaceId(face));
    }
  }

  void answer(const ToolVolume& tool, TouchSet set) {
    const std::size_t before = touches_.size();
    touches_.resize(before + candidates_.size());
    const std::span<Touch> room = std::span(touches_).subspan(before);
    if (set == TouchSet::Exact) {
      touches_.resize(before + refine_touches(tool.step, {positions_, faces_}, candidates_, room));
    } else {
      for (std::size_t k = 0; k < room.size(); ++k) room[k] = {.face = candidates_[k]};
    }
  }

  TreeUpdate update_;
  std::vector<glm::uvec3> faces_;     // [face]
  std::vector<glm::vec3> positions_;  // [vertex] m
  std::vector<Lanes4> corners_;       // [vertex] m  the same, in lanes
  float reach_ = 0.f;                 // m  largest coordinate
  ObbTree tree_;
  ObbScratch scratch_;
  std::vector<FaceId> candidates_;
  std::vector<Touch> touches_;
  std::vector<std::uint32_t> first_;
  StageTimes times_;
  CostCounters counters_;
};

}  // namespace

std::unique_ptr<TouchQuery> make_obb_query(TreeUpdate update) { return std::make_unique<ObbQuery>(update); }

}  // namespace trocar
