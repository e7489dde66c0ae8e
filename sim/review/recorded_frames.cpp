#include "sim/review/recorded_frames.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "deform/solid/tissue.hpp"
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
  PositionBox box = embed_surface(surface_.tissue, frame_.nodes, positions_);
  add_dents(frame_.dents, positions_, box);
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
    throw InputError("the recording does not say what its instruments are; the file is damaged");
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
    const ToolStep step = before ? step_between(*before, now) : step_at_rest(now);
    if (const std::string fault = step_fault(step); !fault.empty()) throw InputError(fault);
    const glm::dvec2 joints = r.roll_grip(frame, tool), joints_before = r.roll_grip_before(frame, tool);
    const InstrumentStance from{before.value_or(now), joints_before.x, joints_before.y}, to{now, joints.x, joints.y};
    bodies_[tool].move(before ? &from : nullptr, to, r.mode());
    const InstrumentBody& body = bodies_[tool];
    volumes_.insert(volumes_.end(), body.volumes().begin(), body.volumes().end());
    for (const std::uint32_t part : body.part_of_volume()) part_of_volume_.push_back(parts_.first[tool] + part);
  }
}

RecordedFibres::RecordedFibres(const Recording& recording)
    : history_(&recording.fibres()), intact_(recording.fibres().fibres.size(), 1) {}

void RecordedFibres::load(std::size_t frame, std::span<const std::span<const glm::vec3>> nodes) {
  nodes_ = nodes;
  std::fill(intact_.begin(), intact_.end(), std::uint8_t{1});
  for (const std::uint32_t fibre : broken_before(*history_, frame)) intact_[fibre] = 0;
}

FibreEnds RecordedFibres::ends(std::size_t fibre) const {
  const auto point = [this](const RecordedFibreEnd& end) {
    return end.organ == kWall ? end.point : weighted(end.embedding, nodes_[end.organ]);
  };
  return {point(history_->fibres[fibre].a), point(history_->fibres[fibre].b)};
}

namespace {

// After a jump the fluid runs down for this time.
constexpr int kStepsAfterJump = 240;
constexpr double kStepAfterJump = 1.0 / 60.0;              // s
constexpr double kLongestStep = 0.1;                       // s
constexpr float kSameOrgan = 0.006f, kOtherOrgan = 1e-4f;  // m, as in sim/session/session_bleeding.cpp

glm::vec3 unit(const glm::vec3& fall) {
  const float length = glm::length(fall);
  return length > 0.f ? fall / length : glm::vec3(0.f, 0.f, -1.f);
}

}  // namespace

RecordedFilm::RecordedFilm(const Recording& recording, const Scene& scene) : recording_(&recording) {
  if (recording.bleeding().fluids.empty()) return;
  for (const OrganRecording& organ : recording.organs()) {
    const auto found = std::ranges::find(scene.organs, organ.name, &OrganScene::name);
    down_.push_back(unit(found == scene.organs.end() ? SculptParams{}.fall : found->cut.fall));
  }
  for (std::size_t k = 0; k < recording.tools().size(); ++k) {
    const auto found = std::ranges::find(scene.instruments, recording.tools()[k], &InstrumentScene::name);
    if (found != scene.instruments.end() && found->kind == InstrumentKind::Suction)
      pumps_.push_back({k, static_cast<float>(found->suction.reach)});
  }
  films_.resize(down_.size()), around_.resize(down_.size()), looks_.resize(down_.size());
}

std::span<const glm::vec2> RecordedFilm::look(std::size_t organ) const {
  return organ < looks_.size() ? std::span<const glm::vec2>(looks_[organ]) : std::span<const glm::vec2>();
}

