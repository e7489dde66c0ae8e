#include "study/broad_phase/impact.hpp"

#include <cmath>

namespace trocar::broad {
namespace {

// Returns the first t in [0, 1] with |gap + t closing| <= distance.
std::optional<double> first_touch(const glm::dvec3& gap, const glm::dvec3& closing, double distance) {
  const double c = glm::dot(gap, gap) - distance * distance;
  if (!std::isfinite(c)) return {};
  if (c <= 0.0) return 0.0;
  const double a = glm::dot(closing, closing), half_b = glm::dot(gap, closing);
  if (!(half_b < 0.0) || !std::isfinite(a)) return {};
  // The discriminant over a, from the closest point of the path: avoids a difference of large numbers.
  const glm::dvec3 nearest = gap - (half_b / a) * closing;
  const double margin = distance * distance - glm::dot(nearest, nearest);
  if (margin < 0.0) return {};
  const double time = c / (-half_b + std::sqrt(a * margin));
  return time <= 1.0 ? std::optional(time) : std::nullopt;
}

}  // namespace

std::optional<double> sphere_impact(const MovingSphere& a, const MovingSphere& b) {
  return first_touch(b.centre - a.centre, b.motion - a.motion, a.radius + b.radius);
}

std::optional<double> sphere_impact(const MovingSphere& a, const MovingSphere& b, const GridAxes& axes) {
  glm::dvec3 gap = b.centre - a.centre, length(0.0);
  for (int k = 0; k < 3; ++k) {
    if (axes[k].border != Border::Periodic) continue;
    length[k] = axes[k].length();
    gap[k] -= length[k] * std::round(gap[k] / length[k]);
  }
  const glm::ivec3 images(length.x > 0.0, length.y > 0.0, length.z > 0.0);
  std::optional<double> first;
  for (int i = -images.x; i <= images.x; ++i)
    for (int j = -images.y; j <= images.y; ++j)
      for (int k = -images.z; k <= images.z; ++k) {
        const glm::dvec3 image = gap + length * glm::dvec3(i, j, k);
        const std::optional<double> time = first_touch(image, b.motion - a.motion, a.radius + b.radius);
        if (time && (!first || *time < *first)) first = time;
      }
  return first;
}

Box swept_box(const MovingSphere& sphere) {
  const glm::dvec3 end = sphere.centre + sphere.motion;
  // The box is larger than the sphere by a multiple of the distance that rounding of the time of impact can change.
  const double distance = sphere.radius + 1e-12 * (1.0 + glm::length(sphere.centre) + glm::length(sphere.motion));
  return box_around(glm::min(sphere.centre, end) - distance, glm::max(sphere.centre, end) + distance);
}

void CollisionOrder::keep_first(std::size_t objects) {
  std::sort(all_.begin(), all_.end(), [](const Collision& a, const Collision& b) {
    return a.time != b.time ? a.time < b.time : a.pair < b.pair;
  });
  kept_.clear();
  had_.assign(objects, 0);
  for (const Collision& collision : all_) {
    char &first = had_[index(collision.pair.first)], &second = had_[index(collision.pair.second)];
    if (first || second) continue;
    first = second = 1;
    kept_.push_back(collision);
  }
}

}  // namespace trocar::broad
