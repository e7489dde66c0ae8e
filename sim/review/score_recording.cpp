#include "sim/review/score_recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "sim/review/recording_observer.hpp"
#include "sim/score/lost_time.hpp"
#include "sim/score/motion.hpp"
#include "sim/support/process.hpp"
#include "sim/task/task_run.hpp"
#include "sim/task/watches.hpp"

namespace trocar {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_all_of(const TaskStage& stage, const TaskScene& task) {
  const auto there = [&](const TaskTarget& location) { return has(stage.organs, location.organ); };
  return std::all_of(task.locations.begin(), task.locations.end(), there) &&
         (task.instrument.empty() || has(stage.instruments, task.instrument));
}

}  // namespace

std::optional<TaskResult> score_task(const Recording& recording) {
  const std::string text = recording.text("scene");
  if (text.empty()) return {};
  const Scene scene = parse_scene(text, "scene of the recording");
  if (!scene.task) return {};
  std::vector<OrganSurface> surfaces;
  const TaskStage stage = stage_of(recording, scene, surfaces);
  if (!has_all_of(stage, *scene.task)) return {};
  TaskRun run(*scene.task, stage);
  RecordingObserver observer(recording, scene.scope.lens, run.marks());
  for (std::size_t frame = 0; frame < recording.frame_count() && !run.feed().finished; ++frame)
    run.step(observer.observe(frame));
  return run.result();
}

namespace {

// Returns the task's result; empty when it is not available.
std::optional<TaskResult> task_of(const Recording& recording) {
  try {
    return score_task(recording);
  } catch (const InputError&) {
    return {};
  }
}

// Returns the end of the scored time, s.
double end_of(const ScoredSession& session, double start) {
  if (!session.task) return std::numeric_limits<double>::infinity();
  return end_of_score(*session.scene.task, *session.task, start);
}

ScoredTool scored_tool(const Recording& recording, const ScoredSession& session, std::span<const planar::Zone> zones,
                       std::size_t tool) {
  ScoredTool scored;
  scored.motion = measured_track(track_samples(recording, tool, session.frames()));
  scored.in_zone.resize(zones.size());
  for (std::size_t frame = 0; frame < session.frames(); ++frame) {
    const ToolPose pose = recording.pose(frame, tool);
    const ScopePose scope = recording.scope(frame);
    const double force = glm::length(glm::dvec3(recording.force(frame, tool)));
    scored.force.push_back(std::isfinite(force) ? force : 0.0);
    scored.out_of_view.push_back(
        !is_out_of_body(session.scene, tool, pose) &&
        (recording.hidden(frame).tip(tool) || !seen_point(scope, session.scene.scope.lens, pose.tip).visible));
    for (std::size_t z = 0; z < zones.size(); ++z)
      scored.in_zone[z].push_back(depth_in_zone(zones[z], scope, pose).half_heights > 0.0);
    scored.inside_organ.push_back(recording.tip_depth(frame, tool) > 0.f);
    scored.frozen.push_back(recording.state(frame, tool) != ToolState::Good);
    scored.forceful.push_back(scored.force.back() > session.limits.force);
  }
  return scored;
}

bool collides(const Recording& recording, std::size_t frame) {
  for (std::size_t first = 0; first < recording.tools().size(); ++first)
    for (std::size_t second = first + 1; second < recording.tools().size(); ++second)
      if (const auto clash = recording.clash(frame, first, second); clash && clash->distance < 0.f) return true;
  return false;
}

double highest_pressure(const Recording& recording, std::size_t frame, OrganFrame& scratch) {
  float highest = 0.f;
  for (std::size_t organ = 0; organ < recording.organs().size(); ++organ) {
    recording.read_frame(frame, organ, scratch);
    for (const float pressure : scratch.pressure) highest = std::max(highest, pressure);
  }
  return highest;
}

// A face is removed in the frame before the first one without it; faces missing in frame 0 were removed before.
void count_removed(const Recording& recording, ScoredSession& session) {
  for (const OrganRecording& organ : recording.organs())
    for (const std::uint32_t frame : organ.history.removed_frame) {
      if (frame == 0 || frame > session.frames()) continue;
      bool burns = false;
      for (std::size_t tool = 0; tool < recording.tools().size(); ++tool)
        burns |= recording.energy(frame - 1, tool) != Diathermy::Off;
      ++(burns ? session.faces_burnt : session.faces_torn);
    }
}

std::vector<planar::Zone> zones_of(const Scene& scene) {
  std::vector<planar::Zone> zones;
  if (scene.task)
    for (const TaskZone& zone : scene.task->zones) zones.emplace_back(zone.outline, planar::ZoneKind::Forbidden);
  return zones;
}

}  // namespace

Scene recorded_scene(const Recording& recording, const std::filesystem::path& file) {
  try {
    return parse_scene(recording.text("scene"), file);
  } catch (const InputError&) {
    return {};
  }
}

double ScoredSession::duration() const { return std::accumulate(shares.begin(), shares.end(), 0.0); }

