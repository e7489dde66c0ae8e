#include "app/window/screens/scene_speed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "geometry/translate.hpp"
#include "sim/score/lost_time.hpp"
#include "sim/session/cpu_backends.hpp"

namespace trocar {
namespace {

constexpr double kLongestTrial = 2.0;            // s  simulated
constexpr std::chrono::seconds kLongestWait{6};  // for the frames of a trial
constexpr std::size_t kNamed = 3;                // tasks
constexpr int kLowPriority = 10;                 // of scenes that are not selected
constexpr double kFastEnough = 1.0 - LostTime::kMost;

double measure(Scene scene, bool selected, const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  if (!selected) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowPriority);
  share_cores(scene);
  CpuBackends backends;
  std::optional<Clock::time_point> begin;  // of the frames: loading is over
  const auto goes_on = [&](double simulated) {
    const auto now = Clock::now();
    if (!begin) begin = now;
    return simulated < kLongestTrial && now < *begin + kLongestWait && !stop.stop_requested();
  };
  const SceneTrial trial = try_scene(scene, backends, "scan", {}, "", goes_on, {.warm_up = 0.1, .rest = 0.3});
  if (trial.rest.frames > 0) return speed_of(trial, 1e3 / scene.frame_rate);
  // Too slow even for the frames that are not counted.
  return trial.seconds / std::chrono::duration<double>(kLongestWait).count();
}

}  // namespace

double speed_of(const SceneTrial& trial, double tick_ms) {
  const double slower = std::max(trial.rest.total.median, trial.press.total.median);
  return slower > tick_ms ? tick_ms / slower : 1.0;
}

void SceneSpeeds::watch(std::span<const ListedScene> scenes, std::size_t selected) {
  if (auto answer = trial_.poll()) speeds_[tried_] = answer->value;
  const auto unknown = [&](const ListedScene& scene) {
    return scene.fault.empty() && !speeds_.contains(scene.file.string());
  };
  const bool first = selected < scenes.size() && unknown(scenes[selected]);
  if (trial_.busy() && (!first || tried_ == scenes[selected].file.string())) return;
  const auto next =
      first ? scenes.begin() + static_cast<std::ptrdiff_t>(selected) : std::ranges::find_if(scenes, unknown);
  if (next == scenes.end()) return;
  tried_ = next->file.string();
  trial_ = Task<double>([scene = next->scene, first](std::stop_token stop) { return measure(scene, first, stop); });
}

std::optional<double> SceneSpeeds::of(const ListedScene& scene) const {
  const auto found = speeds_.find(scene.file.string());
  return found == speeds_.end() ? std::nullopt : found->second;
}

std::string SceneSpeeds::text(std::span<const ListedScene> scenes, std::size_t selected) const {
  const double speed = of(scenes[selected]).value_or(1.0);
  if (speed >= kFastEnough) return {};
  std::vector<std::string> held;
  for (const ListedScene& scene : scenes)
    if (scene.task() && held.size() < kNamed && of(scene).value_or(0.0) >= kFastEnough) held.push_back(tr(scene.title));
  if (held.empty())
    return trf(
        "This machine computes this scene at about {:.0f} % of real time: an attempt would be practice and would "
        "not count. Close other programs.",
        100.0 * speed);
  return trf(
      "This machine computes this scene at about {:.0f} % of real time: an attempt would be practice and would not "
      "count. Close other programs, or choose what it is fast enough for: {}.",
      100.0 * speed, fmt::format("{}", fmt::join(held, ", ")));
}

}  // namespace trocar
