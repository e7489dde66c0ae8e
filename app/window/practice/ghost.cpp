#include "app/window/practice/ghost.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "app/compare/backends.hpp"
#include "deform/model_version.hpp"
#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/support/byte_archive.hpp"

namespace trocar {
namespace {

float squared_distance(std::span<const GhostPose> poses, std::span<const glm::vec3> tips) {
  float sum = 0.f;
  for (std::size_t k = 0; k < std::min(poses.size(), tips.size()); ++k) {
    const glm::vec3 r = poses[k].tip - tips[k];
    sum += glm::dot(r, r);
  }
  return sum;
}

// Interpolates the shorter way round.
float mix_angle(float a, float b, float share) { return a + share * std::remainder(b - a, 360.f); }

}  // namespace

void add_sample(std::span<const GhostPose> poses, double progress, Ghost& ghost) {
  const float highest = ghost.progress.empty() ? 0.f : ghost.progress.back();
  ghost.progress.push_back(std::max(highest, static_cast<float>(progress)));
  ghost.poses.insert(ghost.poses.end(), poses.begin(), poses.end());
}

void pose_in_time(const Ghost& ghost, double time, std::vector<GhostPose>& poses) {
  poses.clear();
  if (ghost.samples() == 0) return;
  const double last = static_cast<double>(ghost.samples() - 1), at = std::clamp(time / ghost.step, 0.0, last);
  const auto before = static_cast<std::size_t>(at), after = std::min(before + 1, ghost.samples() - 1);
  const auto share = static_cast<float>(at - static_cast<double>(before));
  for (std::size_t k = 0; k < ghost.tools; ++k) {
    const GhostPose &a = ghost.at(before)[k], &b = ghost.at(after)[k];
    poses.push_back(
        {glm::mix(a.tip, b.tip, share), mix_angle(a.roll_deg, b.roll_deg, share), a.grip + share * (b.grip - a.grip)});
  }
}

void pose_by_progress(const Ghost& ghost, double progress, std::span<const glm::vec3> tips,
                      std::vector<GhostPose>& poses, const ProgressParams& params) {
  poses.clear();
  if (ghost.samples() == 0) return;
  const auto low = static_cast<float>(progress - params.around), high = static_cast<float>(progress + params.around);
  const auto begin = ghost.progress.begin(), end = ghost.progress.end();
  // At least the last sample before a leap of progress beyond the range.
  const auto to = std::max(std::upper_bound(begin, end, high), begin + 1);
  const auto from = std::min(std::lower_bound(begin, end, low), to - 1);
  std::size_t nearest = static_cast<std::size_t>(from - begin);
  float least = squared_distance(ghost.at(nearest), tips);
  for (auto sample = static_cast<std::size_t>(from - begin) + 1; sample < static_cast<std::size_t>(to - begin);
       ++sample) {
    const float distance = squared_distance(ghost.at(sample), tips);
    if (distance < least) nearest = sample, least = distance;
  }
  pose_in_time(ghost, static_cast<double>(nearest) * ghost.step + params.ahead, poses);
}

template <typename Archive>
void fields(Archive& archive, GhostPose& pose) {
  all(archive, pose.tip, pose.roll_deg, pose.grip);
}

template <typename Archive>
void fields(Archive& archive, Ghost& ghost) {
  all(archive, ghost.step, ghost.tools, ghost.progress, ghost.poses);
}

namespace {

constexpr FileKind kGhostFile{"ghost", 64u << 20};
constexpr std::uint64_t kSignature = 0x3174736f68676374;  // "tcghost1"

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

bool finite(const GhostPose& pose) {
  return std::isfinite(pose.tip.x + pose.tip.y + pose.tip.z) && std::isfinite(pose.roll_deg) &&
         std::isfinite(pose.grip);
}

bool sound(const Ghost& ghost) {
  return ghost.step > 0.0 && ghost.samples() > 0 && ghost.poses.size() == ghost.samples() * ghost.tools &&
         std::ranges::is_sorted(ghost.progress) && std::ranges::all_of(ghost.poses, finite);
}

}  // namespace

std::uint64_t ghost_key(const Scene& scene) {
  const std::string version = fmt::format("model {}\n", kModelVersion);
  return checksum_of(bytes_of(scene.text), checksum_of(bytes_of(version)));
}

std::filesystem::path ghost_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && std::filesystem::path(cache).is_absolute())
    return std::filesystem::path(cache) / "trocar/ghosts";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::filesystem::path(home) / ".cache/trocar/ghosts";
  return {};
}

