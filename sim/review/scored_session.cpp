#include "sim/review/scored_session.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "geometry/error.hpp"
#include "sim/review/score_task.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/score/motion.hpp"
#include "sim/task/watches.hpp"

namespace trocar {
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
  if (session.task->finished && !session.task->events.empty()) return session.task->events.back().time;
  return start + session.scene.task->time_limit;
}

// In recordings without scope poses the scope did not move.
std::optional<ScopePose> scope_in(const Recording& recording, const Scene& scene, std::size_t frame) {
  if (const auto scope = recording.scope(frame)) return scope;
  if (scene.instruments.empty()) return {};
  return scene.scope.pose();
}

ScoredTool scored_tool(const Recording& recording, const ScoredSession& session, std::span<const planar::Zone> zones,
                       std::size_t tool) {
  ScoredTool scored;
  scored.track = track_of(track_samples(recording, tool, session.frames()));
  scored.in_zone.resize(zones.size());
  for (std::size_t frame = 0; frame < session.frames(); ++frame) {
    const ToolPose pose = recording.pose(frame, tool);
    const auto scope = scope_in(recording, session.scene, frame);
    const double force = glm::length(glm::dvec3(recording.force(frame, tool)));
    scored.force.push_back(std::isfinite(force) ? force : 0.0);
    scored.out_of_view.push_back(scope && (recording.hidden(frame).tip(tool) ||
                                           !seen_point(*scope, session.scene.scope.lens, pose.tip).visible));
    for (std::size_t z = 0; z < zones.size(); ++z)
      scored.in_zone[z].push_back(scope && depth_in_zone(zones[z], *scope, pose).half_heights > 0.0);
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
    return parse_recorded_scene(recording.text("scene"), file);
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
  session.views = scope_in(recording, session.scene, 0).has_value();
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

}  // namespace trocar
