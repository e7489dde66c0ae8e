#include "sim/session/session.hpp"

#include <algorithm>
#include <set>

namespace trocar {

const std::vector<std::string>& stage_names() {
  static const std::vector<std::string> names = {"devices", "pairs",  "update",  "query", "contacts",
                                                 "cut",     "tissue", "surface", "check", "record"};
  return names;
}

namespace {

const std::string& wanted(const Scene& scene, const std::string& backend) {
  return backend.empty() ? scene.query.backend : backend;
}

// `auto` is chosen when the organs are known.
BackendChoice first_choice(BackendMaker& backends, const std::string& name) {
  return name == "auto" ? BackendChoice{"scan", ""} : backends.resolve(name, {});
}

}  // namespace

namespace {

// Returns the organs whose surfaces the steps of a task look at, each once: what they clear away, the ducts and vessels
// that they keep away from, and all on which blood may lie that is sucked away; and the rings of peg transfer.
std::vector<std::uint32_t> seen_organs(const Scene& scene) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t k = 0; scene.task && scene.task->kind == TaskKind::PegTransfer && k < scene.organs.size(); ++k)
    if (scene.organs[k].rigid && !scene.organs[k].rigid->fixed) seen.insert(k);
  if (!scene.task || scene.task->steps.empty()) return {seen.begin(), seen.end()};
  for (const TaskStep& step : scene.task->steps)
    for (std::uint32_t k = 0; step.kind == StepKind::Suck && k < scene.organs.size(); ++k) seen.insert(k);
  for (const TaskStep& step : scene.task->steps)
    for (const StepGone& gone : step.gone) {
      if (gone.may_stay) continue;
      const auto organ = std::ranges::find(scene.organs, gone.organ, &OrganScene::name);
      seen.insert(static_cast<std::uint32_t>(organ - scene.organs.begin()));
    }
  for (std::uint32_t k = 0; k < scene.organs.size(); ++k)
    if (scene.organs[k].tube) seen.insert(k);
  return {seen.begin(), seen.end()};
}

}  // namespace

Session::Session(const Scene& scene, BackendMaker& backends, const std::string& backend,
                 const std::vector<CheckPlan>& checks, const DeviceMaker& make_device)
    : queries_(first_choice(backends, wanted(scene, backend)), scene.organs.size(), scene.instruments.size()),
      world_(scene, backends, queries_.backend().name),
      instruments_(scene, make_device),
      check_(world_.organs(), instruments_.parts().size(), checks, backends),
      backend_names_(backends.names()),
      backdrops_(scene.backdrops),
      scene_text_(scene.text),
      times_(1) {
  if (wanted(scene, backend) == "auto") use_backend(backends, "auto");
  times_[0].name = queries_.backend().name;
  for (BackendTimes& times : times_of(checks)) times_.push_back(std::move(times));
  seen_organs_ = seen_organs(scene);
  for (std::size_t k = 0; k < scene.organs.size(); ++k)
    if (scene.organs[k].only_joined || scene.organs[k].rigid) queries_.leave_alone(k);
  queried_surfaces_.resize(scene.organs.size());
  reserve_frames(times_[0].limit);
}

Session::~Session() = default;

void Session::reserve_frames(std::size_t frames) {
  for (BackendTimes& times : times_) times.reserve(frames);
}

void Session::use_backend(BackendMaker& backends, const std::string& name) {
  std::vector<MeshView> surfaces;
  for (const Organ& organ : organs()) surfaces.push_back({organ.positions, organ.mesh.faces});
  const BackendChoice choice = backends.resolve(name, surfaces);
  backends.make(choice.name);  // throws before anything has changed
  if (choice.name != queries_.backend().name)
    for (Organ& organ : world_.organs()) trocar::use_backend(organ, backends, choice.name);
  for (BackendTimes& times : times_) times.start_again();
  queries_.take_over(choice, times_[0]);
}

void Session::step(const FrameClock& clock, double dt) {
  ask(clock, dt);
  move();
  settle();
}

void Session::ask(const FrameClock& clock, double dt) {
  stage_ms_.fill(0.f);
  step_time_ = dt;
  tick_time_ = clock.time;
  read_devices(clock);
  follow_marks();
  watch_sight();
  find_near_pairs(dt);
  queries_.ask(world_, instruments_, frames_, times_[0], faults_, stage_ms_);
  check_answers();
}

