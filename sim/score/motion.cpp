#include "sim/score/motion.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/elementary.hpp"
#include "sim/score/undefined.hpp"

namespace trocar {
namespace {

double angle_deg(const glm::dvec3& a, const glm::dvec3& b) {
  return glm::degrees(elementary::atan2(glm::length(glm::cross(a, b)), glm::dot(a, b)));
}

const glm::dvec3& tip_at(const Track& track, double time) {
  const double k = std::round((time - track.start) * kTrackRate);
  return track.tip[static_cast<std::size_t>(std::clamp(k, 0.0, static_cast<double>(track.size() - 1)))];
}

}  // namespace

double path_length(std::span<const glm::dvec3> tip) {
  if (tip.size() < 2) return kUndefined;
  double length = 0.0;
  for (std::size_t k = 1; k < tip.size(); ++k) length += glm::distance(tip[k], tip[k - 1]);
  return length;
}

double path_inefficiency(const Track& track, std::span<const double> stops) {
  if (track.size() < 2) return kUndefined;
  glm::dvec3 from = track.tip.front();
  double straight = 0.0;
  for (const double stop : stops) {
    straight += glm::distance(from, tip_at(track, stop));
    from = tip_at(track, stop);
  }
  straight += glm::distance(from, track.tip.back());
  return straight < kShortestWay ? kUndefined : path_length(track.tip) / straight;
}

double depth_travelled(const Track& track) {
  if (track.size() < 2) return kUndefined;
  double sum = 0.0;
  for (std::size_t k = 1; k < track.size(); ++k)
    sum += std::abs(glm::distance(track.tip[k], track.pivot[k]) - glm::distance(track.tip[k - 1], track.pivot[k - 1]));
  return sum;
}

double shaft_turned(const Track& track) {
  if (track.size() < 2) return kUndefined;
  double sum = 0.0;
  for (std::size_t k = 1; k < track.size(); ++k)
    sum += angle_deg(track.tip[k] - track.pivot[k], track.tip[k - 1] - track.pivot[k - 1]);
  return sum;
}

double roll_turned(const Track& track) {
  if (track.size() < 2) return kUndefined;
  double sum = 0.0;
  for (std::size_t k = 1; k < track.size(); ++k) sum += std::abs(track.roll_deg[k] - track.roll_deg[k - 1]);
  return sum;
}

double volume_used(const Track& track) {
  if (track.size() < 2) return kUndefined;
  glm::dvec3 lowest = track.tip.front(), highest = lowest;
  for (const glm::dvec3& tip : track.tip) {
    lowest = glm::min(lowest, tip);
    highest = glm::max(highest, tip);
  }
  const glm::dvec3 size = highest - lowest;
  return size.x * size.y * size.z;
}

double economy_of_volume(const Track& track) {
  const double length = path_length(track.tip);
  return length >= kShortestWay ? elementary::cbrt(volume_used(track)) / length : kUndefined;
}

double mean_speed(const Track& track) {
  return track.size() < 2 ? kUndefined : path_length(track.tip) / track.duration();
}

double peak_speed(const Track& track) {
  return track.size() < 2 ? kUndefined : *std::max_element(track.speed.begin(), track.speed.end());
}

double idle_share(const Track& track) {
  if (track.size() < 2) return kUndefined;
  const auto still = std::count_if(track.speed.begin(), track.speed.end(), [](double v) { return v < kStillSpeed; });
  return static_cast<double>(still) / static_cast<double>(track.size());
}

std::vector<Track> movements_of(const Track& track) {
  std::vector<Track> list;
  for (std::size_t k = 0; k < track.size();) {
    const auto from = track.speed.begin() + static_cast<std::ptrdiff_t>(k);
    const auto fast = std::find_if(from, track.speed.end(), [](double v) { return v > kMovingSpeed; });
    if (fast == track.speed.end()) break;
    const auto slow = std::find_if(fast, track.speed.end(), [](double v) { return v <= kStillSpeed; });
    auto begin = fast;
    while (begin != from && *(begin - 1) > kStillSpeed) --begin;
    const auto first = static_cast<std::size_t>(begin - track.speed.begin());
    const auto last = static_cast<std::size_t>(slow - track.speed.begin());
    list.push_back(part_of(track, first - std::min(first, kTrackMargin), std::min(last + kTrackMargin, track.size())));
    k = last;
  }
  return list;
}

std::size_t movements(const Track& track) { return movements_of(track).size(); }

double speed_correlation(const Track& left, const Track& right) {
  const double start = std::max(left.start, right.start);
  const auto skip = [&](const Track& track) {
    return static_cast<std::size_t>(std::round((start - track.start) * kTrackRate));
  };
  const std::size_t a = skip(left), b = skip(right);
  if (left.size() <= a || right.size() <= b) return kUndefined;
  const std::size_t count = std::min(left.size() - a, right.size() - b);
  if (static_cast<double>(count) < kTrackRate) return kUndefined;
  double mean_a = 0.0, mean_b = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    mean_a += left.speed[a + k] / static_cast<double>(count);
    mean_b += right.speed[b + k] / static_cast<double>(count);
  }
  double aa = 0.0, bb = 0.0, ab = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    const double da = left.speed[a + k] - mean_a, db = right.speed[b + k] - mean_b;
    aa += da * da;
    bb += db * db;
    ab += da * db;
  }
  // The correlation of a speed that is constant up to rounding is undefined.
  const double smallest = 1e-12 * static_cast<double>(count);
  return aa > smallest && bb > smallest ? std::clamp(ab / std::sqrt(aa * bb), -1.0, 1.0) : kUndefined;
}

}  // namespace trocar
