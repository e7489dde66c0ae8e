#include "sim/review/recording_observer.hpp"

#include <algorithm>

#include "mesh/tube_shape.hpp"

namespace trocar {
namespace {

// A change of the surface is recorded for the next frame.
std::uint32_t faces_removed_in(const SurfaceHistory& history, std::size_t frame) {
  const auto [first, last] = std::equal_range(history.removed_frame.begin(), history.removed_frame.end(),
                                              static_cast<std::uint32_t>(frame + 1));
  return static_cast<std::uint32_t>(last - first);
}

std::span<const glm::vec3> new_rest_in(const SurfaceHistory& history, std::size_t frame) {
  const auto [first, last] =
      std::equal_range(history.vertex_born.begin(), history.vertex_born.end(), static_cast<std::uint32_t>(frame + 1));
  return std::span(history.rest)
      .subspan(static_cast<std::size_t>(first - history.vertex_born.begin()), static_cast<std::size_t>(last - first));
}

}  // namespace

TaskStage stage_of(const Recording& recording, const Scene& scene, std::vector<OrganSurface>& surfaces) {
  TaskStage stage;
  stage.instruments = recording.tools();
  for (const std::string& tool : recording.tools()) {
    const auto found = std::ranges::find(scene.instruments, tool, &InstrumentScene::name);
    stage.jaws.push_back(found == scene.instruments.end() ? GraspParams{} : found->grasp);
    stage.kinds.push_back(found == scene.instruments.end() ? InstrumentKind::Probe : found->kind);
  }
  surfaces.assign(recording.organs().size(), {});
  for (std::size_t k = 0; k < surfaces.size(); ++k) {
    go_to_frame(recording.organs()[k].history, 0, surfaces[k]);
    stage.organs.push_back(recording.organs()[k].name);
    const auto organ = std::ranges::find(scene.organs, recording.organs()[k].name, &OrganScene::name);
    stage.lines.push_back(organ != scene.organs.end() && organ->tube ? centre_line(*organ->tube)
                                                                     : std::vector<glm::dvec3>{});
    stage.injuries.push_back(organ != scene.organs.end() ? injury_of(organ->vessel) : std::nullopt);
    stage.surfaces.push_back(surfaces[k].at_rest());
  }
  for (const OrganScene& organ : scene.organs) {
    if (!organ.rigid) continue;
    const std::vector<glm::dvec3> feet = peg_feet(*organ.rigid);
    stage.pegs.insert(stage.pegs.end(), feet.begin(), feet.end());
    if (!feet.empty()) stage.peg_height = std::max(stage.peg_height, organ.rigid->peg_height);
  }
  for (const LayerScene& layer : scene.layers) stage.tissue.push_back(layer.name);
  for (const BandScene& band : scene.bands) stage.tissue.push_back(band.name);
  for (const RecordedFibre& fibre : recording.fibres().fibres)
    stage.fibres.push_back({fibre.group, 0.5f * (fibre.a.point + fibre.b.point), fibre.a.organ, fibre.b.organ});
  return stage;
}

RecordingObserver::RecordingObserver(const Recording& recording, const Lens& lens, std::vector<SurfaceMark> marks)
    : recording_(&recording), lens_(lens), marks_(std::move(marks)), watch_(marks_), fibres_(recording) {
  for (std::size_t k = 0; k < recording.organs().size(); ++k) frames_.emplace_back(recording, k);
  locations_.resize(marks_.size());
  tools_.resize(recording.tools().size());
  organs_.resize(recording.organs().size());
}

// A fibre that breaks in a frame is broken at the touch query of the next one.
SeenFibres RecordingObserver::fibres_in(std::size_t frame) {
  if (fibres_.size() == 0) return {};
  nodes_.clear();
  for (const RecordedOrganFrames& organ : frames_) nodes_.push_back(organ.frame().nodes);
  fibres_.load(frame, nodes_);
  intact_.resize(fibres_.size());
  fibre_ends_.resize(fibres_.size());
  for (std::size_t f = 0; f < fibres_.size(); ++f) intact_[f] = fibres_.intact(f), fibre_ends_[f] = fibres_.ends(f);
  const FibreHistory& history = recording_->fibres();
  for (const std::uint32_t fibre : broken_in(history, frame)) intact_[fibre] = 0;
  return {intact_, fibre_ends_, broken_in(history, frame), how_broken_in(history, frame)};
}

// A source that opens in a frame takes effect in the next one.
SeenBleeding RecordingObserver::bleeding_in(std::size_t frame) {
  const BleedingHistory& history = recording_->bleeding();
  if (history.lost.empty()) return {};
  sources_before(history, frame + 1, sources_);
  return {sources_, std::span(history.lost).subspan(frame * organs_.size(), organs_.size()),
          frame < history.fluids.size() ? history.fluids[frame] : FluidAmounts{}};
}

const Observation& RecordingObserver::observe(std::size_t frame) {
  const bool rewound = next_ == 0 || frame < next_;
  if (rewound) watch_.rewind();
  next_ = frame + 1;
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    const bool reshaped = frames_[k].load(frame);
    const OrganSurface& surface = frames_[k].surface();
    if (reshaped || frame == 0 || rewound) watch_.look(static_cast<std::uint32_t>(k), surface.at_rest(), surface.ids);
    const OrganFrame& loaded = frames_[k].frame();
    organs_[k] = {{loaded.touches, loaded.first},
                  loaded.pressure,
                  faces_removed_in(recording_->organs()[k].history, frame),
                  loaded.part,
                  frames_[k].mesh(),
                  new_rest_in(recording_->organs()[k].history, frame)};
  }
  for (std::size_t k = 0; k < tools_.size(); ++k) {
    const glm::dvec2 roll_grip = recording_->roll_grip(frame, k);
    tools_[k] = {recording_->pose(frame, k),
                 roll_grip.x,
                 roll_grip.y,
                 recording_->energy(frame, k),
                 recording_->heats(frame, k),
                 recording_->force(frame, k),
                 recording_->tip_depth(frame, k)};
  }
  for (std::size_t k = 0; k < marks_.size(); ++k)
    locations_[k] = position_of(marks_[k], frames_[marks_[k].organ].mesh().positions);
  clips_before(recording_->clips(), frame + 1, organs_.size(), clips_);
  seen_ = {recording_->score_times()[frame],
           tools_,
           organs_,
           locations_,
           watch_.removed(),
           recording_->scope(frame),
           lens_,
           clips_.clips,
           clips_.tubes,
           fibres_in(frame),
           bleeding_in(frame),
           recording_->hidden(frame)};
  return seen_;
}

}  // namespace trocar