TrackSamples track_samples(const Recording& recording, std::size_t tool, std::size_t frames) {
  TrackSamples samples;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const ToolPose pose = recording.pose(frame, tool);
    samples.add(recording.score_times()[frame], pose.tip, pose.pivot, recording.roll_grip(frame, tool).x);
  }
  return samples;
}

ScoredSession scored_session(const Recording& recording, const std::string& file) {
  ScoredSession session;
  session.scene = recorded_scene(recording, file);
  session.task = task_of(recording);
  if (session.scene.task) session.limits.force = session.scene.task->most_force;
  const double end = end_of(session, recording.score_times().front());
  for (const double time : recording.score_times()) {
    if (time > end) break;
    session.times.push_back(time);
  }
  session.shares = frame_shares(session.times);
  const auto zones = zones_of(session.scene);
  for (std::size_t tool = 0; tool < recording.tools().size(); ++tool)
    session.tools.push_back(scored_tool(recording, session, zones, tool));
  OrganFrame scratch;
  for (std::size_t frame = 0; frame < session.frames(); ++frame) {
    const double pressure = highest_pressure(recording, frame, scratch);
    session.peak_pressure = std::max(session.peak_pressure, pressure);
    session.pressed.push_back(pressure > session.limits.pressure);
    session.collision.push_back(collides(recording, frame));
  }
  count_removed(recording, session);
  return session;
}

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
// Events at most this far apart are merged, as ZoneWatch::kAway does for zones.
constexpr double kAway = ZoneWatch::kAway;  // s

class Metrics {
 public:
  void add(const char* id, const char* label, const char* unit, double value) {
    list_.push_back({id, label, unit, value, {}, {}, ""});
  }
  void add_judged(const char* id, const char* label, const char* unit, double value, double good, double poor) {
    list_.push_back({id, label, unit, value, good, poor, ""});
  }
  void add(const Metric& metric) { list_.push_back(metric); }
  std::vector<Metric> take() { return std::move(list_); }

 private:
  std::vector<Metric> list_;
};

double count_of(std::size_t count) { return static_cast<double>(count); }

double impulse(const std::vector<double>& shares, const std::vector<double>& force) {
  return std::inner_product(shares.begin(), shares.end(), force.begin(), 0.0);
}

Flags any_of(const std::vector<Flags>& all) {
  Flags any(all.front().size(), 0);
  for (const Flags& flags : all)
    for (std::size_t k = 0; k < any.size(); ++k) any[k] = any[k] || flags[k];
  return any;
}

double zone_count(const ScoredSession& session, const ScoredTool& tool) {
  std::size_t count = 0;
  for (const Flags& flags : tool.in_zone) count += beginnings(session.times, flags, kAway);
  return count_of(count);
}

InstrumentScore score_tool(const std::string& name, const ScoredSession& session, const ScoredTool& tool,
                           std::span<const double> stops) {
  Metrics m;
  const auto& shares = session.shares;
  const double duration = session.duration();
  const auto count = [&](const Flags& flags) { return count_of(beginnings(session.times, flags, kAway)); };
  for (const Metric& metric : motion_metrics(tool.motion, stops)) m.add(metric);
  m.add(out_of_view_metric(shares, tool.out_of_view, duration));
  m.add("out_of_view_count", "Times out of view", "", count(tool.out_of_view));
  const double limit = session.limits.force;
  m.add(peak_force_metric(*std::max_element(tool.force.begin(), tool.force.end()), limit));
  m.add("force_integral", "Force integral", "N s", impulse(shares, tool.force));
  m.add_judged("force_time", "Time above the force limit", "s", time_of(shares, tool.forceful), 0.0, 0.05 * duration);
  m.add_judged("inside_time", "Tip inside an organ", "s", time_of(shares, tool.inside_organ), 0.0, 0.05 * duration);
  if (!tool.in_zone.empty()) {
    m.add_judged("zone_time", "Time in a forbidden zone", "s", time_of(shares, any_of(tool.in_zone)), 0.0,
                 0.05 * duration);
    m.add_judged("zone_count", "Entries into a forbidden zone", "", zone_count(session, tool), 0.0, 4.0);
  }
  m.add("frozen_time", "Device disconnected or silent", "s", time_of(shares, tool.frozen));
  return {name, m.take()};
}

// Computes the correlation for the two instruments with the longest paths.
double bimanual_correlation(const std::vector<ScoredTool>& tools) {
  if (tools.size() < 2) return kNone;
  std::vector<std::pair<double, std::size_t>> paths;
  for (std::size_t k = 0; k < tools.size(); ++k) {
    const double length = path_length(tools[k].motion.track.tip);
    paths.emplace_back(std::isfinite(length) ? -length : 0.0, k);
  }
  std::sort(paths.begin(), paths.end());
  return steady_correlation(tools[paths[0].second].motion, tools[paths[1].second].motion);
}

void add_force(Metrics& m, const ScoredSession& session) {
  double peak = 0.0, sum = 0.0;
  for (const ScoredTool& tool : session.tools) {
    peak = std::max(peak, *std::max_element(tool.force.begin(), tool.force.end()));
    sum += impulse(session.shares, tool.force);
  }
  m.add(peak_force_metric(peak, session.limits.force));
  m.add("force_integral", "Force integral", "N s", sum);
}

