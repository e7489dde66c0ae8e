#include "app/compare/recording_source.hpp"

namespace trocar {
namespace {

class RecordingSource final : public FrameSource {
 public:
  explicit RecordingSource(const std::filesystem::path& file) : recording_(file) {
    for (const auto& organ : recording_.organs()) positions_.emplace_back(organ.mesh.positions);
  }

  std::size_t frame_count() const override { return recording_.frame_count(); }
  std::size_t organ_count() const override { return recording_.organs().size(); }
  MeshView organ(std::size_t organ) const override { return recording_.organs()[organ].mesh.view(); }
  std::span<const glm::vec3> positions(std::size_t organ) const override { return positions_[organ]; }
  std::span<const ToolVolume> tools() const override { return volumes_; }
  QueryKind kind() const override { return {recording_.mode(), recording_.cover(), TouchSet::Exact}; }
  double radius() const override { return recording_.tool_radius().front(); }

  void load(std::size_t frame) override {
    for (std::size_t organ = 0; organ < positions_.size(); ++organ) {
      recording_.read_frame(frame, organ, frame_);
      embed_surface(recording_.organs()[organ].embedding, frame_.nodes, positions_[organ]);
    }
    recorded_volumes(recording_, frame, TouchSet::Exact, volumes_);
  }

 private:
  Recording recording_;
  OrganFrame frame_;
  std::vector<std::vector<glm::vec3>> positions_;  // [organ][vertex] m
  std::vector<ToolVolume> volumes_;                // [tool]
};

}  // namespace

std::unique_ptr<FrameSource> make_recording_source(const std::filesystem::path& file) {
  return std::make_unique<RecordingSource>(file);
}

void recorded_volumes(const Recording& recording, std::size_t frame, TouchSet set, std::vector<ToolVolume>& volumes) {
  volumes.resize(recording.tools().size());
  for (std::size_t tool = 0; tool < volumes.size(); ++tool) {
    const ToolPose now = recording.pose(frame, tool);
    const ToolPose before = recording.pose(frame == 0 ? 0 : frame - 1, tool);
    volumes[tool] = frame_volume(frame == 0 ? nullptr : &before, now, recording.mode(), recording.cover(), set);
  }
}

}  // namespace trocar
