// Answers the touch query by compute shaders. A face with all corners outside one plane is rejected, a face with a
// corner inside all planes is accepted; the host decides the few others in double, from the corners that the GPU
// returns with them. All tools share one submission; all organs of a frame share one wait. Based on: the volumes of
// Lombardo, Cani, Neyret, "Real-time collision detection for virtual surgery", Computer Animation 1999, with Cohen and
// Sutherland's outcodes. We differ: faces lie in blocks of neighbours; on software OpenGL, a block wholly outside one
// plane is rejected before its faces are tested (best_compute_tuning). Units: metres.
// Checked against the reference in tests/gpu_collision/compute_test.cpp; measured by bench/gpu_kit
#include "gpu_collision/compute_query.hpp"

#include <glad/gl.h>

#include <algorithm>

#include "geometry/machine.hpp"
#include "gpu_collision/compute_answer.hpp"
#include "gpu_collision/compute_call.hpp"
#include "gpu_collision/compute_mesh.hpp"
#include "gpu_collision/compute_transfer.hpp"

namespace trocar {
namespace {

class ComputeQuery final : public TouchQuery {
 public:
  ComputeQuery(GlContext& context, const ComputeTuning& tuning);

  std::string_view name() const override { return "compute"; }
  void rebuild(const MeshView& mesh) override;
  void change_faces(const MeshView& mesh, std::span<const FaceId> removed) override;
  void update(std::span<const glm::vec3> positions) override;
  void submit(std::span<const ToolVolume> tools, TouchSet set) override;
  TouchList collect() override;
  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override {
    submit(tools, set);
    return collect();
  }
  TouchFault fault() const override { return fault_.fault(); }
  const StageTimes& times() const override { return times_; }
  CostCounters counters() const override { return counters_; }
  std::size_t memory_bytes() const override;
  unsigned position_buffer() const override { return positions_.buffer(); }

 private:
  bool too_large(const MeshView& mesh) const;
  bool settle();
  void forget_call();

  gl::FaultWatch fault_;

  ComputeMesh mesh_;
  gl::PositionBuffer positions_;
  ComputeCall call_;
  ComputeAnswer answer_;
  // Of the submitted call.
  std::span<const ToolVolume> tools_;
  TouchSet set_ = TouchSet::Volume;

  StageTimes times_;
  CostCounters counters_;
};

ComputeQuery::ComputeQuery(GlContext& context, const ComputeTuning& tuning)
    : fault_(context), call_(context, tuning, fault_) {
  rebuild({});
}

// Blocks that are not full after a change of faces count as full.
bool ComputeQuery::too_large(const MeshView& mesh) const {
  return !call_.can_hold(std::max(mesh.faces.size(), mesh_.face_of_slot().size()), mesh.positions.size());
}

void ComputeQuery::forget_call() {
  call_.drop();
  tools_ = {};
}

void ComputeQuery::rebuild(const MeshView& mesh) {
  forget_call();
  if (!fault_.begin()) return;
  mesh_.clear();
  if (too_large(mesh)) return fault_.raise(TouchFault::TooLarge);
  mesh_.rebuild(mesh);
  positions_.write(mesh.positions);
  answer_.resize(mesh.faces.size());
  call_.reserve(mesh_.block_count(), 2);
  fault_.check();
}

void ComputeQuery::change_faces(const MeshView& mesh, std::span<const FaceId> removed) {
  if (fault_.any() || !mesh_.change_faces(mesh, removed) || too_large(mesh)) return rebuild(mesh);
  forget_call();
  if (!fault_.begin()) return;
  mesh_.upload_change();
  positions_.write(mesh.positions);
  answer_.resize(mesh.faces.size());
  call_.reserve(mesh_.block_count(), 0);
  fault_.check();
}

void ComputeQuery::update(std::span<const glm::vec3> positions) {
  const auto start = Clock::now();
  call_.drop();
  if (!fault_.begin()) return;
  positions_.write(positions);
  fault_.end();
  times_.update_ms = milliseconds_since(start);
}

void ComputeQuery::submit(std::span<const ToolVolume> tools, TouchSet set) {
  const auto start = Clock::now();
  times_ = {.update_ms = times_.update_ms};
  call_.drop();
  tools_ = tools;
  set_ = set;
  if (!fault_.begin()) return;
  const auto textures = mesh_.textures();
  call_.submit({{positions_.texture(), textures[0], textures[1], textures[2]}, mesh_.block_count()}, tools);
  fault_.end();
  times_.submit_ms = milliseconds_since(start);
}

TouchList ComputeQuery::collect() {
  if (fault_.begin() && settle()) return answer_.list();
  answer_.clear();
  answer_.pad(tools_.size());
  return answer_.list();
}

bool ComputeQuery::settle() {
  const auto start = Clock::now();
  const std::span<const ComputeRecord> records = call_.collect();
  times_.read_back_ms = milliseconds_since(start);
  const auto read = Clock::now();
  if (!answer_.settle(records, tools_, set_, mesh_.face_of_slot())) fault_.raise(TouchFault::WrongAnswer);
  times_.refine_ms = milliseconds_since(read);
  times_.gpu_ms = call_.gpu_ms();
  counters_ = {
      .volume_tests = call_.culls(mesh_.block_count(), tools_.size()) ? mesh_.block_count() * tools_.size() : 0,
      .face_tests = records.size()};
  return !fault_.any();
}

std::size_t ComputeQuery::memory_bytes() const {
  return positions_.bytes() + mesh_.memory_bytes() + call_.memory_bytes() + answer_.memory_bytes();
}

}  // namespace

// Mesa's llvmpipe runs a dispatch on the CPU before the call returns. Measured there with 31,000 faces: testing all
// faces takes 1.2 ms, rejecting blocks first 0.15 ms. A GPU tests all faces at once, which saves the second dispatch
// and its barrier.
ComputeTuning best_compute_tuning(const GlInfo& info) { return {.cull_blocks = info.software}; }

std::unique_ptr<TouchQuery> make_compute_query(GlContext& context, const ComputeTuning& tuning) {
  gl::require_version(context, "compute", 4, 5);
  return std::make_unique<ComputeQuery>(context, tuning);
}

std::unique_ptr<TouchQuery> make_compute_query(GlContext& context) {
  return make_compute_query(context, best_compute_tuning(context.info()));
}

}  // namespace trocar