void Session::move() {
  world_.step(instruments_, queries_.near_pairs().organ_pairs(), step_time_, stage_ms_);
  watch_tips();
}

void Session::settle() {
  {
    const StageTimer timer(stage_ms_[kSurface]);
    world_.tell_queries();
  }
  change_checks();
  instruments_.feel(tick_time_);
  ++frames_;
}

void Session::read_devices(const FrameClock& clock) {
  const StageTimer timer(stage_ms_[kDevices]);
  instruments_.read(clock, frames_ == 0);
}

void Session::set_marks(std::span<const SurfaceMark> marks, std::size_t watched) {
  marks_.assign(marks.begin(), marks.end());
  mark_positions_.assign(marks.size(), glm::vec3(0.f));
  watched_marks_ = std::min({watched, marks.size(), HiddenPoints::kMost});
  mark_watch_ = MarkWatch(marks);
  watched_topology_.clear();
}

void Session::follow_marks() {
  for (const std::uint32_t k : seen_organs_) {
    queried_surfaces_[k].positions = organs()[k].positions;
    queried_surfaces_[k].faces = organs()[k].mesh.faces;
  }
  for (std::size_t k = 0; k < marks_.size(); ++k)
    mark_positions_[k] = position_of(marks_[k], organs()[marks_[k].organ].positions);
  const bool first = watched_topology_.empty();
  watched_topology_.resize(organs().size());
  for (std::uint32_t k = 0; k < organs().size(); ++k) {
    const Organ& organ = organs()[k];
    if (first || organ.topology != watched_topology_[k]) mark_watch_.look(k, organ.mesh.view(), organ.face_ids);
    watched_topology_[k] = organ.topology;
  }
}

void Session::watch_sight() {
  const StageTimer timer(stage_ms_[kSurface]);
  sight_points_.clear();
  const std::size_t tips = std::min(instruments().size(), HiddenPoints::kMost);
  for (std::size_t k = 0; k < tips; ++k) {
    const ToolPose& pose = instruments()[k].pose;
    sight_points_.push_back({pose.tip, kBeforeTip * pose.radius});
  }
  for (std::size_t k = 0; k < watched_marks_; ++k)
    sight_points_.push_back({glm::dvec3(mark_positions_[k]), kBeforeTarget});
  sight_watch_.look(organs(), scope().pose.eye, sight_points_);
  hidden_ = {};
  for (std::size_t k = 0; k < sight_points_.size(); ++k) {
    const auto bit = std::uint32_t{sight_watch_.hidden()[k]};
    if (k < tips)
      hidden_.tips |= bit << k;
    else
      hidden_.marks |= bit << (k - tips);
  }
}

void Session::find_near_pairs(double dt) {
  const StageTimer timer(stage_ms_[kPairs]);
  queries_.find_near_pairs(world_, instruments_, dt);
}

void Session::check_answers() {
  const AnsweredFrame answered{frames_, organs(), queries_.asked(), instruments_.frame_volumes()};
  check_.check(answered, checking_, checking_ && check_room_, std::span(times_).subspan(1), faults_, stage_ms_);
}

void Session::change_checks() {
  const StageTimer timer(stage_ms_[kSurface]);
  for (std::size_t k = 0; k < organs().size(); ++k)
    if (const Organ& organ = organs()[k]; !organ.change.empty()) check_.change_faces(k, organ);
  sight_watch_.follow_changes(organs());
}

void Session::watch_tips() {
  const StageTimer timer(stage_ms_[kSurface]);
  tips_.clear();
  for (const Instrument& instrument : instruments()) tips_.push_back(instrument.pose.tip);
  tip_watch_.look(organs(), tips_);
}

std::uint32_t Session::touched() const {
  std::size_t sum = 0;
  for (const Organ& organ : organs()) sum += organ.touches.touches.size();
  return static_cast<std::uint32_t>(sum);
}

std::uint64_t Session::disagreements() const {
  std::uint64_t sum = 0;
  for (const auto& times : times_) sum += times.disagreements;
  return sum + check_.sample().total().disagreements;
}

std::uint64_t held_back(const Session& session) {
  std::uint64_t sum = 0;
  for (const Organ& organ : session.organs()) sum += organ.state.scratch.held_back;
  return sum;
}

}  // namespace trocar
