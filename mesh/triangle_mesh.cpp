#include "mesh/triangle_mesh.hpp"

#include <bit>
#include <limits>

namespace trocar {
namespace {

constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();

// Adding 0 turns -0 into 0, so that equal positions have equal bits.
std::uint64_t hash_of(const glm::dvec3& p) {
  std::uint64_t hash = 0;
  for (int axis = 0; axis < 3; ++axis) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(p[axis] + 0.0)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

// Open addressing: the hash table is at most half full.
template <class Point>
Weld weld_points(std::span<const Point> points) {
  Weld result;
  result.vertex_of.reserve(points.size());
  const std::size_t mask = std::bit_ceil(2 * points.size() + 1) - 1;
  std::vector<std::uint32_t> table(mask + 1, kFree);
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::size_t slot = hash_of(glm::dvec3(points[i])) & mask;
    while (table[slot] != kFree && points[result.point_of[table[slot]]] != points[i]) slot = (slot + 1) & mask;
    if (table[slot] == kFree) {
      table[slot] = static_cast<std::uint32_t>(result.point_of.size());
      result.point_of.push_back(static_cast<std::uint32_t>(i));
    }
    result.vertex_of.push_back(table[slot]);
  }
  return result;
}

}  // namespace

Weld weld(std::span<const glm::dvec3> points) { return weld_points(points); }
Weld weld(std::span<const glm::vec3> points) { return weld_points(points); }

std::vector<glm::uvec3> welded_faces(std::span<const glm::vec3> positions, std::span<const glm::uvec3> faces) {
  return welded_faces(weld(positions), faces);
}

std::vector<glm::uvec3> welded_faces(const Weld& welding, std::span<const glm::uvec3> faces) {
  std::vector<glm::uvec3> welded(faces.begin(), faces.end());
  for (glm::uvec3& face : welded)
    for (int corner = 0; corner < 3; ++corner) face[corner] = welding.point_of[welding.vertex_of[face[corner]]];
  return welded;
}

}  // namespace trocar
