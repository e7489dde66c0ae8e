// trocar_cut_frames: measures how much dearer a frame is in which faces of an organ change than its neighbours, for
// the whole frame of a session, for each of its stages, and for each backend that follows the same organs.
// Beside: the median of the nearest frames without a change. Units: milliseconds of wall clock.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "app/compare/backends.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/session/session.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "sim/task/performer.hpp"
#include "sim/task/session_observer.hpp"
#include "sim/task/task_run.hpp"

namespace trocar::bench {
namespace {

constexpr std::size_t kNeighbours = 4, kNear = 20;  // frames: so many, within this distance of a frame with a change
constexpr std::size_t kWarm = 30;                   // frames: caches, first allocations

struct Options {
  std::vector<std::string> scenes{"scenes/tasks/burn_line.toml", "scenes/four_instruments.toml"};
  std::vector<std::string> backends{"scan", "obb-refit", "compute", "occlusion", "aabb-refit"};
  std::string session = "scan", checks = "obb-refit";
  std::size_t frames = 900;
  int runs = 5;
};

// Times of one part of all frames, and what they say about frames with a change.
struct Series {
  std::string name;
  std::vector<double> ms;  // [frame]
};

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0.0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Returns the median time of the frames without a change that are nearest to this frame; empty when none is near.
std::optional<double> neighbours_of(std::size_t frame, const Series& series, std::span<const char> changed) {
  std::vector<double> ms;
  for (std::size_t apart = 1; apart <= kNear && ms.size() < kNeighbours; ++apart) {
    if (frame >= kWarm + apart && !changed[frame - apart]) ms.push_back(series.ms[frame - apart]);
    if (frame + apart < changed.size() && !changed[frame + apart]) ms.push_back(series.ms[frame + apart]);
  }
  if (ms.empty()) return std::nullopt;
  return quantile(ms, 0.5);
}

void print_row(const Series& series, std::span<const char> changed) {
  std::vector<double> with, beside, dearer;
  for (std::size_t frame = kWarm; frame < changed.size(); ++frame) {
    if (!changed[frame]) continue;
    const std::optional<double> neighbours = neighbours_of(frame, series, changed);
    if (!neighbours) continue;
    with.push_back(series.ms[frame]);
    beside.push_back(*neighbours);
    dearer.push_back(series.ms[frame] - *neighbours);
  }
  fmt::print("  {:<20} {:9.3f} {:9.3f} {:9.3f} {:9.3f} {:9.3f}\n", series.name, quantile(beside, 0.5),
             quantile(with, 0.5), quantile(dearer, 0.5), quantile(dearer, 0.99), quantile(dearer, 1.0));
}

// A backend that follows the organs of the session: its cost in a frame is that of its answers and of the change.
class Follower {
 public:
  Follower(const std::string& name, Backends& backends, std::span<const Organ> organs)
      : series_{"backend " + name, {}} {
    for (const Organ& organ : organs) {
      queries_.push_back(backends.make(name));
      queries_.back()->rebuild({organ.positions, organ.mesh.faces});
    }
  }
  void answer(std::span<const Organ> organs, std::span<const ToolVolume> volumes) {
    const auto start = Clock::now();
    for (std::size_t k = 0; k < organs.size(); ++k) {
      queries_[k]->update(organs[k].positions);
      queries_[k]->touched(volumes, TouchSet::Exact);
    }
    ms_ = milliseconds_since(start);
  }
  static void follow(const Organ& organ, TouchQuery& query) {
    query.change_faces({organ.positions, organ.mesh.faces}, organ.removed_slots);
  }
  void follow(std::span<const Organ> organs) {
    const auto start = Clock::now();
    for (std::size_t k = 0; k < organs.size(); ++k)
      if (!organs[k].change.empty()) follow(organs[k], *queries_[k]);
    series_.ms.push_back(ms_ + milliseconds_since(start));
  }
  const Series& series() const { return series_; }

