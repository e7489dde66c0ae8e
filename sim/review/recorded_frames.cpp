#include "sim/review/recorded_frames.hpp"

#include <sstream>

#include "geometry/error.hpp"

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

// The first model whose instruments touch with parts.
constexpr int kFirstModelWithParts = 2;

InstrumentBody body_of(const Recording& recording, std::size_t tool, std::istream& lines) {
  std::string kind;
  JointLimits limits;
  lines >> kind >> limits.widest_grip_deg;
  const auto known = instrument_kind(kind);
  const double widest = static_cast<double>(limits.widest_grip_deg);
  if (!lines || !known || !(widest > 0.0 && widest <= 180.0))
    throw InputError("the recording does not say what its instruments are; make a new recording");
  return {*known, recording.tool_radius()[tool], limits};
}

}  // namespace

RecordedTools::RecordedTools(const Recording& recording) : recording_(&recording) {
  std::istringstream lines(recording.text("tips"));
  for (std::size_t tool = 0; tool < recording.tools().size(); ++tool) {
    const bool has_parts = recording.model_version() >= kFirstModelWithParts;
    if (has_parts) bodies_.push_back(body_of(recording, tool, lines));
    add_tool(has_parts ? bodies_.back().parts() : 1, parts_);
  }
}

void RecordedTools::load(std::size_t frame) {
  volumes_.clear();
  part_of_volume_.clear();
  const Recording& r = *recording_;
  for (std::uint32_t tool = 0; tool < r.tools().size(); ++tool) {
    const auto before = r.pose_before(frame, tool);
    const ToolPose now = r.pose(frame, tool);
    if (!by_parts()) {
      volumes_.push_back(frame_volume(before ? &*before : nullptr, now, r.mode(), r.cover(), TouchSet::Exact));
      part_of_volume_.push_back(tool);
      continue;
    }
    const glm::dvec2 joints = r.roll_grip(frame, tool), joints_before = r.roll_grip_before(frame, tool);
    const InstrumentStance from{before.value_or(now), joints_before.x, joints_before.y}, to{now, joints.x, joints.y};
    bodies_[tool].move(before ? &from : nullptr, to, r.mode(), r.cover());
    const InstrumentBody& body = bodies_[tool];
    volumes_.insert(volumes_.end(), body.volumes().begin(), body.volumes().end());
    for (const std::uint32_t part : body.part_of_volume()) part_of_volume_.push_back(parts_.first[tool] + part);
  }
}

}  // namespace trocar
