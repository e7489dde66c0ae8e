#include "sim/review/recorded_frames.hpp"

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

void recorded_volumes(const Recording& recording, std::size_t frame, TouchSet set, std::vector<ToolVolume>& volumes) {
  volumes.resize(recording.tools().size());
  for (std::size_t tool = 0; tool < volumes.size(); ++tool) {
    const auto before = recording.pose_before(frame, tool);
    volumes[tool] = frame_volume(before ? &*before : nullptr, recording.pose(frame, tool), recording.mode(),
                                 recording.cover(), set);
  }
}

}  // namespace trocar
