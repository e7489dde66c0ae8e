// Runs an endurance test without a window: sessions of random length on the committed tasks, most with coarse organs,
// with four instruments that wander, press, grasp, burn and cut, devices that fail, and checked answers; some sessions
// are recorded, and in some all instruments stay at one spot, where they cut and burn again and again. It stops at the
// first NaN and reports memory, frame time, disagreements and drift. Drift is the distance of the nodes of uncut
// organs, whose fibres all hold, after the instruments have withdrawn, from their positions at rest in a session of the
// same scene whose instruments never move.
//   trocar_soak [FRAMES [SEED [BACKEND]]]     exit 1: a NaN, a disagreement, growth of memory or drift above the limits
//   below
// Units: metres, seconds, MiB.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "app/compare/backends.hpp"
#include "geometry/error.hpp"
#include "sim/device/device.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/scene/scene_access.hpp"
#include "sim/session/session.hpp"
#include "sim/task/session_observer.hpp"
#include "sim/task/task_run.hpp"
#include "tests/sim/task/task_support.hpp"
#include "tests/support/resident_memory.hpp"

namespace trocar::soak {

// Moves an instrument at random: between targets on and in the organs at 20 to 400 mm/s, through the air or, less
// often, straight through the tissue, jaws and pedal at random, with occasional failures (stale, lost, a NaN pose). For
// the last frames it withdraws. The same seed gives the same motion. Units: metres, seconds.

struct WanderParams {
  std::uint64_t seed = 1;
  bool gentle = false;
  std::uint64_t withdraw_from = 0;     // frame
  double failure_chance = 1.0 / 2000;  // 1  in each frame
  int most_grips = 60;                 // jaws close fully at so many targets, then only halfway: blades do not meet
};

class WanderingDevice final : public Device {
 public:
  // Makes the device. `targets`: [target] m, positions between which the tip moves. `start`: the pose in which it
  // begins and to which it withdraws.
  WanderingDevice(const DevicePose& start, std::vector<glm::vec3> targets, const WanderParams& params);

  DevicePose pose(const FrameClock& clock) override;
  DeviceHealth health() const override { return health_; }

 private:
  double uniform(double low, double high);
  void choose_next();
  void withdraw();
  void fail_or_recover();

