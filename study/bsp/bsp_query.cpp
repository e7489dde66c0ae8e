#include "study/bsp/bsp_query.hpp"

#include <algorithm>

#include "cpu_collision/convex_tool.hpp"
#include "geometry/machine.hpp"
#include "geometry/refine.hpp"
#include "study/bsp/bsp_tree.hpp"

namespace trocar {
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
    book_.open();
    for (const ToolVolume& tool : tools) {
      const auto start = Clock::now();
      candidates_.clear();
      const ConvexTool convex = convex_tool(tool, largest_, set);
      if (convex.corner_count > 0 && !is_leaf(tree_.root)) search(convex, set);
      times_.search_ms += milliseconds_since(start);
      const auto found = Clock::now();
      std::sort(candidates_.begin(), candidates_.end());
      book_.add_tool(tool, set, MeshView{positions_, faces_}, candidates_);
      times_.refine_ms += milliseconds_since(found);
    }
    return book_.list();
  }

  const StageTimes& times() const override { return times_; }
  CostCounters counters() const override { return counters_; }

  std::size_t memory_bytes() const override {
    return sizeof(*this) + book_.memory_bytes() +
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
  TouchBook book_;
  StageTimes times_;
  CostCounters counters_;
};

}  // namespace

std::unique_ptr<TouchQuery> make_bsp_query() { return std::make_unique<BspQuery>(); }

}  // namespace trocar
