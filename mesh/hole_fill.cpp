#include "mesh/hole_fill.hpp"

#include <limits>

#include "mesh/exact_sign.hpp"

namespace trocar {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kShape = 1e-6;  // 1    weight of the squared sides beside the area: it decides between equal areas
constexpr double kFlat = 1.0;    // m^2  added for a face without area: more than any hole

// The best triangulation of the corners from i to j, for every i < j.
struct Table {
  explicit Table(std::size_t corners) : count(corners), cost(corners * corners, kNever), apex(corners * corners, 0) {}

  std::size_t at(std::size_t i, std::size_t j) const { return i * count + j; }

  std::size_t count;
  std::vector<double> cost;         // m^2  kNever: there is none
  std::vector<std::uint32_t> apex;  // third corner of the face on the edge i j
};

void find_best_apex(std::span<const glm::dvec3> corners, std::size_t i, std::size_t j, Table& table) {
  double best = kNever;
  for (std::size_t m = i + 1; m < j; ++m) {
    const double sides = table.cost[table.at(i, m)] + table.cost[table.at(m, j)];
    if (!(sides < best)) continue;
    const double sum = sides + fill_cost(corners[i], corners[m], corners[j]);
    if (!(sum < best)) continue;
    best = sum;
    table.apex[table.at(i, j)] = static_cast<std::uint32_t>(m);
  }
  table.cost[table.at(i, j)] = best;
}

std::vector<glm::uvec3> faces_of(const Table& table) {
  std::vector<glm::uvec3> faces;
  std::vector<glm::uvec2> open{{0, static_cast<std::uint32_t>(table.count - 1)}};
  while (!open.empty()) {
    const glm::uvec2 edge = open.back();
    open.pop_back();
    if (edge.y - edge.x < 2) continue;
    const std::uint32_t apex = table.apex[table.at(edge.x, edge.y)];
    faces.emplace_back(edge.x, apex, edge.y);
    open.emplace_back(edge.x, apex);
    open.emplace_back(apex, edge.y);
  }
  return faces;
}

}  // namespace

double fill_cost(const glm::dvec3& a, const glm::dvec3& b, const glm::dvec3& c) {
  const glm::dvec3 ab = b - a, bc = c - b, ca = a - c;
  const double sides = glm::dot(ab, ab) + glm::dot(bc, bc) + glm::dot(ca, ca);
  const double flat = has_area(glm::vec3(a), glm::vec3(b), glm::vec3(c)) ? 0.0 : kFlat;
  return 0.5 * glm::length(glm::cross(ab, ca)) + kShape * sides + flat;
}

std::vector<glm::uvec3> fill_hole(std::span<const glm::dvec3> corners, const EdgeTaken& taken) {
  const std::size_t count = corners.size();
  Table table(count);
  for (std::size_t i = 0; i + 1 < count; ++i) table.cost[table.at(i, i + 1)] = 0.0;
  for (std::size_t span = 2; span < count; ++span)
    for (std::size_t i = 0; i + span < count; ++i) {
      const bool inner = span + 1 < count;  // the last edge belongs to the boundary
      if (inner && taken(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + span))) continue;
      find_best_apex(corners, i, i + span, table);
    }
  if (table.cost[table.at(0, count - 1)] == kNever) return {};
  return faces_of(table);
}

}  // namespace trocar
