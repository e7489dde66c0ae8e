#include "app/window/replay/replay_scene.hpp"

#include <algorithm>

#include "sim/review/scored_session.hpp"

namespace trocar {
namespace {

template <typename Named>
const Named* named(const std::vector<Named>& list, const std::string& name) {
  const auto found = std::ranges::find(list, name, &Named::name);
  return found == list.end() ? nullptr : &*found;
}

// Ids are ascending, as are the surface's.
FaceId slot_of(const OrganSurface& surface, FaceId id) {
  const auto found = std::lower_bound(surface.ids.begin(), surface.ids.end(), id);
  return static_cast<FaceId>(found - surface.ids.begin());
}

}  // namespace

ReplayScene::ReplayScene(const std::filesystem::path& file)
    : recording_(file), scene_(recorded_scene(recording_, file)), fibres_(recording_), film_(recording_, scene_) {
  for (std::size_t k = 0; k < recording_.organs().size(); ++k) shown_.push_back({{recording_, k}, {}, {}});
  organs_.resize(shown_.size());
  tools_.resize(recording_.tools().size());
  nodes_.resize(shown_.size());
  bonds_.strands.reserve(fibres_.size());
  load(0);
}

void ReplayScene::load(std::size_t frame) {
  if (frame == frame_) return;
  frame_ = frame;
  for (std::size_t organ = 0; organ < shown_.size(); ++organ) {
    shown_[organ].reshaped = shown_[organ].frames.load(frame);
    if (shown_[organ].reshaped) ++shown_[organ].topology;
    show_organ(organ);
  }
  show_film();
  show_tools();
  show_bonds();
  pose_ = recording_.scope(frame).value_or(scene_.scope.pose());
}

void ReplayScene::show_organ(std::size_t organ) {
  ShownOrgan& shown = shown_[organ];
  const OrganSurface& surface = shown.frames.surface();
  const OrganFrame& frame = shown.frames.frame();
  shown.touches = frame.touches;
  for (Touch& touch : shown.touches) touch.face = slot_of(surface, touch.face);
  shown.tip_faces = frame.tip_ids;
  for (FaceId& face : shown.tip_faces) face = slot_of(surface, face);
  DrawnOrgan& drawn = organs_[organ];
  drawn.rest = surface.at_rest();
  drawn.positions = shown.frames.mesh().positions;
  drawn.touches = {shown.touches, frame.first};
  drawn.tip_faces = shown.tip_faces;
  drawn.tip_first = frame.tip_first;
  drawn.topology = shown.topology;
  const OrganScene* scene = named(scene_.organs, recording_.organs()[organ].name);
  drawn.colour = scene ? scene->colour : OrganScene{}.colour;
}

void ReplayScene::show_film() {
  filmed_.clear();
  for (const ShownOrgan& shown : shown_)
    filmed_.push_back({shown.frames.mesh(), shown.frames.surface().at_rest(), shown.reshaped});
  film_.load(frame_, filmed_);
  for (std::size_t k = 0; k < organs_.size(); ++k) organs_[k].wet = film_.look(k);
  bonds_.blood_area = film_.blood_area();
}

void ReplayScene::show_tools() {
  for (std::size_t tool = 0; tool < tools_.size(); ++tool) {
    const glm::dvec2 roll_grip = recording_.roll_grip(frame_, tool);
    bool touching = false;
    for (std::size_t organ = 0; organ < shown_.size(); ++organ) touching = touching || touched(organ, tool) > 0;
    const InstrumentScene* scene = named(scene_.instruments, recording_.tools()[tool]);
    tools_[tool] = {
        recording_.pose(frame_, tool),
        roll_grip.x,
        roll_grip.y,
        touching,
        scene ? scene->kind : InstrumentKind::Probe,
        recording_.energy(frame_, tool),
        recording_.heats(frame_, tool).value_or(touching && recording_.energy(frame_, tool) != Diathermy::Off) != 0,
        scene ? scene->limits : JointLimits{}};
  }
}

void ReplayScene::show_bonds() {
  for (std::size_t k = 0; k < shown_.size(); ++k) nodes_[k] = shown_[k].frames.frame().nodes;
  fibres_.load(frame_, nodes_);
  bonds_.strands.clear();
  for (std::size_t f = 0; f < fibres_.size(); ++f)
    if (fibres_.intact(f)) add_strand(fibres_.ends(f), fibres_.at_rest(f).reference, bonds_.strands);
  clips_before(recording_.clips(), frame_, shown_.size(), clips_);
  bonds_.clips.clear();
  for (const PlacedClip& placed : clips_.clips)
    if (placed.on())
      bonds_.clips.push_back({pose_of(placed.clip, organs_[placed.clip.organ].positions), placed.length});
}

std::size_t ReplayScene::touched(std::size_t organ, std::size_t tool) const {
  const OrganFrame& frame = shown_[organ].frames.frame();
  return frame.first[tool + 1] - frame.first[tool];
}

float ReplayScene::pressure(std::size_t organ, std::size_t tool) const {
  const OrganFrame& frame = shown_[organ].frames.frame();
  float highest = 0.f;
  for (std::size_t k = frame.first[tool]; k < frame.first[tool + 1] && k < frame.pressure.size(); ++k)
    highest = std::max(highest, frame.pressure[k]);
  return highest;
}

std::vector<float> force_of(const Recording& recording, std::size_t tool) {
  std::vector<float> force(recording.frame_count());
  for (std::size_t frame = 0; frame < force.size(); ++frame) force[frame] = glm::length(recording.force(frame, tool));
  return force;
}

}  // namespace trocar
