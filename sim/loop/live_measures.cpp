#include "sim/loop/live_measures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/score/motion.hpp"

namespace trocar {

void LiveMeasures::add(const Session& session, double time) {
  tools_.resize(session.instruments().size());
  times_.push_back(time);
  for (std::size_t k = 0; k < tools_.size(); ++k) {
    const Instrument& instrument = session.instruments()[k];
    Tool& tool = tools_[k];
    tool.name = instrument.name;
    tool.tip.push_back(instrument.pose.tip), tool.pivot.push_back(instrument.pose.pivot);
    tool.roll_deg.push_back(instrument.roll_deg);
    tool.out_of_view.push_back(session.hidden().tip(k) ||
                               !seen_point(session.scope().pose, session.scope().lens, instrument.pose.tip).visible);
    const double force = glm::length(glm::dvec3(instrument.force));
    tool.force.push_back(std::isfinite(force) ? force : 0.0);
  }
}

Attempt LiveMeasures::attempt(const Scene& scene, const TaskRun* task) const {
  Attempt attempt;
  attempt.scene_title = scene.title;
  if (task) attempt.task = task->result();
  if (times_.empty()) return attempt;
  const bool scored = task && scene.task;
  std::size_t frames = times_.size();
  if (scored) {
    const double end = end_of_score(*scene.task, *attempt.task, times_.front());
    frames = static_cast<std::size_t>(std::ranges::find_if(times_, [&](double time) { return time > end; }) -
                                      times_.begin());
  }
  attempt.frames = frames;
  const std::vector<double> shares = frame_shares(std::span(times_).first(frames));
  attempt.duration = std::accumulate(shares.begin(), shares.end(), 0.0);
  const std::vector<double> stops = attempt.task ? stops_of(*attempt.task) : std::vector<double>{};
  double peak = 0.0;
  for (std::size_t k = 0; k < tools_.size(); ++k) {
    const Tool& tool = tools_[k];
    std::vector<char> out_of_view(tool.out_of_view.begin(),
                                  tool.out_of_view.begin() + static_cast<std::ptrdiff_t>(frames));
    for (std::size_t frame = 0; frame < frames; ++frame)
      if (is_out_of_body(scene, k, {tool.pivot[frame], tool.tip[frame], 0.0})) out_of_view[frame] = 0;
    TrackSamples samples;
    for (std::size_t frame = 0; frame < frames; ++frame)
      samples.add(times_[frame], tool.tip[frame], tool.pivot[frame], tool.roll_deg[frame]);
    InstrumentScore score{tool.name, motion_metrics(measured_track(samples), stops)};
    score.metrics.push_back(out_of_view_metric(shares, out_of_view, attempt.duration));
    attempt.instruments.push_back(std::move(score));
    for (std::size_t frame = 0; frame < frames; ++frame) peak = std::max(peak, tool.force[frame]);
  }
  attempt.overall.push_back(scored ? duration_metric(attempt.duration, scene.task->time_good, scene.task->time_limit)
                                   : duration_metric(attempt.duration, {}, {}));
  if (!tools_.empty())
    attempt.overall.push_back(peak_force_metric(peak, scene.task ? scene.task->most_force : kUsualForceLimit));
  if (attempt.task)
    for (const Metric& part : attempt.task->parts)
      if (part.id == "task_errors") attempt.overall.push_back(part);
  return attempt;
}

}  // namespace trocar
