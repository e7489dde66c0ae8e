#include "app/compare/random_motion.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

// SplitMix64. Unlike the distributions of the standard library it gives the same numbers on every machine.
struct Random {
  std::uint64_t state;

  std::uint64_t next() {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  glm::dvec3 direction() {
    const double z = between(-1.0, 1.0), angle = between(0.0, 6.283185307179586), r = std::sqrt(1.0 - z * z);
    return {r * elementary::cos(angle), r * elementary::sin(angle), z};
  }
  glm::dvec3 offset(double least, double most) {
    const double length = between(least, most);
    return length * direction();
  }
};

struct OrganBox {
  glm::dvec3 centre, half;
};

OrganBox organ_box(const MeshView& organ) {
  glm::dvec3 low(organ.positions.front()), high(low);
  for (const auto& position : organ.positions) {
    low = glm::min(low, glm::dvec3(position));
    high = glm::max(high, glm::dvec3(position));
  }
  return {0.5 * (low + high), 0.5 * (high - low)};
}

glm::dvec3 next_tip(Random& random, const MeshView& organ, const glm::dvec3& pivot, const glm::dvec3& tip,
                    double size) {
  // One draw per statement, because the compiler chooses the order of two draws in one expression.
  const auto some_vertex = [&] { return glm::dvec3(organ.positions[random.next() % organ.positions.size()]); };
  switch (random.next() % 8) {
    case 0:
      return tip;  // a pause
    case 1:
      return pivot + random.between(0.8, 1.2) * (tip - pivot);  // along the shaft
    case 2:
      return some_vertex();  // a jump across the organ
    case 3: {
      const glm::dvec3 vertex = some_vertex();
      return vertex + random.offset(0.0, 0.01);
    }
    default:
      return tip + random.offset(0.0, 0.04 * size);  // the usual small step
  }
}

}  // namespace

Trajectory random_motion(std::uint64_t seed, const MeshView& organ, std::size_t frames) {
  Random random{seed};
  const OrganBox box = organ_box(organ);
  const double size = std::max(glm::length(box.half), 1e-6);
  const glm::dvec3 pivot = box.centre + random.offset(1.1 * size, 1.8 * size);
  Trajectory trajectory;
  glm::dvec3 tip(organ.positions[random.next() % organ.positions.size()]);
  for (std::size_t frame = 0; frame < frames; ++frame) {
    trajectory.rows.push_back({static_cast<double>(frame) / 60.0, pivot, tip, 0.0, 1.0});
    tip = next_tip(random, organ, pivot, tip, size);
  }
  return trajectory;
}

}  // namespace trocar
