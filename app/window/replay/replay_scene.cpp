#include "app/window/replay/replay_scene.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "geometry/error.hpp"
#include "geometry/face_numbers.hpp"
#include "sim/review/recording_observer.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {
namespace {

bool same_path(const DrawnPath& a, const DrawnPath& b) {
  return std::ranges::equal(a.points, b.points) && a.width == b.width && a.done == b.done && a.state == b.state;
}

bool same_zone(const DrawnZone& a, const DrawnZone& b) {
  return std::ranges::equal(a.outline, b.outline) && a.violated == b.violated;
}

}  // namespace

bool same_marks(const DrawnMarks& a, const DrawnMarks& b) {
  return std::ranges::equal(a.targets, b.targets) && std::ranges::equal(a.paths, b.paths, same_path) &&
         std::ranges::equal(a.zones, b.zones, same_zone);
}

template <typename T>
MarkTrack::Range MarkTrack::stored(std::span<const T> list, const Range& before, std::vector<T>& all) {
  if (std::ranges::equal(list, std::span<const T>(all).subspan(before.first, before.count))) return before;
  const Range range{all.size(), list.size()};
  all.insert(all.end(), list.begin(), list.end());
  return range;
}

void MarkTrack::add(const DrawnMarks& marks) {
  const Frame before = frames_.empty() ? Frame{} : frames_.back();
  paths_now_.clear(), zones_now_.clear();
  for (std::size_t k = 0; k < marks.paths.size(); ++k) {
    const DrawnPath& path = marks.paths[k];
    const Range points = k < before.paths.count ? paths_[before.paths.first + k].points : Range{};
    paths_now_.push_back({stored(path.points, points, points_), path.width, path.done, path.state});
  }
  for (std::size_t k = 0; k < marks.zones.size(); ++k) {
    const DrawnZone& zone = marks.zones[k];
    const Range corners = k < before.zones.count ? zones_[before.zones.first + k].outline : Range{};
    zones_now_.push_back({stored(zone.outline, corners, corners_), zone.violated});
  }
  frames_.push_back({stored(std::span<const DrawnTarget>(marks.targets), before.targets, targets_),
                     stored(std::span<const Path>(paths_now_), before.paths, paths_),
                     stored(std::span<const Zone>(zones_now_), before.zones, zones_)});
}

void MarkTrack::get(std::size_t frame, DrawnMarks& marks) const {
  marks.targets.clear(), marks.paths.clear(), marks.zones.clear();
  if (frames_.empty()) return;
  const Frame& shown = frames_[std::min(frame, frames_.size() - 1)];
  const auto targets = std::span(targets_).subspan(shown.targets.first, shown.targets.count);
  marks.targets.assign(targets.begin(), targets.end());
  for (const Path& path : std::span(paths_).subspan(shown.paths.first, shown.paths.count))
    marks.paths.push_back(
        {std::span(points_).subspan(path.points.first, path.points.count), path.width, path.done, path.state});
  for (const Zone& zone : std::span(zones_).subspan(shown.zones.first, shown.zones.count))
    marks.zones.push_back({std::span(corners_).subspan(zone.outline.first, zone.outline.count), zone.violated});
}

