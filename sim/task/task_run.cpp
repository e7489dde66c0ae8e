#include "sim/task/task_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "geometry/translate.hpp"
#include "sim/task/task_goal.hpp"
#include "sim/task/watches.hpp"

namespace trocar {
namespace {

std::unique_ptr<TaskGoal> make_goal(const TaskScene& task, const TaskStage& stage) {
  switch (task.kind) {
    case TaskKind::NavigateCamera:
      return make_navigate_camera(task, stage);
    case TaskKind::FollowCurve:
      return make_follow_curve(task, stage);
    case TaskKind::LiftOrgan:
      return make_lift_organ(task, stage);
    case TaskKind::BurnLine:
      return make_burn_line(task, stage);
    case TaskKind::ClipAndCut:
      return make_clip_and_cut(task, stage);
    case TaskKind::Operation:
      return make_operation(task, stage);
    case TaskKind::PegTransfer:
      return make_peg_transfer(task, stage);
    case TaskKind::TouchTargets:
    case TaskKind::KeepOut:
      break;
  }
  return make_touch_targets(task, stage);
}

// The grade of the time is 0 at so many target times, or at the time limit: a trainee who needs three times as long as
// an expert is slow, although the task may last longer.
constexpr double kSlowest = 3.0;

double slowest_time(const TaskScene& task) { return std::min(task.time_limit, kSlowest * task.time_good); }

// Returns the mean grade of the parts with a defined value, 0 .. 1; 0 without any.
double mean_grade(const std::vector<Metric>& parts) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const Metric& part : parts)
    if (const auto grade = mark_of(part)) sum += *grade, ++count;
  return count > 0 ? sum / double(count) : 0.0;
}

}  // namespace

struct TaskRun::Content {
  Content(const TaskScene& scene, const TaskStage& stage)
      : task(scene),
        slowest(slowest_time(scene)),
        goal(make_goal(scene, stage)),
        zones(scene, stage),
        force(scene, stage),
        tremor(scene, stage) {
    feed.hint.reserve(128), feed.warning.reserve(128);
  }

  void follow(const Observation& seen) {
    if (!begun) start = last = seen.time, begun = true;
    const double dt = seen.time - last;
    last = seen.time;
    feed.elapsed = seen.time - start;
    force.step(seen, dt, log);
    tremor.step(seen, dt);
    zones.step(seen, dt, log);
    goal->step(seen, dt, log);
    finish(seen.time);
    tell();
  }

  void finish(double time) {
    feed.progress = goal->progress();
    feed.step = goal->step_number(), feed.tool = goal->tool(), feed.hold = goal->hold();
    if (log.ended) {
      feed.finished = true;
    } else if (feed.progress >= 1.0) {
      done = feed.done = feed.finished = true;
      log.note(time, tr("task done"));
    } else if (feed.elapsed >= task.time_limit) {
      feed.finished = true;
      log.error(time, tr("out of time"));
    }
  }

  void add_metrics() {
    parts.begin();
    parts.add("task_time", "Task time", "s", feed.elapsed, task.time_good, slowest);
    goal->add_metrics(parts);
    force.add_metrics(parts);
    tremor.add_metrics(parts);
    zones.add_metrics(parts);
    parts.add("task_errors", "Errors", "", double(log.errors), 0.0, task.rules.many_errors);
  }

  // Live and at the end: what is not done does not count.
  double score() const {
    const double full = 100.0 * feed.progress * mean_grade(parts.parts());
    return log.capped ? std::min(full, kMostAfterCritical) : full;
  }

  void tell() {
    add_metrics();
    feed.errors = log.errors;
    feed.score = score();
    feed.hint.clear(), feed.warning.clear();
    if (feed.finished) {
      feed.hint += done ? tr("done") : log.ended ? log.events.back().text.c_str() : tr("out of time");
      return;
    }
    goal->say(feed.hint, feed.warning);
    auto to = std::back_inserter(feed.warning);
    if (force.over()) {
      feed.warning.clear();
      fmt::format_to(to, fmt::runtime(tr("too much force: {:.1f} N")), force.now());
    }
    if (zones.violated()) {
      feed.warning.clear();
      fmt::format_to(to, fmt::runtime(tr("{:.1f} mm inside the forbidden zone")), zones.deepest_now() * 1e3);
    }
  }

