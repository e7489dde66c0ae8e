#include "mesh/ear_clip.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trocar {
namespace {

// Factor on the shape of an ear to be avoided: every other proper ear is cut before it.
constexpr double kAvoided = 1e-9;

constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();

class Clipper {
 public:
  Clipper(std::span<const glm::dvec2> points, std::span<const char> shared, FillRing ring)
      : points_(points), shared_(shared), ring_(std::move(ring)), blocker_(ring_.size(), kUnknown) {
    const auto [low, high] = std::minmax_element(ring_.begin(), ring_.end());
    if (!ring_.empty()) first_ = *low, copies_.resize(*high - *low + 1);
    for (const std::size_t point : ring_) ++copies_[point - first_];
    for (std::size_t i = 0; i < ring_.size(); ++i) shape_.push_back(shape(i));
  }

  ClippedEars clip() {
    ClippedEars ears;
    while (ring_.size() > 3) {
      const std::size_t ear = best_ear();
      ears.proper = ears.proper && shape_[ear] > 0.0 && blocker_[ear] == kUnknown;
      ears.triangles.push_back({at(ear + ring_.size() - 1), at(ear), at(ear + 1)});
      --copies_[ring_[ear] - first_];
      ring_.erase(ring_.begin() + static_cast<std::ptrdiff_t>(ear));
      shape_.erase(shape_.begin() + static_cast<std::ptrdiff_t>(ear));
      blocker_.erase(blocker_.begin() + static_cast<std::ptrdiff_t>(ear));
      for (const std::size_t i : {(ear + ring_.size() - 1) % ring_.size(), ear % ring_.size()})
        shape_[i] = shape(i), blocker_[i] = kUnknown;
    }
    if (ring_.size() == 3) {
      ears.proper = ears.proper && shape(1) > 0.0;
      ears.triangles.push_back({ring_[0], ring_[1], ring_[2]});
    }
    return ears;
  }

 private:
  std::size_t at(std::size_t i) const { return ring_[i % ring_.size()]; }

  // Returns 1 for an equilateral triangle, a negative number when it is turned over.
  double shape(std::size_t i) const {
    const glm::dvec2 &a = points_[at(i + ring_.size() - 1)], &b = points_[at(i)], &c = points_[at(i + 1)];
    const double sides = glm::dot(b - a, b - a) + glm::dot(c - b, c - b) + glm::dot(a - c, a - c);
    const bool avoided = !shared_.empty() && shared_[at(i + ring_.size() - 1)] && shared_[at(i)] && shared_[at(i + 1)];
    return sides > 0.0 ? 2.0 * std::sqrt(3.0) * turn_of(a, b, c) / sides * (avoided ? kAvoided : 1.0) : 0.0;
  }

  // The best-shaped ear that contains no other point; when there is none, the best-shaped of all.
  std::size_t best_ear() {
    std::size_t first = ring_.size();
    while (true) {
      std::size_t best = ring_.size(), of_all = ring_.size();
      for (std::size_t i = 0; i < ring_.size(); ++i) {
        if (of_all == ring_.size() || shape_[i] > shape_[of_all]) of_all = i;
        if (blocker_[i] != kUnknown && copies_[blocker_[i] - first_] > 0) continue;
        if (best == ring_.size() || shape_[i] > shape_[best]) best = i;
      }
      if (first == ring_.size()) first = of_all;
      if (best == ring_.size() || !(shape_[best] > 0.0)) return first;
      blocker_[best] = blocker_of(best);
      if (blocker_[best] == kUnknown) return best;
    }
  }

  // Returns a point of the ring in the ear; kUnknown when there is none.
  std::size_t blocker_of(std::size_t i) const {
    const glm::dvec2 &a = points_[at(i + ring_.size() - 1)], &b = points_[at(i)], &c = points_[at(i + 1)];
    for (const std::size_t other : ring_) {
      const glm::dvec2& p = points_[other];
      if (turn_of(a, b, p) < 0.0 || turn_of(b, c, p) < 0.0 || turn_of(c, a, p) < 0.0) continue;
      if (!same_point(p, a) && !same_point(p, b) && !same_point(p, c)) return other;
    }
    return kUnknown;
  }

  std::span<const glm::dvec2> points_;
  std::span<const char> shared_;
  FillRing ring_;
  std::vector<double> shape_;          // [i] of the ear at corner i of the ring
  std::vector<std::size_t> blocker_;   // [i] a point in this ear, while it is in the ring; kUnknown: not examined
  std::size_t first_ = 0;              // lowest point
  std::vector<std::uint32_t> copies_;  // [point - first_] how often it is in the ring
};

}  // namespace

ClippedEars clip_ears(std::span<const glm::dvec2> points, FillRing ring, std::span<const char> shared) {
  return Clipper(points, shared, std::move(ring)).clip();
}

}  // namespace trocar
