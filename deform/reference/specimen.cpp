// Makes specimens: their surface, lattice, and the points on which plates and ball act.
#include "deform/reference/specimen.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry/elementary.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

using glm::dvec2;
using glm::dvec3;

// A face belongs to an end when its corners are within this fraction of the height from it.
constexpr double kEndSlack = 1e-4;

// Joins two rings of `steps` vertices that begin at `low` and `high`.
void join_rings(TriangleMesh& mesh, std::uint32_t low, std::uint32_t high, std::uint32_t steps) {
  for (std::uint32_t i = 0; i < steps; ++i) {
    const std::uint32_t next = (i + 1) % steps;
    mesh.faces.push_back({low + i, low + next, high + next});
    mesh.faces.push_back({low + i, high + next, high + i});
  }
}

struct RingPlan {
  std::uint32_t steps, rings, layers;
};

std::uint32_t add_ring(TriangleMesh& mesh, const RingPlan& plan, double radius, double z) {
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (std::uint32_t i = 0; i < plan.steps; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / plan.steps;
    mesh.positions.emplace_back(radius * elementary::cos(angle), radius * elementary::sin(angle), z);
  }
  return first;
}

void close_ring(TriangleMesh& mesh, std::uint32_t ring, std::uint32_t steps, double z, bool up) {
  const auto centre = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.emplace_back(0.0, 0.0, z);
  for (std::uint32_t i = 0; i < steps; ++i) {
    const std::uint32_t a = ring + i, b = ring + (i + 1) % steps;
    mesh.faces.push_back(up ? glm::uvec3(centre, a, b) : glm::uvec3(centre, b, a));
  }
}

std::uint32_t parts_of(double length, double edge) {
  return static_cast<std::uint32_t>(std::max(std::ceil(length / edge - kEndSlack), 1.0));
}

// One side of a block: a grid from `corner` along u and v, whose cross product points outwards.
void add_side(TriangleMesh& mesh, const dvec3& corner, const dvec3& u, const dvec3& v, double edge) {
  const std::uint32_t columns = parts_of(glm::length(u), edge), rows = parts_of(glm::length(v), edge);
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (std::uint32_t j = 0; j <= rows; ++j)
    for (std::uint32_t i = 0; i <= columns; ++i)
      mesh.positions.emplace_back(corner + static_cast<double>(i) / columns * u + static_cast<double>(j) / rows * v);
  for (std::uint32_t j = 0; j < rows; ++j)
    for (std::uint32_t i = 0; i < columns; ++i) {
      const std::uint32_t a = first + j * (columns + 1) + i, b = a + columns + 1;
      mesh.faces.push_back({a, a + 1, b + 1});
      mesh.faces.push_back({a, b + 1, b});
    }
}

// Gives vertices at equal positions one number: the sides of a block share edges.
TriangleMesh welded(const TriangleMesh& mesh) {
  std::vector<std::uint32_t> order(mesh.positions.size()), number(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](std::uint32_t i) {
    const glm::vec3& p = mesh.positions[i];
    return std::array<float, 3>{p.x, p.y, p.z};
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  TriangleMesh result;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || key(order[i]) != key(order[i - 1])) result.positions.push_back(mesh.positions[order[i]]);
    number[order[i]] = static_cast<std::uint32_t>(result.positions.size() - 1);
  }
  for (const glm::uvec3& f : mesh.faces) result.faces.push_back({number[f.x], number[f.y], number[f.z]});
  return result;
}

std::vector<double> areas_of(const TriangleMesh& mesh) {
  std::vector<double> area(mesh.positions.size());
  for (const glm::uvec3& f : mesh.faces) {
    const dvec3 a(mesh.positions[f.x]), b(mesh.positions[f.y]), c(mesh.positions[f.z]);
    const double share = glm::length(glm::cross(b - a, c - a)) / 6.0;
    for (int k = 0; k < 3; ++k) area[f[k]] += share;
  }
  return area;
}

}  // namespace

TriangleMesh make_cylinder(double diameter, double height, double edge) {
  const double radius = 0.5 * diameter;
  const RingPlan plan{std::max(parts_of(2.0 * std::numbers::pi * radius, edge), 12u), parts_of(radius, edge),
                      parts_of(height, edge)};
  TriangleMesh mesh;
  std::vector<std::uint32_t> rings;
  for (std::uint32_t i = 1; i < plan.rings; ++i) rings.push_back(add_ring(mesh, plan, radius * i / plan.rings, 0.0));
  for (std::uint32_t i = 0; i <= plan.layers; ++i)
    rings.push_back(add_ring(mesh, plan, radius, height * i / plan.layers));
  for (std::uint32_t i = plan.rings - 1; i > 0; --i)
    rings.push_back(add_ring(mesh, plan, radius * i / plan.rings, height));
  for (std::size_t i = 1; i < rings.size(); ++i) join_rings(mesh, rings[i - 1], rings[i], plan.steps);
  close_ring(mesh, rings.front(), plan.steps, 0.0, false);
  close_ring(mesh, rings.back(), plan.steps, height, true);
  return mesh;
}

TriangleMesh make_block(const dvec3& size, double edge) {
  const dvec3 x(size.x, 0.0, 0.0), y(0.0, size.y, 0.0), z(0.0, 0.0, size.z), low = -0.5 * (x + y),
                                                                             high = 0.5 * (x + y) + z;
  TriangleMesh mesh;
  add_side(mesh, low, y, x, edge), add_side(mesh, low, z, y, edge), add_side(mesh, low, x, z, edge);
  add_side(mesh, high, -x, -y, edge), add_side(mesh, high, -y, -z, edge), add_side(mesh, high, -z, -x, edge);
  return welded(mesh);
}

Specimen make_specimen(TriangleMesh mesh, const TissueParams& params, const glm::dmat3& turn) {
  double low = INFINITY, high = -INFINITY;
  for (const glm::vec3& p : mesh.positions) low = std::min(low, double(p.z)), high = std::max(high, double(p.z));
  Specimen specimen{turn, high - low, {}, {}};
  const std::vector<double> area = areas_of(mesh);
  std::vector<char> lower(area.size()), upper(area.size());
  for (const glm::uvec3& f : mesh.faces) {
    const auto within = [&](double z) {
      for (int k = 0; k < 3; ++k)
        if (std::abs(mesh.positions[f[k]].z - z) > kEndSlack * specimen.height) return false;
      return true;
    };
    for (int k = 0; k < 3; ++k) lower[f[k]] |= within(low), upper[f[k]] |= within(high);
  }
  if (std::count(lower.begin(), lower.end(), 1) == 0 || std::count(upper.begin(), upper.end(), 1) == 0)
    throw InputError("the specimen has no flat end face at its lowest or highest z; cut its ends flat, across z");
  std::vector<dvec3> rest;
  for (glm::vec3& p : mesh.positions) {
    rest.emplace_back(p.x, p.y, p.z - low);
    p = glm::vec3(turn * rest.back());
  }
  specimen.model = make_tissue(mesh.view(), params, {});
  for (std::size_t i = 0; i < rest.size(); ++i)
    if (area[i] > 0.0)
      specimen.points.push_back({specimen.model.embedding[i], area[i], rest[i], lower[i] != 0, upper[i] != 0});
  return specimen;
}

}  // namespace trocar