 private:
  std::vector<std::unique_ptr<TouchQuery>> queries_;
  Series series_;
  double ms_ = 0.0;
};

// The session with its trainee, if the scene has a task, and its scripts otherwise.
class Play {
 public:
  Play(const Options& options, const Scene& scene, Backends& backends)
      : scene_(scene),
        performer_(scene_with_task(scene), style_of(Skill::Expert), 1),
        session_(scene, backends, options.session,
                 options.checks.empty() ? std::vector<CheckPlan>{} : std::vector<CheckPlan>{{options.checks, 30}},
                 [&](const InstrumentScene& instrument) {
                   return scene.task ? performer_.device_of(instrument.name)
                                     : make_script_device({instrument.pivot, instrument.tip, instrument.script});
                 }) {
    session_.reserve_frames(options.frames);
    if (!scene.task) return;
    stage_ = stage_of(session_);
    task_.emplace(*scene.task, stage_);
    session_.set_marks(task_->marks());
    performer_.begin(stage_, task_->marks());
  }
  // Returns the time of the session's frame.
  double step(std::size_t frame) {
    const double dt = 1.0 / scene_.frame_rate, time = static_cast<double>(frame) * dt;
    const auto start = Clock::now();
    session_.step({frame, time}, dt);
    const double ms = milliseconds_since(start);
    if (task_) {
      const Observation& seen = observer_.observe(session_, time);
      task_->step(seen);
      performer_.see(seen, task_->feed());
    }
    return ms;
  }
  bool finished() const { return task_ && task_->feed().finished; }
  const Session& session() const { return session_; }