std::filesystem::path ghost_file(const std::filesystem::path& folder, std::uint64_t key) {
  return folder / fmt::format("{:016x}.ghost", key);
}

// The file: signature, key, the ghost, the checksum of all bytes before.
std::optional<Ghost> load_ghost(const std::filesystem::path& folder, std::uint64_t key) {
  std::error_code error;
  const auto file = ghost_file(folder, key);
  if (folder.empty() || !std::filesystem::exists(file, error)) return {};
  try {
    const std::string text = read_whole_file(file, kGhostFile);
    std::uint64_t sum = 0;
    if (text.size() < sizeof sum) return {};
    const auto bytes = bytes_of(text).first(text.size() - sizeof sum);
    std::memcpy(&sum, text.data() + bytes.size(), sizeof sum);
    if (sum != checksum_of(bytes)) return {};
    ByteReader reader(bytes);
    std::uint64_t signature = 0, of = 0;
    Ghost ghost;
    all(reader, signature, of);
    if (signature != kSignature || of != key) return {};
    field(reader, ghost);
    if (!reader.at_end() || !sound(ghost)) return {};
    return ghost;
  } catch (const std::runtime_error&) {
    return {};
  }
}

bool save_ghost(const std::filesystem::path& folder, std::uint64_t key, const Ghost& ghost) {
  if (folder.empty() || !sound(ghost)) return false;
  try {
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    ByteWriter writer;
    std::uint64_t signature = kSignature, of = key;
    Ghost written = ghost;
    all(writer, signature, of, written);
    std::vector<std::byte> bytes = writer.take();
    const std::uint64_t sum = checksum_of(bytes);
    WholeFile file(ghost_file(folder, key));
    file.stream().write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.stream().write(reinterpret_cast<const char*>(&sum), sizeof sum);
    file.commit();
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

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
  Scene alone = scene;
  alone.solver.threads = 1;  // the practice needs the other cores
  PerformedSession session(alone, style_of(Skill::Expert), kGhostSeed, backends, "scan");
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

namespace {

constexpr float kCoincide = 0.0015f;  // m  nearer tips would only flicker

}  // namespace

std::string GhostShow::why_none(const Practice& practice, GhostMode mode) {
  if (mode == GhostMode::Off) return {};
  if (practice.plan().performer) return "The expert is at work: no ghost";
  if (!practice.task()) return "Free practice has no ghost: it has no task";
  if (!can_have_ghost(practice.scene())) return "This task has no ghost: the scope itself performs it";
  return {};
}

void GhostShow::prepare(const Scene& scene) {
  if (!can_have_ghost(scene)) return;
  if (maker_ && scene_ == scene.text) return;
  scene_ = scene.text;
  maker_ = std::make_unique<GhostMaker>(scene, ghost_folder());
}

std::span<const DrawnTool> GhostShow::tools(const Practice& practice, GhostMode mode) {
  tools_.clear();
  waits_ = false;
  if (mode == GhostMode::Off || !practice.task() || !why_none(practice, mode).empty()) return {};
  prepare(practice.scene());
  const std::vector<Instrument>& instruments = practice.session().instruments();
  tips_.clear();
  for (const Instrument& instrument : instruments) tips_.emplace_back(instrument.pose.tip);
  const bool ended = maker_->ended();
  maker_->pose(mode, practice.time(), practice.task()->feed().progress, tips_, poses_);
  waits_ = poses_.empty() && !ended;
  for (std::size_t k = 0; k < poses_.size() && k < instruments.size(); ++k) {
    if (glm::distance(poses_[k].tip, tips_[k]) < kCoincide) continue;
    DrawnTool tool;
    tool.pose = {instruments[k].pose.pivot, glm::dvec3(poses_[k].tip), instruments[k].pose.radius};
    tool.roll_deg = static_cast<double>(poses_[k].roll_deg);
    tool.grip = static_cast<double>(poses_[k].grip);
    tool.kind = instruments[k].kind;
    tool.limits = instruments[k].limits;
    tool.ghost = true;
    tools_.push_back(tool);
  }
  return tools_;
}

}  // namespace trocar