void RecordedFilm::load(std::size_t frame, std::span<const FilmedOrgan> organs) {
  if (films_.empty() || organs.size() != films_.size()) return;
  for (std::size_t k = 0; k < organs.size(); ++k) {
    const std::size_t vertices = organs[k].mesh.positions.size();
    if (!organs[k].reshaped && films_[k].volume.size() == vertices) continue;
    around_[k] = faces_around(organs[k].mesh.faces, vertices);
    std::vector<char> unused(vertices, 1);
    for (const glm::uvec3& face : organs[k].mesh.faces) unused[face.x] = unused[face.y] = unused[face.z] = 0;
    follow_surface(films_[k], vertices, unused);
    looks_[k].resize(vertices, glm::vec2(0.f));
  }
  sources_before(recording_->bleeding(), frame, sources_);
  find_spurts(frame, organs);
  if (begun_ && frame == next_) {
    step(frame, organs);
  } else {
    begin_at(frame, organs);
  }
  begun_ = true, next_ = frame + 1;
  blood_area_ = 0.0;
  for (std::size_t k = 0; k < films_.size(); ++k) blood_area_ += show_film(films_[k], looks_[k]);
}

// The sources of a fluid share a volume in proportion to their flows at first.
void RecordedFilm::pour_into(std::size_t organ, FilmFluid fluid, double volume, bool flowing_only) {
  const auto gives = [&](const BleedSource& source) {
    return source.organ == organ && (source.kind == BleedKind::Perforation) == (fluid == FilmFluid::Bile) &&
           (!flowing_only || source.state == BleedState::Flows) && source.vertex < films_[organ].volume.size();
  };
  double rates = 0.0;
  for (const BleedSource& source : sources_)
    if (gives(source)) rates += source.rate;
  for (std::size_t k = 0; k < sources_.size(); ++k)
    if (gives(sources_[k]) && rates > 0.0) pour_out(k, fluid, volume * sources_[k].rate / rates);
}

void RecordedFilm::pour_out(std::size_t source, FilmFluid fluid, double volume) {
  const BleedSource& from = sources_[source];
  const auto jet = std::ranges::find(jets_, source, &Jet::source);
  const bool lands = jet != jets_.end() && jet->at.found;
  pour(films_[from.organ], from.vertex, fluid, lands ? (1.0 - kSpurtShare) * volume : volume);
  if (lands) pour(films_[jet->at.surface], jet->at.vertex, fluid, kSpurtShare * volume);
}

// Returns the nearest vertex in that direction; none when it is one that no face uses.
DropLanding RecordedFilm::landing_of(std::size_t organ, const glm::vec3& from, const glm::vec3& towards,
                                     std::span<const FilmedOrgan> organs) const {
  DropLanding at;
  for (std::size_t k = 0; k < films_.size(); ++k)
    find_landing(from, towards, k == organ ? kSameOrgan : kOtherOrgan, k, organs[k].mesh.positions, {}, at);
  at.found = at.found && around_[at.surface].first[at.vertex] < around_[at.surface].first[at.vertex + 1];
  return at;
}

void RecordedFilm::find_spurts(std::size_t frame, std::span<const FilmedOrgan> organs) {
  jets_.clear(), spurts_.clear();
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    const BleedSource& source = sources_[k];
    const MeshView& mesh = organs[source.organ].mesh;
    if (source.kind != BleedKind::Vessel || source.state != BleedState::Flows || source.vertex >= mesh.positions.size())
      continue;
    Spurt spurt{mesh.positions[source.vertex],
                spurt_direction({mesh.positions, {}, mesh.faces, around_[source.organ]}, source.vertex)};
    DropLanding at;
    if (spurt.towards != glm::vec3(0.f)) at = landing_of(source.organ, spurt.from, spurt.towards, organs);
    at.found = at.found && at.height <= kSpurtReach;
    if (at.found) spurt.length = at.height;
    spurt.flow = static_cast<float>(beat_at(recording_->times()[frame]));
    jets_.push_back({k, at}), spurts_.push_back(spurt);
  }
}

void RecordedFilm::run(std::span<const FilmedOrgan> organs, double dt) {
  for (std::size_t k = 0; k < films_.size(); ++k) {
    const FilmSurface surface{organs[k].mesh.positions, organs[k].rest.positions, organs[k].mesh.faces, around_[k],
                              down_[k]};
    const FilmVolume drops = run_down(films_[k], surface, dt);
    if (!(total(drops) > 0.0)) continue;
    const glm::vec3& from = surface.positions[drip_vertex(films_[k], surface.positions, down_[k])];
    const DropLanding at = landing_of(k, from, down_[k], organs);
    if (!at.found) continue;
    for (std::size_t fluid = 0; fluid < drops.size(); ++fluid)
      pour(films_[at.surface], at.vertex, static_cast<FilmFluid>(fluid), drops[fluid]);
  }
}