  DevicePose start_, pose_;
  std::vector<glm::vec3> targets_;
  WanderParams params_;
  std::mt19937_64 random_;
  std::vector<glm::dvec3> goals_;  // m  the last one is the next
  double speed_ = 0.1;             // m/s
  double last_time_ = 0.0;
  int wait_ = 0, failing_ = 0;  // frames
  int grips_ = 0;
  bool nonsense_ = false;
  DeviceHealth health_ = DeviceHealth::Good;
};

WanderingDevice::WanderingDevice(const DevicePose& start, std::vector<glm::vec3> targets, const WanderParams& params)
    : start_(start), pose_(start), targets_(std::move(targets)), params_(params), random_(params.seed) {
  goals_ = {start.tip};
}

double WanderingDevice::uniform(double low, double high) {
  return low + (high - low) * (static_cast<double>(random_() >> 11) * 0x1p-53);
}

void WanderingDevice::choose_next() {
  constexpr double kLift = 0.05;     // m
  constexpr double kThrough = 0.04;  // 1, of the ways: straight to the next target, often through tissue
  const glm::dvec3 target = targets_[random_() % targets_.size()];
  const glm::dvec3 along = glm::normalize(target - pose_.pivot), now = glm::normalize(pose_.tip - pose_.pivot);
  goals_ = {target + uniform(-0.010, params_.gentle ? 0.006 : 0.012) * along};
  speed_ = params_.gentle ? 0.1 : uniform(0.02, 0.4);
  wait_ = static_cast<int>(uniform(0.0, 20.0));
  if (params_.gentle || uniform(0.0, 1.0) >= kThrough) {
    goals_.push_back(target - kLift * along);
    goals_.push_back(pose_.tip - kLift * now);
  }
  if (params_.gentle) return;
  const double least = ++grips_ <= params_.most_grips ? 0.0 : 0.5;
  pose_.grip = uniform(0.0, 1.0) < 0.5 ? least : uniform(least, 1.0);
  const double pedal = uniform(0.0, 1.0);
  pose_.energy = pedals(pedal < 0.2, pedal < 0.3);
}

void WanderingDevice::withdraw() {
  goals_ = {start_.tip};
  speed_ = 0.2;
  pose_.energy = Diathermy::Off, pose_.grip = 1.0;
  failing_ = 0;
  nonsense_ = false;
  health_ = DeviceHealth::Good;
}

void WanderingDevice::fail_or_recover() {
  if (failing_ > 0 && --failing_ == 0) {
    health_ = DeviceHealth::Good;
    nonsense_ = false;
  }
  if (failing_ > 0 || uniform(0.0, 1.0) >= params_.failure_chance) return;
  failing_ = static_cast<int>(uniform(1.0, 40.0));
  const double kind = uniform(0.0, 3.0);
  nonsense_ = kind < 1.0;
  if (!nonsense_) health_ = kind < 2.0 ? DeviceHealth::Stale : DeviceHealth::Lost;
}

DevicePose WanderingDevice::pose(const FrameClock& clock) {
  const double dt = clock.time - last_time_;
  last_time_ = clock.time;
  const bool withdrawing = clock.frame >= params_.withdraw_from;
  if (withdrawing)
    withdraw();
  else
    fail_or_recover();
  const glm::dvec3 offset = goals_.back() - pose_.tip;
  const double distance = glm::length(offset), step = speed_ * dt;
  pose_.tip = distance > step ? pose_.tip + offset * (step / distance) : goals_.back();
  if (distance <= step && goals_.size() > 1)
    goals_.pop_back();
  else if (distance <= step && !withdrawing && wait_-- <= 0)
    choose_next();
  pose_.roll_deg = 60.0 * std::sin(3.0 * clock.time);
  if (!nonsense_) return pose_;
  DevicePose nonsense = pose_;
  nonsense.tip.x = std::numeric_limits<double>::quiet_NaN();
  return nonsense;
}

namespace {

constexpr std::uint64_t kRest = 1800;                      // frames after the instruments have begun to withdraw
constexpr double kMostDrift = 1e-3;                        // m
constexpr double kMostGrowth = 16.0;                       // MiB  from the first half of the run to the second
constexpr std::size_t kShortest = 2000, kLongest = 20000;  // frames of a session

struct SessionResult {
  std::string scene;
  std::size_t frames = 0, touched = 0, removed = 0, faces = 0;
  std::uint64_t disagreements = 0;
  double median_ms = 0.0, p99_ms = 0.0, memory = 0.0;
  std::optional<double> drift;  // m; none: not measured, because instruments cut, or fibres broke
  bool finite = true;
};

// Returns a random task of the committed ones. Organs are coarse where the scene has only the three that can be.
Scene random_scene(std::mt19937_64& random, const TemporaryFolder& folder, std::string& name) {
  static const std::array<std::string, 4> fine{"clip_and_cut", "cut_band", "dissect_bed", "retract_expose"};
  const auto& coarse = test::task_scenes();
  const std::size_t chosen = random() % (coarse.size() + fine.size());
  name = chosen < coarse.size() ? coarse[chosen] : fine[chosen - coarse.size()];
  return chosen < coarse.size() ? test::coarse_scene(name, folder)
                                : load_scene(repository_file("data/scenes/tasks/" + name + ".toml"));
}

// Adds instruments up to four, of the kinds that the scene lacks, through ports around those of the scene; the task
// keeps its own.
void add_instruments(Scene& scene) {
  std::vector<InstrumentKind> missing{InstrumentKind::Scissors, InstrumentKind::Hook, InstrumentKind::Grasper,
                                      InstrumentKind::Probe};
  for (const InstrumentScene& own : scene.instruments) std::erase(missing, own.kind);
  for (std::size_t k = 0; scene.instruments.size() < 4; ++k) {
    InstrumentScene added = scene.instruments.front();
    added.name = fmt::format("added {}", k), added.kind = missing[k % missing.size()];
    const glm::dvec3 aside(0.04 * static_cast<double>(k + 1), -0.02, 0.01);
    added.pivot += aside;
    added.tip = added.pivot + 0.3 * (added.tip - added.pivot);
    scene.instruments.push_back(added);
  }
}

// Returns the pose where an instrument starts and to which it withdraws: clear of the organs.
DevicePose withdrawn(const InstrumentScene& instrument) {
  return {instrument.pivot, instrument.pivot + 0.3 * (instrument.tip - instrument.pivot)};
}

std::vector<glm::vec3> targets_of(const Scene& scene) {
  std::vector<glm::vec3> targets;
  for (const OrganScene& organ : scene.organs) {
    const TriangleMesh mesh = surface_of(organ);
    for (std::size_t k = 0; k < mesh.positions.size(); k += 7)
      if (mesh.positions[k].z > 0.12f) targets.push_back(mesh.positions[k]);  // the front, where instruments reach
  }
  return targets;
}

// Returns the targets around one of them.
std::vector<glm::vec3> targets_near(const std::vector<glm::vec3>& targets, std::size_t chosen) {
  constexpr float kSpot = 0.008f;  // m
  std::vector<glm::vec3> near;
  std::copy_if(targets.begin(), targets.end(), std::back_inserter(near),
               [&](const glm::vec3& p) { return glm::distance(p, targets[chosen]) <= kSpot; });
  return near;
}

bool all_finite(const Session& session) {
  for (const Organ& organ : session.organs())
    for (const glm::vec3& x : organ.state.x)
      if (!std::isfinite(x.x + x.y + x.z)) return false;
  for (const Instrument& instrument : session.instruments())
    if (!std::isfinite(instrument.force.x + instrument.force.y + instrument.force.z)) return false;
  return true;
}

// [organ][node] rest positions of the nodes with the instruments withdrawn.
std::vector<std::vector<glm::vec3>> settled_nodes(const Scene& scene, Backends& backends, std::uint64_t phase) {
  Session session(scene, backends, "scan", {}, [](const InstrumentScene& instrument) {
    return std::make_unique<WanderingDevice>(withdrawn(instrument), std::vector<glm::vec3>{glm::vec3(instrument.tip)},
                                             WanderParams{.gentle = true});
  });
  const double dt = 1.0 / scene.frame_rate;
  for (std::uint64_t frame = phase; frame < phase + kRest; ++frame)
    session.step({frame, static_cast<double>(frame) * dt}, dt);
  std::vector<std::vector<glm::vec3>> nodes;
  for (const Organ& organ : session.organs()) nodes.push_back(organ.state.x);
  return nodes;
}

// Returns whether no fibre has broken: organs that have come loose do not return to rest.
bool is_whole(const Session& session) {
  const std::vector<std::uint8_t>& intact = session.bonds().bonds().intact;
  return std::all_of(intact.begin(), intact.end(), [](std::uint8_t holds) { return holds != 0; });
}

double drift_of(const Session& session, const std::vector<std::vector<glm::vec3>>& settled) {
  double most = 0.0;
  for (std::size_t k = 0; k < settled.size(); ++k) {
    const Organ& organ = session.organs()[k];
    for (std::size_t node = 0; node < settled[k].size(); ++node)
      most = std::max(most, static_cast<double>(glm::distance(settled[k][node], organ.state.x[node])));
  }
  return most;
}

double share_of(std::vector<float>& sorted, double share) {
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0.0
                        : static_cast<double>(sorted[static_cast<std::size_t>(share * double(sorted.size() - 1))]);
}

class Soak {
 public:
  // `backend`: of the touch queries.
  Soak(std::uint64_t seed, std::string backend) : random_(seed), backend_(std::move(backend)) {}

