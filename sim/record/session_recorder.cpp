#include "sim/record/session_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "geometry/machine.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

RecordedOrgan recorded(const Organ& organ) {
  return {organ.name, &organ.mesh, &organ.tissue, organ.face_ids, organ.sculpture ? organ.sculpture->faces.next_id : 0};
}

RecordedChange recorded(const SurfaceChange& change) {
  return {change.removed,       change.new_faces, change.new_rest,
          change.new_embedding, change.carried,   change.carried_embedding};
}

std::array<std::uint32_t, 3> recorded(const SampleCount& sample) {
  return {static_cast<std::uint32_t>(sample.faces), static_cast<std::uint32_t>(sample.of),
          static_cast<std::uint32_t>(sample.disagreements)};
}

RecordedFibreEnd recorded(const BondEnd& end, const std::vector<Organ>& organs) {
  if (end.organ == kWall) return {kWall, {}, end.point};
  Embedding embedding;
  const std::array<std::uint32_t, 8>& node = organs[end.organ].tissue.lattice.cells[end.cell].node;
  std::copy(node.begin(), node.end(), embedding.node);
  std::copy(end.weight.begin(), end.weight.end(), embedding.weight);
  return {end.organ, embedding, end.point};
}

void add_fibres(const Session& session, RecordingHeader& header) {
  const Bonds& bonds = session.bonds().bonds();
  for (std::uint32_t f = 0; f < bonds.fibres.size(); ++f) {
    const Fibre& fibre = bonds.fibres[f];
    header.fibres.push_back({recorded(fibre.a, session.organs()), recorded(fibre.b, session.organs()),
                             fibre.free_length, fibre.reference, session.bonds().groups()[f]});
    if (!bonds.intact[f]) header.broken.push_back(f);
  }
}

std::vector<RecordedTube> changed_tubes(const SessionClips& clips, std::span<const std::uint32_t> organs) {
  std::vector<RecordedTube> tubes;
  for (const std::uint32_t organ : organs) tubes.push_back({organ, clips.tubes()[organ]});
  return tubes;
}

void add_clips(const Scene& scene, const SessionClips& clips, RecordingHeader& header) {
  header.has_clips = std::ranges::count(scene.instruments, InstrumentKind::ClipApplier, &InstrumentScene::kind) > 0 ||
                     std::ranges::any_of(scene.organs, [](const OrganScene& organ) { return organ.tube.has_value(); });
  header.clips.assign(clips.clips().begin(), clips.clips().end());
  std::vector<std::uint32_t> changed;
  for (std::uint32_t k = 0; k < clips.tubes().size(); ++k)
    if (clips.tubes()[k] != TubeState{}) changed.push_back(k);
  header.tubes = changed_tubes(clips, changed);
}

void list_changes(const SessionBleeding& bleeding, std::vector<RecordedBleedChange>& changes) {
  changes.clear();
  for (const std::uint32_t k : bleeding.changed())
    changes.push_back({k, bleeding.sources()[k].vertex, bleeding.sources()[k].state});
}

ToolState state_of(const Instrument& instrument) {
  if (instrument.health == DeviceHealth::Stale) return ToolState::Stale;
  if (instrument.health == DeviceHealth::Lost) return ToolState::Lost;
  return instrument.frozen ? ToolState::NoPose : ToolState::Good;
}

// Returns the fault of the session's own backend in its last frame.
std::vector<std::string> devices_of(const Scene& scene, const Session& session, const std::string& instead) {
  const auto named = [&](const std::string& device) { return instead.empty() ? device : instead; };
  std::vector<std::string> devices;
  for (std::size_t k = 0; k < session.instruments().size(); ++k)
    devices.push_back(named(k < scene.instruments.size() ? scene.instruments[k].device : ""));
  devices.push_back(named(scene.scope.device));
  return devices;
}

TouchFault fault_of_last_frame(const Session& session) {
  for (const BackendFault& fault : session.backend_faults())
    if (!fault.check && fault.frame + 1 == session.frames()) return fault.fault;
  return TouchFault::None;
}

}  // namespace

RecordingHeader SessionRecorder::header_of(const Scene& scene, const Session& session, const std::string& gl,
                                           const RunNote& run) {
  RecordingHeader header;
  header.run = run;
  header.devices = devices_of(scene, session, run.device);
  header.scene_text = scene.text;
  header.scene_name = scene.file.stem().string();
  header.version = kVersion;
  header.machine = machine_description();
  header.gl = gl;
  header.backend = session.backend().name;
  header.backend_why = session.backend().why;
  header.mode = name_of(scene.query.mode);
  header.cover = name_of(scene.query.cover);
  header.date = this_second();
  header.frame_rate = scene.frame_rate;
  for (const auto& organ : session.organs()) header.organs.push_back(recorded(organ));
  for (const auto& instrument : session.instruments()) {
    header.tools.push_back(instrument.name);
    header.tool_radius.push_back(instrument.radius);
    header.tips.push_back(fmt::format("{} {}", name_of(instrument.kind), instrument.limits.widest_grip_deg));
    if (session.frames() == 0) continue;
    header.before.push_back(instrument.pose);
    header.before_joints.emplace_back(instrument.roll_deg, instrument.grip);
  }
  header.dents = session.parts().tool.size() + session.instruments().size();
  header.stages = stage_names();
  header.backends = session.backend_names();
  const auto& own = header.backend;
  if (std::find(header.backends.begin(), header.backends.end(), own) == header.backends.end())
    header.backends.push_back(own);
  add_fibres(session, header);
  add_clips(scene, session.clips(), header);
  header.has_bleeding = session.bleeding().possible();
  header.sources.assign(session.bleeding().sources().begin(), session.bleeding().sources().end());
  return header;
}