void RecordedFilm::suck(std::size_t frame, std::span<const FilmedOrgan> organs) {
  const auto& fluids = recording_->bleeding().fluids;
  double most = total(fluids[frame].removed) - total(fluids[frame - 1].removed);
  for (const RecordedPump& pump : pumps_)
    for (std::size_t k = 0; k < films_.size() && most > 0.0; ++k)
      most -= total(take(films_[k], organs[k].mesh.positions, glm::vec3(recording_->pose(frame, pump.tool).tip),
                         pump.reach, most));
}

void RecordedFilm::step(std::size_t frame, std::span<const FilmedOrgan> organs) {
  const auto& lost = recording_->bleeding().lost;
  for (std::size_t k = 0; k < films_.size(); ++k) {
    const FluidLoss &before = lost[(frame - 1) * films_.size() + k], &now = lost[frame * films_.size() + k];
    pour_into(k, FilmFluid::Blood, now.blood - before.blood, true);
    pour_into(k, FilmFluid::Bile, now.bile - before.bile, true);
  }
  suck(frame, organs);
  run(organs, std::min(recording_->times()[frame] - recording_->times()[frame - 1], kLongestStep));
}

void RecordedFilm::begin_at(std::size_t frame, std::span<const FilmedOrgan> organs) {
  const BleedingHistory& history = recording_->bleeding();
  const std::size_t count = films_.size();
  FluidLoss all;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t vertices = films_[k].volume.size();
    films_[k] = {};
    follow_surface(films_[k], vertices, {});
    std::fill(looks_[k].begin(), looks_[k].end(), glm::vec2(0.f));
    all.blood += history.lost[frame * count + k].blood, all.bile += history.lost[frame * count + k].bile;
  }
  const FilmVolume& on = history.fluids[frame].on;
  for (std::size_t k = 0; k < count; ++k) {
    const FluidLoss& lost = history.lost[frame * count + k];
    if (lost.blood > 0.0) pour_into(k, FilmFluid::Blood, on[0] * lost.blood / all.blood, false);
    if (lost.bile > 0.0) pour_into(k, FilmFluid::Bile, on[1] * lost.bile / all.bile, false);
  }
  for (int n = 0; n < kStepsAfterJump; ++n) run(organs, kStepAfterJump);
}

namespace {

std::size_t tool_number(const Recording& recording, const std::filesystem::path& file, const std::string& tool,
                        const std::string& fallback) {
  const std::vector<std::string>& tools = recording.tools();
  const auto found = std::find(tools.begin(), tools.end(), tool.empty() ? fallback : tool);
  if (found != tools.end()) return static_cast<std::size_t>(found - tools.begin());
  if (tool.empty() && tools.size() == 1) return 0;
  throw InputError(fmt::format("{}: the recording has no instrument '{}'; set source to one of: {}", file.string(),
                               tool.empty() ? fallback : tool, fmt::join(tools, ", ")));
}

}  // namespace

Trajectory load_motion(const std::filesystem::path& file, const std::string& tool, const std::string& fallback) {
  if (file.extension() != ".h5") return load_trajectory(file);
  const Recording recording(file);
  const std::size_t number = tool_number(recording, file, tool, fallback);
  Trajectory motion;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    const ToolPose pose = recording.pose(frame, number);
    const glm::dvec2 roll_grip = recording.roll_grip(frame, number);
    motion.rows.push_back(
        {recording.times()[frame], pose.pivot, pose.tip, roll_grip.x, roll_grip.y, recording.energy(frame, number)});
  }
  return motion;
}

Trajectory load_scope_motion(const std::filesystem::path& file) {
  const Recording recording(file);
  Trajectory motion;
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    const ScopePose pose = recording.scope(frame);
    motion.rows.push_back({recording.times()[frame], pose.port, pose.eye, pose.spin_deg, 1.0, Diathermy::Off});
  }
  return motion;
}

}  // namespace trocar
