#include "app/compare/recording_source.hpp"

namespace trocar {

RecordedOrganFrames::RecordedOrganFrames(const Recording& recording, std::size_t organ)
    : recording_(&recording), organ_(organ) {
  go_to_frame(recording.organs()[organ].history, 0, surface_);
  positions_ = surface_.rest;
}

bool RecordedOrganFrames::load(std::size_t frame) {
  const bool reshaped = go_to_frame(recording_->organs()[organ_].history, frame, surface_);
  recording_->read_frame(frame, organ_, frame_);
  positions_.resize(surface_.rest.size());
  embed_surface(surface_.tissue, frame_.nodes, positions_);
  return reshaped;
}

namespace {

class RecordingSource final : public FrameSource {
 public:
  explicit RecordingSource(const std::filesystem::path& file) : recording_(file) {
    for (std::size_t organ = 0; organ < recording_.organs().size(); ++organ) organs_.emplace_back(recording_, organ);
    reshaped_.resize(organs_.size());
  }

  std::size_t frame_count() const override { return recording_.frame_count(); }
  std::size_t organ_count() const override { return organs_.size(); }
  MeshView organ(std::size_t organ) const override { return organs_[organ].surface().at_rest(); }
  bool reshaped(std::size_t organ) const override { return reshaped_[organ]; }
  std::span<const glm::vec3> positions(std::size_t organ) const override { return organs_[organ].mesh().positions; }
  std::span<const ToolVolume> tools() const override { return volumes_; }
  QueryKind kind() const override { return {recording_.mode(), recording_.cover(), TouchSet::Exact}; }
  double radius() const override { return recording_.tool_radius().front(); }

  void load(std::size_t frame) override {
    for (std::size_t organ = 0; organ < organs_.size(); ++organ) reshaped_[organ] = organs_[organ].load(frame);
    recorded_volumes(recording_, frame, TouchSet::Exact, volumes_);
  }

 private:
  Recording recording_;
  std::vector<RecordedOrganFrames> organs_;
  std::vector<char> reshaped_;       // [organ]
  std::vector<ToolVolume> volumes_;  // [tool]
};

}  // namespace

std::unique_ptr<FrameSource> make_recording_source(const std::filesystem::path& file) {
  return std::make_unique<RecordingSource>(file);
}

void recorded_volumes(const Recording& recording, std::size_t frame, TouchSet set, std::vector<ToolVolume>& volumes) {
  volumes.resize(recording.tools().size());
  for (std::size_t tool = 0; tool < volumes.size(); ++tool) {
    const auto before = recording.pose_before(frame, tool);
    volumes[tool] = frame_volume(before ? &*before : nullptr, recording.pose(frame, tool), recording.mode(),
                                 recording.cover(), set);
  }
}

}  // namespace trocar