namespace {

template <typename Named>
const Named* named(const std::vector<Named>& list, const std::string& name) {
  const auto found = std::ranges::find(list, name, &Named::name);
  return found == list.end() ? nullptr : &*found;
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
  pose_ = recording_.scope(frame);
}

void ReplayScene::show_organ(std::size_t organ) {
  ShownOrgan& shown = shown_[organ];
  const OrganSurface& surface = shown.frames.surface();
  const OrganFrame& frame = shown.frames.frame();
  shown.touches = frame.touches;
  for (Touch& touch : shown.touches) touch.face = FaceId(slot_of(surface.ids, touch.face));
  shown.tip_faces = frame.tip_ids;
  for (FaceId& face : shown.tip_faces) face = FaceId(slot_of(surface.ids, face));
  DrawnOrgan& drawn = organs_[organ];
  drawn.rest = surface.at_rest();
  drawn.positions = shown.frames.mesh().positions;
  drawn.touches = {shown.touches, frame.first};
  drawn.tip_faces = shown.tip_faces;
  drawn.tip_first = frame.tip_first;
  drawn.topology = shown.topology;
  const OrganScene* scene = named(scene_.organs, recording_.organs()[organ].name);
  drawn.colour = scene ? scene->colour : OrganScene{}.colour;
  drawn.look = scene ? scene->look : OrganScene{}.look;
  drawn.opacity = scene && scene->sheet ? sheet_opacity(scene->sheet->thickness) : 1.f;
}

void ReplayScene::show_film() {
  filmed_.clear();
  for (const ShownOrgan& shown : shown_)
    filmed_.push_back({shown.frames.mesh(), shown.frames.surface().at_rest(), shown.reshaped});
  film_.load(frame_, filmed_);
  for (std::size_t k = 0; k < organs_.size(); ++k) organs_[k].wet = film_.look(k);
  bonds_.blood_area = film_.blood_area();
  bonds_.jets.clear();
  for (const Spurt& spurt : film_.spurts()) add_jet(spurt, bonds_.jets);
  rests_.clear();
  for (const DrawnOrgan& organ : organs_) rests_.push_back(organ.rest);
  bonds_.pool = pool_below(film_.dripped(frame_), film_.sources(), rests_);
}

void ReplayScene::show_tools() {
  for (std::size_t tool = 0; tool < tools_.size(); ++tool) {
    const glm::dvec2 roll_grip = recording_.roll_grip(frame_, tool);
    bool touching = false;
    for (std::size_t organ = 0; organ < shown_.size(); ++organ) touching = touching || touched(organ, tool) > 0;
    const InstrumentScene* scene = named(scene_.instruments, recording_.tools()[tool]);
    tools_[tool] = {recording_.pose(frame_, tool),
                    roll_grip.x,
                    roll_grip.y,
                    touching,
                    scene ? scene->kind : InstrumentKind::Probe,
                    recording_.energy(frame_, tool),
                    recording_.heats(frame_, tool) != 0,
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

struct TaskScan::Content {
  const Recording* recording;
  std::vector<OrganSurface> surfaces;
  std::optional<TaskRun> run;
  std::optional<RecordingObserver> observer;
  MarkTrack track;
  DrawnMarks drawn;
  std::vector<TaskMoment> moments;
  std::vector<std::string> hints;
  std::size_t next = 0;

  void step() {
    run->step(observer->observe(next++));
    const TaskFeed& feed = run->feed();
    if (hints.empty() || hints.back() != feed.hint) hints.push_back(feed.hint);
    moments.push_back({feed.progress, feed.score, feed.errors, hints.size() - 1});
    drawn.targets.clear(), drawn.paths.clear(), drawn.zones.clear();
    run->draw(drawn);
    track.add(drawn);
  }
};

TaskScan::TaskScan(const Recording& recording, const Scene& scene) : content_(std::make_unique<Content>()) {
  content_->recording = &recording;
  if (!scene.task) return;
  try {
    content_->run.emplace(*scene.task, stage_of(recording, scene, content_->surfaces));
    content_->observer.emplace(recording, scene.scope.lens, content_->run->marks());
  } catch (const InputError&) {
    content_->run.reset();
  }
}
TaskScan::~TaskScan() = default;

bool TaskScan::work(double ms) {
  Content& c = *content_;
  if (!c.run) return true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(ms);
  while (c.next < c.recording->frame_count() && !c.run->feed().finished && std::chrono::steady_clock::now() < end)
    c.step();
  return c.next == c.recording->frame_count() || c.run->feed().finished;
}

std::vector<TaskEvent> TaskScan::events() const {
  return content_->run ? content_->run->result().events : std::vector<TaskEvent>{};
}

std::optional<TaskResult> TaskScan::result() const {
  return content_->run ? std::optional(content_->run->result()) : std::nullopt;
}

const std::vector<TaskMoment>& TaskScan::moments() const { return content_->moments; }

const std::vector<std::string>& TaskScan::hints() const { return content_->hints; }

const MarkTrack& TaskScan::marks() const { return content_->track; }

}  // namespace trocar