  SessionResult run_session(std::size_t most_frames) {
    SessionResult result;
    Scene scene = random_scene(random_, folder_, result.scene);
    scene.frame_rate = 60.0;
    scene.breathing.amplitude = 0.f;  // drift is measured against a scene at rest
    add_instruments(scene);
    result.frames = std::max<std::size_t>(std::min(most_frames, random_length()), 2 * kRest);
    const bool gentle = random_() % 3 == 0, recorded = random_() % 4 == 0;
    Session session(scene, backends_, backend_, {{"obb-refit", 10}}, maker(scene, result.frames, gentle));
    const TaskStage stage = stage_of(session);
    TaskRun task(*scene.task, stage);
    session.set_marks(task.marks(), task.watched_marks());
    std::optional<SessionRecorder> recorder;
    const auto file = folder_.path() / "soak.h5";
    if (recorded) recorder.emplace(recording_file(file), scene, session, "none");
    step_all(scene, session, task, recorder ? &*recorder : nullptr, result);
    if (recorder) recorder->close();
    recorder.reset();
    std::filesystem::remove(file);
    result.disagreements = session.disagreements();
    for (const Organ& organ : session.organs()) result.faces += organ.mesh.faces.size();
    if (!session.backend_faults().empty()) throw RunError(sentence_of(session.backend_faults().front()));
    if (gentle && is_whole(session)) result.drift = drift_of(session, settled_nodes(scene, backends_, result.frames));
    return result;
  }

 private:
  // Short sessions are as frequent as long ones, by order of magnitude.
  std::size_t random_length() {
    const double share = static_cast<double>(random_() >> 11) * 0x1p-53;
    return static_cast<std::size_t>(kShortest * std::pow(double(kLongest) / kShortest, share));
  }

