// trocar_cut_frames: measures how much dearer a frame is in which faces of an organ change than its neighbours, for
// the whole frame of a session, for each of its stages, and for each backend that follows the same organs.
// A neighbour is a frame without a change within kNear frames of a change. Units: milliseconds of wall clock.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "app/compare/backends.hpp"
#include "geometry/error.hpp"
#include "geometry/stopwatch.hpp"
#include "sim/link/make_device.hpp"
#include "sim/session/session.hpp"
#include "sim/support/data_folder.hpp"
#include "sim/support/machine.hpp"
#include "sim/task/performer.hpp"
#include "sim/task/session_observer.hpp"
#include "sim/task/task_run.hpp"

namespace trocar::bench {
namespace {

constexpr std::size_t kNear = 12;  // frames
constexpr std::size_t kWarm = 30;  // frames: caches, first allocations

struct Options {
  std::vector<std::string> scenes{"scenes/tasks/burn_line.toml", "scenes/four_instruments.toml"};
  std::vector<std::string> backends{"scan", "obb-refit", "compute", "occlusion", "aabb-refit"};
  std::string session = "scan", checks = "obb-refit";
  std::size_t frames = 900;
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

bool near_a_change(std::span<const char> changed, std::size_t frame) {
  const std::size_t first = frame > kNear ? frame - kNear : 0, last = std::min(frame + kNear, changed.size() - 1);
  return std::any_of(changed.begin() + static_cast<std::ptrdiff_t>(first),
                     changed.begin() + static_cast<std::ptrdiff_t>(last) + 1, [](char c) { return c != 0; });
}

void print_row(const Series& series, std::span<const char> changed) {
  std::vector<double> with, without;
  for (std::size_t frame = kWarm; frame < changed.size(); ++frame) {
    if (changed[frame]) with.push_back(series.ms[frame]);
    if (!changed[frame] && near_a_change(changed, frame)) without.push_back(series.ms[frame]);
  }
  const double neighbours = quantile(without, 0.5), median = quantile(with, 0.5), p99 = quantile(with, 0.99);
  fmt::print("  {:<24} {:9.3f} {:9.3f} {:9.3f} {:9.3f} {:9.3f}\n", series.name, neighbours, median, p99,
             median - neighbours, p99 - neighbours);
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
        performer_(scene_with_task(scene), Skill::Expert, 1),
        session_(scene, backends, options.session,
                 options.checks.empty() ? std::vector<CheckPlan>{} : std::vector<CheckPlan>{{options.checks, 30}},
                 [&](const InstrumentScene& instrument) {
                   return scene.task ? performer_.device_of(instrument.name) : make_device(instrument, context_);
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
  DeviceContext context_;
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

void run(const Options& options, const std::string& file, Backends& backends) {
  const Scene scene = load_scene(data_file(file));
  Play play(options, scene, backends);
  const Session& session = play.session();
  std::vector<Follower> followers;
  for (const std::string& name : options.backends) followers.emplace_back(name, backends, session.organs());
  std::vector<ToolPose> before;
  for (const Instrument& instrument : session.instruments()) before.push_back(instrument.pose);
  Series whole{"session", {}};
  std::vector<Series> stages;
  for (const std::string& name : stage_names()) stages.push_back({"stage " + name, {}});
  std::vector<char> changed;
  std::vector<double> removed, added;
  const std::size_t faces_before = session.organs()[0].mesh.faces.size();
  for (std::size_t frame = 0; frame < options.frames && !play.finished(); ++frame) {
    std::vector<ToolVolume> volumes;
    for (std::size_t k = 0; k < before.size(); ++k) {
      const ToolPose& now = session.instruments()[k].pose;
      volumes.push_back(frame_volume(&before[k], now, ToolMode::Swept, Cover::Capsule, TouchSet::Exact));
      before[k] = now;
    }
    for (Follower& follower : followers) follower.answer(session.organs(), volumes);
    whole.ms.push_back(play.step(frame));
    for (Follower& follower : followers) follower.follow(session.organs());
    for (std::size_t s = 0; s < stages.size(); ++s) stages[s].ms.push_back(static_cast<double>(session.stage_ms()[s]));
    changed.push_back(anything_changed(session));
    for (const Organ& organ : session.organs()) {
      if (organ.change.empty()) continue;
      removed.push_back(static_cast<double>(organ.change.removed.size()));
      added.push_back(static_cast<double>(organ.change.new_faces.size()));
    }
  }
  fmt::print("\n{}: {} frames, {} with a change; {} organs, the first with {} faces at first, {} at last\n", file,
             changed.size(), std::count(changed.begin(), changed.end(), 1), session.organs().size(), faces_before,
             session.organs()[0].mesh.faces.size());
  fmt::print("a change removes {:.0f} faces and adds {:.0f} (medians)\n", quantile(removed, 0.5), quantile(added, 0.5));
  fmt::print("  {:<24} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "", "neighbour", "changed", "p99", "dearer", "p99 dear.");
  print_row(whole, changed);
  Series untimed{"outside the stages", whole.ms};
  for (const Series& series : stages)
    for (std::size_t frame = 0; frame < changed.size(); ++frame) untimed.ms[frame] -= series.ms[frame];
  print_row(untimed, changed);
  for (const Series& series : stages) print_row(series, changed);
  for (const Follower& follower : followers) print_row(follower.series(), changed);
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
  CLI11_PARSE(app, argc, argv);
  try {
    Backends backends;
    fmt::print("{}; {}; OpenGL {}\n", machine_description(), today(), gl_description(backends));
    fmt::print("session: {}, checked by {}; milliseconds\n", options.session, options.checks);
    for (const std::string& scene : options.scenes) bench::run(options, scene, backends);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
