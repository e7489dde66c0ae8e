#include "study/trees/quospo.hpp"

#include <algorithm>

namespace trocar {
namespace {

constexpr int kRow = 2 * kQuantisedSteps + 1;

std::array<glm::vec3, kQuantisedDirections> all_directions() {
  std::array<glm::vec3, kQuantisedDirections> table;
  for (int face = 0; face < 3; ++face)
    for (int u = 0; u < kRow; ++u)
      for (int v = 0; v < kRow; ++v) {
        glm::dvec3 d;
        d[face] = kQuantisedSteps;
        d[(face + 1) % 3] = u - kQuantisedSteps;
        d[(face + 2) % 3] = v - kQuantisedSteps;
        table[face * kQuantisedPerFace + u * kRow + v] = glm::vec3(glm::normalize(d));
      }
  return table;
}

const std::array<glm::vec3, kQuantisedDirections> kDirections = all_directions();

}  // namespace

int nearest_quantised(const glm::vec3& d) {
  const glm::vec3 size = glm::abs(d);
  const int face = size.x >= size.y ? (size.x >= size.z ? 0 : 2) : (size.y >= size.z ? 1 : 2);
  const auto step = [&](float along) {
    const float projected = kQuantisedSteps * along / d[face];
    return std::clamp(static_cast<int>(std::lround(projected)), -kQuantisedSteps, kQuantisedSteps) + kQuantisedSteps;
  };
  if (!(size[face] > 0.f)) return 0;
  return face * kQuantisedPerFace + step(d[(face + 1) % 3]) * kRow + step(d[(face + 2) % 3]);
}

glm::vec3 quantised_direction(int number) { return kDirections[number]; }

Quospo quantised(const ObbNode& box) {
  Quospo q{};
  std::array<glm::vec3, 3> normal;
  for (int k = 0; k < 3; ++k) {
    const int number = nearest_quantised({box.axis_x[k], box.axis_y[k], box.axis_z[k]});
    q.direction[k] = static_cast<std::uint16_t>(number);
    normal[k] = quantised_direction(number);
    q.normal_x[k] = normal[k].x, q.normal_y[k] = normal[k].y, q.normal_z[k] = normal[k].z;
  }
  const float volume = glm::dot(normal[0], glm::cross(normal[1], normal[2]));
  for (int k = 0; k < 3; ++k) {
    const glm::vec3 edge = glm::cross(normal[(k + 1) % 3], normal[(k + 2) % 3]) / volume;
    q.edge_x[k] = edge.x, q.edge_y[k] = edge.y, q.edge_z[k] = edge.z;
  }
  return q;
}

void Quospo::Tool::extent(int direction, float& from, float& to) const {
  if (!known[direction]) {
    const glm::dvec3 d(kDirections[direction]);
    double least = std::numeric_limits<double>::max(), most = -least;
    for (int i = 0; i < box.convex.corner_count; ++i) {
      const double projected = glm::dot(d, box.convex.corners[i]);
      least = std::min(least, projected), most = std::max(most, projected);
    }
    low[direction] = static_cast<float>(least) - box.convex.slack;
    high[direction] = static_cast<float>(most) + box.convex.slack;
    known[direction] = true;
  }
  from = low[direction], to = high[direction];
}

}  // namespace trocar
