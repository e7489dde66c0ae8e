#include "app/window/practice/ghost.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <mutex>

#include "app/compare/backends.hpp"
#include "app/window/ghost_file.hpp"
#include "sim/task/performed_session.hpp"

namespace trocar {
namespace {

// The demonstration of the same scene has this seed, too.
constexpr std::uint32_t kGhostSeed = 1;
constexpr double kGhostRate = 20.0;  // Hz  samples; between them the view interpolates
constexpr int kLowPriority = 10;     // the picture and the session come first

void take_poses(const Session& session, std::vector<GhostPose>& poses) {
  poses.clear();
  for (const Instrument& instrument : session.instruments())
    poses.push_back(
        {glm::vec3(instrument.pose.tip), static_cast<float>(instrument.roll_deg), static_cast<float>(instrument.grip)});
}

}  // namespace

bool can_have_ghost(const Scene& scene) {
  return scene.task && scene.task->kind != TaskKind::NavigateCamera && !scene.instruments.empty();
}

struct GhostMaker::Shared {
  std::mutex mutex;  // of ghost
  Ghost ghost;
  std::atomic<bool> complete = false, ended = false;

  bool make(const Scene& scene, const std::filesystem::path& folder, const std::stop_token& stop);
  bool take_known(const Scene& scene, const std::filesystem::path& folder);
  void perform(const Scene& scene, const std::stop_token& stop);
};

GhostMaker::GhostMaker(const Scene& scene, std::filesystem::path folder) : shared_(std::make_shared<Shared>()) {
  task_ = Task<bool>([shared = shared_, scene, folder = std::move(folder)](const std::stop_token& stop) {
    return shared->make(scene, folder, stop);
  });
}

bool GhostMaker::complete() const { return shared_->complete; }
bool GhostMaker::ended() const { return shared_->ended; }

void GhostMaker::wait() {
  while (task_.busy()) task_.wait(std::chrono::seconds(1));
}

bool GhostMaker::Shared::take_known(const Scene& scene, const std::filesystem::path& folder) {
  auto known = load_ghost(folder, ghost_key(scene));
  if (!known || known->tools != scene.instruments.size()) return false;
  const std::lock_guard lock(mutex);
  ghost = std::move(*known);
  return true;
}

void GhostMaker::Shared::perform(const Scene& scene, const std::stop_token& stop) {
  Backends backends;
  PerformedSession session(scene, style_of(Skill::Expert), kGhostSeed, backends, "scan");
  const auto every = static_cast<std::size_t>(std::max(std::lround(scene.frame_rate / kGhostRate), 1l));
  {
    const std::lock_guard lock(mutex);
    ghost.step = static_cast<double>(every) / scene.frame_rate;
    ghost.tools = static_cast<std::uint32_t>(scene.instruments.size());
  }
  std::vector<GhostPose> poses;
  for (std::size_t frame = 0; !stop.stop_requested() && !session.task().feed().finished; ++frame) {
    session.step();
    if (frame % every != 0) continue;
    take_poses(session.session(), poses);
    const std::lock_guard lock(mutex);
    add_sample(poses, session.task().feed().progress, ghost);
  }
}

// A scene that cannot be performed, whatever the reason, has no ghost; its practice reports why.
bool GhostMaker::Shared::make(const Scene& scene, const std::filesystem::path& folder, const std::stop_token& stop) {
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowPriority);
  try {
    if (!take_known(scene, folder)) {
      perform(scene, stop);
      if (!stop.stop_requested()) save_ghost(folder, ghost_key(scene), ghost);
    }
    complete = !stop.stop_requested();
  } catch (...) {
    complete = false;
  }
  ended = true;
  return complete;
}

void GhostMaker::pose(GhostMode mode, double time, double progress, std::span<const glm::vec3> tips,
                      std::vector<GhostPose>& poses) const {
  poses.clear();
  if (mode == GhostMode::Off) return;
  const std::lock_guard lock(shared_->mutex);
  const Ghost& ghost = shared_->ghost;
  const bool complete = shared_->complete;
  const double known = static_cast<double>(ghost.samples()) * ghost.step;
  if (mode == GhostMode::InTime) {
    if (complete || time < known) pose_in_time(ghost, time, poses);
  } else if (complete || (!ghost.progress.empty() && ghost.progress.back() > progress)) {
    pose_by_progress(ghost, progress, tips, poses);
  }
}

}  // namespace trocar