 private:
  // A performer needs a task, also one that is not used.
  static Scene scene_with_task(Scene scene) {
    if (!scene.task) scene.task.emplace();
    return scene;
  }
  const Scene& scene_;
  Performer performer_;
  Session session_;
  TaskStage stage_;
  std::optional<TaskRun> task_;
  SessionObserver observer_;
};

bool anything_changed(const Session& session) {
  return std::any_of(session.organs().begin(), session.organs().end(),
                     [](const Organ& organ) { return !organ.change.empty(); });
}

// What one run of a scene measures.
struct Run {
  std::vector<Series> rows;
  std::vector<char> changed;           // [frame]
  std::vector<double> removed, added;  // faces, of each change
  std::size_t organs = 0, faces_before = 0, faces_after = 0;
};

std::vector<ToolVolume> volumes_of(const Session& session, std::vector<ToolPose>& before) {
  std::vector<ToolVolume> volumes;
  for (std::size_t k = 0; k < before.size(); ++k) {
    const ToolPose& now = session.instruments()[k].pose;
    volumes.push_back(frame_volume(&before[k], now, ToolMode::Swept, Cover::Capsule, TouchSet::Exact));
    before[k] = now;
  }
  return volumes;
}

void note_change(const Session& session, Run& run) {
  run.changed.push_back(anything_changed(session));
  for (const Organ& organ : session.organs()) {
    if (organ.change.empty()) continue;
    run.removed.push_back(static_cast<double>(organ.change.removed.size()));
    run.added.push_back(static_cast<double>(organ.change.new_faces.size()));
  }
}

Run run_once(const Options& options, const Scene& scene, Backends& backends) {
  Play play(options, scene, backends);
  const Session& session = play.session();
  std::vector<Follower> followers;
  for (const std::string& name : options.backends) followers.emplace_back(name, backends, session.organs());
  std::vector<ToolPose> before;
  for (const Instrument& instrument : session.instruments()) before.push_back(instrument.pose);
  Series whole{"session", {}};
  std::vector<Series> stages;
  for (const std::string& name : stage_names()) stages.push_back({"stage " + name, {}});
  Run run;
  run.organs = session.organs().size();
  run.faces_before = session.organs()[0].mesh.faces.size();
  for (std::size_t frame = 0; frame < options.frames && !play.finished(); ++frame) {
    const std::vector<ToolVolume> volumes = volumes_of(session, before);
    for (Follower& follower : followers) follower.answer(session.organs(), volumes);
    whole.ms.push_back(play.step(frame));
    for (Follower& follower : followers) follower.follow(session.organs());
    for (std::size_t s = 0; s < stages.size(); ++s) stages[s].ms.push_back(static_cast<double>(session.stage_ms()[s]));
    note_change(session, run);
  }
  run.faces_after = session.organs()[0].mesh.faces.size();
  Series other{"outside the stages", whole.ms};
  for (const Series& stage : stages)
    for (std::size_t frame = 0; frame < other.ms.size(); ++frame) other.ms[frame] -= stage.ms[frame];
  run.rows.push_back(std::move(whole));
  run.rows.push_back(std::move(other));
  // The work that only a frame with a change has: the cut, and what follows it. Other stages differ with the contacts.
  Series change{"cut and surface", stages[kCut].ms};
  for (std::size_t frame = 0; frame < change.ms.size(); ++frame) change.ms[frame] += stages[kSurface].ms[frame];
  run.rows.push_back(std::move(change));
  for (const Stage stage : {kPairs, kUpdate, kQuery, kCheck, kContacts, kCut, kTissue, kSurface})
    run.rows.push_back(std::move(stages[stage]));
  for (const Follower& follower : followers) run.rows.push_back(follower.series());
  return run;
}

// Every run repeats the same frames: the least time of a frame is the one without a disturbance by other programs.
void keep_least(const Run& more, Run& run) {
  for (std::size_t row = 0; row < run.rows.size(); ++row)
    for (std::size_t frame = 0; frame < run.changed.size(); ++frame)
      run.rows[row].ms[frame] = std::min(run.rows[row].ms[frame], more.rows[row].ms[frame]);
}

void measure(const Options& options, const std::string& file, Backends& backends) {
  const Scene scene = load_scene(data_file(file));
  Run run = run_once(options, scene, backends);
  for (int k = 1; k < options.runs; ++k) keep_least(run_once(options, scene, backends), run);
  fmt::print("\n{}: {} frames, {} with a change; {} organs, the first with {} faces at first, {} at last\n", file,
             run.changed.size(), std::count(run.changed.begin(), run.changed.end(), 1), run.organs, run.faces_before,
             run.faces_after);
  fmt::print("a change removes {:.0f} faces and adds {:.0f} (medians)\n", quantile(run.removed, 0.5),
             quantile(run.added, 0.5));
  fmt::print("  {:<20} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "", "beside", "changed", "dearer", "p99", "most");
  for (const Series& series : run.rows) print_row(series, run.changed);
  std::vector<double> frames(run.rows[0].ms.begin() + kWarm, run.rows[0].ms.end());
  fmt::print("  every frame of the session: median {:.3f}, p99 {:.3f}, most {:.3f}\n", quantile(frames, 0.5),
             quantile(frames, 0.99), quantile(frames, 1.0));
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  using namespace trocar;
  CLI::App app("Cost of frames in which faces change, beside that of their neighbours.");
  bench::Options options;
  app.add_option("--scenes", options.scenes, "scenes of the data folder");
  app.add_option("--backends", options.backends, "backends that follow the organs");
  app.add_option("--session", options.session, "backend of the session");
  app.add_option("--checks", options.checks, "backend that checks the session's answers; empty: none");
  app.add_option("--frames", options.frames, "frames of each scene");
  app.add_option("--runs", options.runs, "runs of each scene; the least time of each frame counts");
  CLI11_PARSE(app, argc, argv);
  try {
    Backends backends;
    fmt::print("{}; {}; OpenGL {}\n", machine_description(), today(), gl_description(backends));
    fmt::print("session: {}, checked by {}; milliseconds, least of {} runs of each frame\n", options.session,
               options.checks, options.runs);
    for (const std::string& scene : options.scenes) bench::measure(options, scene, backends);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