  Session::DeviceMaker maker(const Scene& scene, std::size_t frames, bool gentle) {
    const std::uint64_t withdraw = frames > kRest ? frames - kRest : 0;
    std::vector<glm::vec3> targets = targets_of(scene);
    if (random_() % 4 == 0) targets = targets_near(targets, random_() % targets.size());
    return [this, targets, withdraw, gentle](const InstrumentScene& instrument) {
      WanderParams params;
      params.seed = random_(), params.gentle = gentle, params.withdraw_from = withdraw;
      return std::make_unique<WanderingDevice>(withdrawn(instrument), targets, params);
    };
  }

  void step_all(const Scene& scene, Session& session, TaskRun& task, SessionRecorder* recorder, SessionResult& result) {
    SessionObserver observer;
    const double dt = 1.0 / scene.frame_rate;
    frame_ms_.clear();
    for (std::size_t frame = 0; frame < result.frames && result.finite; ++frame) {
      const double time = static_cast<double>(frame) * dt;
      const auto start = std::chrono::steady_clock::now();
      session.step({frame, time}, dt);
      frame_ms_.push_back(std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start).count());
      if (recorder) recorder->append(session, time);
      task.step(observer.observe(session, time));
      result.touched += session.touched();
      for (const Organ& organ : session.organs()) result.removed += organ.change.removed.size();
      result.finite = all_finite(session);
    }
    result.median_ms = share_of(frame_ms_, 0.5), result.p99_ms = share_of(frame_ms_, 0.99);
  }

  std::mt19937_64 random_;
  std::string backend_;
  TemporaryFolder folder_;
  Backends backends_;
  std::vector<float> frame_ms_;
};

void print(std::size_t number, std::size_t done, const SessionResult& result) {
  fmt::print(
      "{:4} {:9} frames  {:16} {:6} frames  {:8} touched  {:6} removed  {:7} faces  {:.3f} ms median  {:.2f} ms p99  "
      "drift {} mm  {:.1f} MiB  {} disagreements{}\n",
      number, done, result.scene, result.frames, result.touched, result.removed, result.faces, result.median_ms,
      result.p99_ms, result.drift ? fmt::format("{:.3f}", 1e3 * *result.drift) : "-", result.memory,
      result.disagreements, result.finite ? "" : "  NaN");
  std::fflush(stdout);
}

// Returns the mean frame time and largest memory of the sessions first .. last - 1.
SessionResult mean_of(const std::vector<SessionResult>& results, std::size_t first, std::size_t last) {
  SessionResult mean;
  for (std::size_t k = first; k < last; ++k) {
    mean.median_ms += results[k].median_ms / double(last - first);
    mean.memory = std::max(mean.memory, results[k].memory);
  }
  return mean;
}

int run(std::size_t frames, std::uint64_t seed, const std::string& backend) {
  fmt::print("{} frames, seed {}, {}\n", frames, seed, backend);
  Soak soak(seed, backend);
  std::vector<SessionResult> results;
  std::uint64_t disagreements = 0;
  double drift = 0.0;
  bool finite = true;
  for (std::size_t done = 0; done < frames && finite;) {
    SessionResult result = soak.run_session(frames - done);
    result.memory = static_cast<double>(resident_kib()) / 1024.0;
    done += result.frames;
    disagreements += result.disagreements;
    drift = std::max(drift, result.drift.value_or(0.0));
    finite = result.finite;
    results.push_back(result);
    print(results.size(), done, result);
  }
  const std::size_t half = (results.size() + 1) / 2;
  const SessionResult early = mean_of(results, 0, half);
  const SessionResult late = mean_of(results, std::min(half, results.size() - 1), results.size());
  fmt::print(
      "first half: at most {:.1f} MiB, median frame {:.3f} ms; second half: at most {:.1f} MiB, median frame {:.3f} "
      "ms; "
      "drift at most {:.3f} mm; {} NaN; {} disagreements\n",
      early.memory, early.median_ms, late.memory, late.median_ms, 1e3 * drift, finite ? 0 : 1, disagreements);
  const bool sound = finite && disagreements == 0 && drift <= kMostDrift && late.memory - early.memory <= kMostGrowth;
  return sound ? 0 : 1;
}

}  // namespace
}  // namespace trocar::soak

int main(int count, char** arguments) {
  const std::size_t frames = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1000000;
  const std::uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  const std::string backend = count > 3 ? arguments[3] : "scan";
  if (frames == 0) {
    std::fprintf(stderr, "usage: trocar_soak [FRAMES [SEED [BACKEND]]]\n");
    return 2;
  }
  try {
    return trocar::soak::run(frames, seed, backend);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
