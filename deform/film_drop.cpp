#include "deform/film_drop.hpp"

#include <cmath>

namespace trocar {
namespace {

// A drop lands on a vertex at most this far beside its path: half the distance of vertices of an organ.
constexpr float kBeside = 0.004f;  // m
// Films with this share of the largest volume drip too.
constexpr double kThick = 0.5;  // 1

}  // namespace

std::uint32_t drip_vertex(const FluidFilm& film, std::span<const glm::vec3> positions, const glm::vec3& down) {
  double most = 0.0;
  for (const std::uint32_t v : film.wet) most = most < total(film.volume[v]) ? total(film.volume[v]) : most;
  std::uint32_t best = film.wet.front();
  float lowest = -INFINITY;
  for (const std::uint32_t v : film.wet) {
    const float depth = glm::dot(positions[v], down);
    if (depth > lowest && total(film.volume[v]) >= kThick * most) best = v, lowest = depth;
  }
  return best;
}

void find_landing(const glm::vec3& from, const glm::vec3& down, float clearance, std::size_t surface,
                  std::span<const glm::vec3> positions, std::span<const char> unused, DropLanding& best) {
  for (std::uint32_t v = 0; v < positions.size(); ++v) {
    const glm::vec3 away = positions[v] - from;
    const float height = glm::dot(away, down);
    if (!(height > clearance) || (best.found && height >= best.height)) continue;
    const glm::vec3 beside = away - height * down;
    if (glm::dot(beside, beside) > kBeside * kBeside || (v < unused.size() && unused[v])) continue;
    best = {surface, v, height, true};
  }
}

}  // namespace trocar
