#include "app/replay/recording_source.hpp"

#include "sim/review/recorded_frames.hpp"

namespace trocar {
namespace {

class RecordingSource final : public FrameSource {
 public:
  explicit RecordingSource(const std::filesystem::path& file) : recording_(file), recorded_tools_(recording_) {
    for (std::size_t organ = 0; organ < recording_.organs().size(); ++organ) organs_.emplace_back(recording_, organ);
    reshaped_.resize(organs_.size());
  }

  std::size_t frame_count() const override { return recording_.frame_count(); }
  std::size_t organ_count() const override { return organs_.size(); }
  MeshView organ(std::size_t organ) const override { return organs_[organ].surface().at_rest(); }
  bool reshaped(std::size_t organ) const override { return reshaped_[organ]; }
  std::span<const glm::vec3> positions(std::size_t organ) const override { return organs_[organ].mesh().positions; }
  std::span<const ToolVolume> tools() const override { return recorded_tools_.volumes().volumes; }
  QueryKind kind() const override { return {recording_.mode(), recording_.cover(), TouchSet::Exact}; }
  double radius() const override { return recording_.tool_radius().front(); }

  void load(std::size_t frame) override {
    for (std::size_t organ = 0; organ < organs_.size(); ++organ) reshaped_[organ] = organs_[organ].load(frame);
    recorded_tools_.load(frame);
  }

 private:
  Recording recording_;
  std::vector<RecordedOrganFrames> organs_;
  std::vector<char> reshaped_;  // [organ]
  RecordedTools recorded_tools_;
};

}  // namespace

std::unique_ptr<FrameSource> make_recording_source(const std::filesystem::path& file) {
  return std::make_unique<RecordingSource>(file);
}

}  // namespace trocar