void add_zones(Metrics& m, const ScoredSession& session) {
  std::vector<Flags> all;
  double count = 0.0;
  for (const ScoredTool& tool : session.tools) {
    all.insert(all.end(), tool.in_zone.begin(), tool.in_zone.end());
    count += zone_count(session, tool);
  }
  if (all.empty()) return;
  m.add_judged("zone_time", "Time in a forbidden zone", "s", time_of(session.shares, any_of(all)), 0.0,
               0.05 * session.duration());
  m.add_judged("zone_count", "Entries into a forbidden zone", "", count, 0.0, 4.0);
}

std::vector<Metric> score_whole(const ScoredSession& session) {
  Metrics m;
  const auto& shares = session.shares;
  if (session.scene.task)
    m.add(duration_metric(session.duration(), session.scene.task->time_good, session.scene.task->time_limit));
  else
    m.add(duration_metric(session.duration(), {}, {}));
  if (session.tools.size() > 1) {
    m.add("bimanual_correlation", "Bimanual speed correlation", "", bimanual_correlation(session.tools));
    m.add_judged("collisions", "Instrument collisions", "",
                 count_of(beginnings(session.times, session.collision, kAway)), 0.0, 5.0);
    m.add("collision_time", "Instrument collision time", "s", time_of(shares, session.collision));
  }
  if (!session.tools.empty()) add_force(m, session);
  m.add_judged("peak_pressure", "Peak pressure", "kPa", session.peak_pressure * 1e-3, session.limits.pressure * 1e-3,
               session.limits.worst_pressure * 1e-3);
  m.add("pressure_time", "Time above the pressure limit", "s", time_of(shares, session.pressed));
  m.add("faces_burnt", "Faces burnt", "", count_of(session.faces_burnt));
  m.add("faces_torn", "Faces torn or cut", "", count_of(session.faces_torn));
  add_zones(m, session);
  if (session.task)
    for (const Metric& part : session.task->parts)
      if (part.id == "task_errors") m.add(part);
  return m.take();
}

void add_lost_time(const Recording& recording, const ScoredSession& session, Attempt& attempt) {
  const auto& wall = recording.wall_times();
  if (session.frames() == 0) return;
  const std::size_t last = session.frames() - 1;
  LostTime lost;
  for (std::size_t frame = 0; frame <= last; ++frame)
    lost.add(wall[frame] - wall.front(), recording.lost_time(0, frame));
  attempt.lost_time = recording.lost_time(0, last);
  attempt.lost_share = lost.share(), attempt.worst_lost = lost.worst();
  if (recording.clock() != ScoreClock::Wall) return;
  attempt.overall.push_back({"lost_share", msgid("Time lost by the machine"), "%", 100.0 * lost.share(), {}, {}, ""});
  attempt.overall.push_back(
      {"worst_lost_share", msgid("Time lost by the machine in the worst 10 s"), "%", 100.0 * lost.worst(), {}, {}, ""});
}

}  // namespace

Attempt score_recording(const Recording& recording, const std::string& file) {
  ScoredSession session = scored_session(recording, file);
  Attempt attempt;
  attempt.file = file;
  attempt.scene_title = session.scene.title;
  if (session.scene.task) attempt.level = session.scene.task->at_level;
  attempt.date = recording.text("date");
  attempt.version = recording.text("version");
  attempt.machine = recording.text("machine");
  attempt.backend = recording.text("backend");
  attempt.person = recording.text("person");
  attempt.activity = recording.text("activity");
  attempt.ending = name_of(recording.ending());
  attempt.duration = session.duration();
  attempt.frames = session.frames();
  attempt.clock = recording.clock() == ScoreClock::Wall ? "wall" : "tick";
  attempt.overall = score_whole(session);
  add_lost_time(recording, session, attempt);
  const std::vector<double> stops = session.task ? stops_of(*session.task) : std::vector<double>{};
  for (std::size_t tool = 0; tool < session.tools.size(); ++tool)
    attempt.instruments.push_back(score_tool(recording.tools()[tool], session, session.tools[tool], stops));
  attempt.task = std::move(session.task);
  return attempt;
}

Attempt score_trajectory(const Trajectory& trajectory, const std::string& file) {
  TrackSamples samples;
  for (const TrajectoryRow& row : trajectory.rows) samples.add(row.time, row.tip, row.pivot, row.roll_deg);
  Attempt attempt;
  attempt.file = file;
  attempt.version = kVersion;
  attempt.machine = machine_description();
  attempt.duration = trajectory.rows.back().time - trajectory.rows.front().time;
  attempt.frames = trajectory.rows.size();
  attempt.overall.push_back({"duration", "Time", "s", attempt.duration, {}, {}, ""});
  attempt.instruments.push_back({"instrument", motion_metrics(measured_track(samples), {})});
  return attempt;
}

}  // namespace trocar
