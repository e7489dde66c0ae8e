#include "app/window/ghost.hpp"

#include <algorithm>
#include <cmath>

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

const char* name_of(GhostMode mode) {
  constexpr const char* names[] = {"off", "in time", "by progress"};
  return names[static_cast<std::size_t>(mode)];
}

GhostMode next(GhostMode mode) {
  return mode == GhostMode::Off      ? GhostMode::InTime
         : mode == GhostMode::InTime ? GhostMode::ByProgress
                                     : GhostMode::Off;
}

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

}  // namespace trocar