  TaskScene task;
  double slowest;  // s   the grade of the time is 0 from here on
  std::unique_ptr<TaskGoal> goal;
  ZoneWatch zones;
  ForceWatch force;
  TremorWatch tremor;
  TaskLog log;
  TaskFeed feed;
  PartList parts;
  double start = 0.0, last = 0.0;  // s
  bool begun = false, done = false;
};

TaskRun::TaskRun(const TaskScene& task, const TaskStage& stage) : content_(std::make_unique<Content>(task, stage)) {}
TaskRun::~TaskRun() = default;
TaskRun::TaskRun(TaskRun&&) noexcept = default;

const TaskScene& TaskRun::task() const { return content_->task; }
const std::vector<SurfaceMark>& TaskRun::marks() const { return content_->goal->marks(); }

// Only the camera shows its targets.
std::size_t TaskRun::watched_marks() const {
  return content_->task.kind == TaskKind::NavigateCamera ? marks().size() : 0;
}

void TaskRun::step(const Observation& seen) {
  if (!content_->feed.finished) content_->follow(seen);
}

const TaskFeed& TaskRun::feed() const { return content_->feed; }

TaskResult TaskRun::result() const {
  const Content& c = *content_;
  TaskResult result;
  result.kind = name_of(c.task.kind);
  result.title = c.task.title;
  result.finished = c.done;
  result.parts = c.parts.parts();
  result.events = c.log.events;
  result.score = c.feed.score;
  result.critical = c.log.critical_text;
  result.ended_by_critical = c.log.ended;
  result.progress = std::clamp(c.feed.progress, 0.0, 1.0);
  return result;
}

void TaskRun::draw(DrawnMarks& marks) const {
  content_->goal->draw(marks);
  content_->zones.draw(marks);
}

namespace {

InstrumentKind kind_for(const TaskStep& step) {
  switch (step.kind) {
    case StepKind::Retract:
    case StepKind::Remove:
    case StepKind::StopBleeding:
      return InstrumentKind::Grasper;
    case StepKind::Dissect:
    case StepKind::Clear:
      return InstrumentKind::Hook;
    case StepKind::Divide:
      return InstrumentKind::ClipApplier;
    case StepKind::Suck:
      return InstrumentKind::Suction;
  }
  return InstrumentKind::Grasper;
}

}  // namespace

std::size_t instrument_of_task(const Scene& scene) {
  if (!scene.task) return 0;
  if (scene.task->kind == TaskKind::NavigateCamera) return scene.instruments.size();
  const std::vector<TaskStep>& steps = scene.task->steps;
  std::string name = scene.task->instrument;
  if (name.empty() && !steps.empty()) name = steps.front().instrument;
  const auto found = name.empty() && !steps.empty()
                         ? std::ranges::find(scene.instruments, kind_for(steps.front()), &InstrumentScene::kind)
                         : std::ranges::find(scene.instruments, name, &InstrumentScene::name);
  return found == scene.instruments.end() ? 0 : static_cast<std::size_t>(found - scene.instruments.begin());
}

double end_of_score(const TaskScene& task, const TaskResult& result, double start) {
  if (result.finished && !result.events.empty()) return result.events.back().time;
  return start + task.time_limit;
}

std::vector<double> stops_of(const TaskResult& result) {
  std::vector<double> stops;
  for (const TaskEvent& event : result.events)
    if (!event.error) stops.push_back(event.time);
  return stops;
}

bool is_out_of_body(const Scene& scene, std::size_t instrument, const ToolPose& pose) {
  constexpr double kRound = 1e-4;  // m  a recording has the tip in single precision
  if (instrument >= scene.instruments.size() || scene.instruments[instrument].port.empty()) return false;
  return glm::distance(pose.tip, pose.pivot) <= scene.instruments[instrument].limits.shallowest + kRound;
}

}  // namespace trocar