SessionRecorder::SessionRecorder(const OpenSink& open, const Scene& scene, const Session& session,
                                 const std::string& gl, const RunNote& run)
    : sink_(open(header_of(scene, session, gl, run))),
      poses_(session.instruments().size()),
      roll_grip_(session.instruments().size()),
      energy_(session.instruments().size()),
      heats_(session.instruments().size()),
      handles_(session.instruments().size()),
      organs_(session.organs().size()),
      changes_(session.organs().size()),
      tip_ids_(session.organs().size()),
      forces_(session.instruments().size()),
      tip_depth_(session.instruments().size()),
      states_(session.instruments().size()),
      backends_(header_of(scene, session, gl, run).backends) {
  clashes_.reserve(tool_pairs(poses_.size()));
  for (std::size_t k = 0; k < tip_ids_.size(); ++k) tip_ids_[k].reserve(session.organs()[k].tip_faces.capacity());
}

std::uint8_t SessionRecorder::number_of(const std::string& backend) const {
  return static_cast<std::uint8_t>(std::find(backends_.begin(), backends_.end(), backend) - backends_.begin());
}

void SessionRecorder::append(Session& session, double time) {
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
  append(session, {0, time, since.count(), 0.0});
}

void SessionRecorder::append(Session& session, const FrameClock& clock) {
  const auto start = Clock::now();
  session.set_stage_ms(kRecord, last_append_ms_);
  for (std::size_t tool = 0; tool < poses_.size(); ++tool) {
    const Instrument& instrument = session.instruments()[tool];
    poses_[tool] = instrument.pose;
    roll_grip_[tool] = {instrument.roll_deg, instrument.grip};
    energy_[tool] = static_cast<std::uint8_t>(instrument.energy);
    heats_[tool] = instrument.heats;
    handles_[tool] = {instrument.commanded_grip, instrument.grip_force, static_cast<double>(instrument.pump)};
    forces_[tool] = instrument.force;
    states_[tool] = state_of(instrument);
    tip_depth_[tool] = session.buried_tips()[tool] ? session.buried_tips()[tool]->depth : 0.f;
  }
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    const Organ& organ = session.organs()[k];
    changes_[k] = recorded(organ.change);
    tip_ids_[k].clear();
    for (const FaceId slot : organ.tip_faces) tip_ids_[k].push_back(queried_ids(organ)[index(slot)]);
    organs_[k] = {.nodes = session.queried_nodes(k),
                  .touches = organ.touches,
                  .face_ids = queried_ids(organ),
                  .pressure = organ.touch_pressure,
                  .change = organ.change.empty() ? nullptr : &changes_[k],
                  .tip_ids = tip_ids_[k],
                  .tip_first = organ.tip_first,
                  .part = organ.touched.part,
                  .dents = session.queried_dents(k)};
  }
  clashes_.clear();
  for (const InstrumentClash& clash : session.clashes())
    clashes_.push_back({clash.first, clash.second, static_cast<float>(clash.distance), glm::vec3(clash.point)});
  const SessionClips& clips = session.clips();
  tubes_ = changed_tubes(clips, clips.changed_tubes());
  const SessionBleeding& bleeding = session.bleeding();
  list_changes(bleeding, bleed_changes_);
  sink_->append({.time = clock.time,
                 .poses = poses_,
                 .roll_grip = roll_grip_,
                 .organs = organs_,
                 .forces = forces_,
                 .stage_ms = session.stage_ms(),
                 .disagreements = session.disagreements_now(),
                 .energy = energy_,
                 .clashes = clashes_,
                 .tip_depth = tip_depth_,
                 .states = states_,
                 .scope = session.scope().pose,
                 .backend = number_of(session.backend().name),
                 .fault = fault_of_last_frame(session),
                 .sample = recorded(session.sample_now()),
                 .wall = clock.wall,
                 .lost = clock.lost,
                 .heats = heats_,
                 .broken = session.bonds().bonds().broken,
                 .broken_how = session.bonds().bonds().broken_how,
                 .clips = clips.clips().subspan(clips.clips_before()),
                 .lost_clips = clips.lost(),
                 .tubes = tubes_,
                 .lost_fluid = bleeding.lost(),
                 .sources = bleeding.sources().subspan(bleeding.sources_before()),
                 .bleed_changes = bleed_changes_,
                 .fluids = session.film().amounts(),
                 .handles = handles_,
                 .step = session.step_time(),
                 .hidden = session.hidden()});
  last_append_ms_ = milliseconds_since(start);
}

}  // namespace trocar
