#include "app/window/ghost_maker.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>

#include "app/compare/backends.hpp"
#include "app/window/ghost_file.hpp"
#include "geometry/error.hpp"
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

GhostMaker::GhostMaker(const Scene& scene, std::filesystem::path folder)
    : thread_([this, scene, folder = std::move(folder)] { make(scene, folder); }) {}

GhostMaker::~GhostMaker() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

bool GhostMaker::take_known(const Scene& scene, const std::filesystem::path& folder) {
  auto known = load_ghost(folder, ghost_key(scene));
  if (!known || known->tools != scene.instruments.size()) return false;
  const std::lock_guard lock(mutex_);
  ghost_ = std::move(*known);
  return true;
}

void GhostMaker::perform(const Scene& scene) {
  Backends backends;
  PerformedSession session(scene, style_of(Skill::Expert), kGhostSeed, backends, "scan");
  const auto every = static_cast<std::size_t>(std::max(std::lround(scene.frame_rate / kGhostRate), 1l));
  {
    const std::lock_guard lock(mutex_);
    ghost_.step = static_cast<double>(every) / scene.frame_rate;
    ghost_.tools = static_cast<std::uint32_t>(scene.instruments.size());
  }
  std::vector<GhostPose> poses;
  for (std::size_t frame = 0; !stop_ && !session.task().feed().finished; ++frame) {
    session.step();
    if (frame % every != 0) continue;
    take_poses(session.session(), poses);
    const std::lock_guard lock(mutex_);
    add_sample(poses, session.task().feed().progress, ghost_);
  }
}

// A scene that cannot be performed has no ghost; its practice reports why.
void GhostMaker::make(const Scene& scene, const std::filesystem::path& folder) {
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowPriority);
  try {
    if (!take_known(scene, folder)) {
      perform(scene);
      if (!stop_) save_ghost(folder, ghost_key(scene), ghost_);
    }
    complete_ = !stop_;
  } catch (const std::runtime_error&) {
    stop_ = true;
  }
  ended_ = true;
}

void GhostMaker::pose(GhostMode mode, double time, double progress, std::span<const glm::vec3> tips,
                      std::vector<GhostPose>& poses) const {
  poses.clear();
  if (mode == GhostMode::Off) return;
  const std::lock_guard lock(mutex_);
  const double known = static_cast<double>(ghost_.samples()) * ghost_.step;
  if (mode == GhostMode::InTime) {
    if (complete_ || time < known) pose_in_time(ghost_, time, poses);
  } else if (complete_ || (!ghost_.progress.empty() && ghost_.progress.back() > progress)) {
    pose_by_progress(ghost_, progress, tips, poses);
  }
}

}  // namespace trocar
