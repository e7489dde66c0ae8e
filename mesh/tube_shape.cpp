#include "mesh/tube_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "geometry/elementary.hpp"
#include "geometry/units.hpp"

namespace trocar {
namespace {

using glm::dvec3;

constexpr int kSides = 10;                // of a ring
constexpr double kRingStep = 0.8;         // radii, between rings
constexpr int kCapRings = 2;              // of a half ball, without its equator and its pole
constexpr double kTightest = 1.5;         // radii, of a bend
constexpr int kFine = 64;                 // pieces of the line between two points, to measure its length
constexpr double kMostRings = 2000;       // rings
constexpr std::size_t kMostPoints = 100;  // of a path: bends are compared pair by pair
constexpr double kShortest = 1e-6;        // m, between neighbours of the path

// A point of the spline between `p[1]` and `p[2]`, by Barry and Goldman's recursion. `share`: 0..1.
dvec3 spline_point(const dvec3 (&p)[4], double share) {
  double t[4] = {};
  for (int k = 1; k < 4; ++k) t[k] = t[k - 1] + std::sqrt(glm::distance(p[k - 1], p[k]));
  const double at = t[1] + share * (t[2] - t[1]);
  const auto between = [&](const dvec3& a, const dvec3& b, int from, int to) {
    return ((t[to] - at) * a + (at - t[from]) * b) / (t[to] - t[from]);
  };
  const dvec3 a = between(p[0], p[1], 0, 1), b = between(p[1], p[2], 1, 2), c = between(p[2], p[3], 2, 3);
  return between(between(a, b, 0, 2), between(b, c, 1, 3), 1, 2);
}

// Beyond its ends the path goes on by the mirror image of its neighbour.
dvec3 path_point(std::span<const dvec3> path, std::ptrdiff_t k) {
  const auto last = static_cast<std::ptrdiff_t>(path.size()) - 1;
  if (k < 0) return 2.0 * path[0] - path[1];
  if (k > last) return 2.0 * path.back() - path[path.size() - 2];
  return path[static_cast<std::size_t>(k)];
}

std::vector<dvec3> fine_line(std::span<const dvec3> path) {
  std::vector<dvec3> line{path[0]};
  for (std::ptrdiff_t k = 0; k + 1 < static_cast<std::ptrdiff_t>(path.size()); ++k) {
    const dvec3 p[4] = {path_point(path, k - 1), path_point(path, k), path_point(path, k + 1), path_point(path, k + 2)};
    for (int piece = 1; piece < kFine; ++piece) line.push_back(spline_point(p, double(piece) / kFine));
    line.push_back(p[2]);
  }
  return line;
}

std::vector<double> lengths_along(std::span<const dvec3> line) {
  std::vector<double> length{0.0};
  for (std::size_t k = 1; k < line.size(); ++k) length.push_back(length.back() + glm::distance(line[k - 1], line[k]));
  return length;
}

// Returns the radius of the circle through three points; huge when they are in line.
double bend_radius(const dvec3& a, const dvec3& b, const dvec3& c) {
  const double twice_area = glm::length(glm::cross(b - a, c - a));
  const double sides = glm::distance(a, b) * glm::distance(b, c) * glm::distance(c, a);
  return sides / std::max(2.0 * twice_area, 1e-30);
}

std::string in_mm(const dvec3& p) { return fmt::format("[{:.3g}, {:.3g}, {:.3g}]", 1e3 * p.x, 1e3 * p.y, 1e3 * p.z); }

// Measured on the fine line, because the spacing of the rings would hide a sharp bend.
std::string bend_fault(const TubeShape& tube) {
  const std::vector<dvec3> line = fine_line(tube.path);
  for (std::size_t k = 1; k + 1 < line.size(); ++k)
    if (bend_radius(line[k - 1], line[k], line[k + 1]) < kTightest * tube.radius)
      return fmt::format("it bends tighter than 1.5 radii near {}; move its points apart or make it thinner",
                         in_mm(line[k]));
  const std::vector<double> length = lengths_along(line);
  for (std::size_t k = 0; k < line.size(); ++k)
    for (std::size_t j = k + 1; j < line.size(); ++j)
      if (length[j] - length[k] > 4.0 * tube.radius && glm::distance(line[j], line[k]) < 2.0 * tube.radius)
        return fmt::format("it overlaps itself near {}; lead it around", in_mm(line[k]));
  return {};
}

struct Ring {
  dvec3 centre, along, across;  // m, unit, unit
};

std::vector<Ring> rings_along(std::span<const dvec3> line) {
  std::vector<Ring> rings;
  const auto along = [&](std::size_t k) {
    return glm::normalize(line[std::min(k + 1, line.size() - 1)] - line[k > 0 ? k - 1 : 0]);
  };
  const dvec3 first = along(0);
  const dvec3 aside = std::abs(first.x) < 0.6 ? dvec3(1, 0, 0) : dvec3(0, 1, 0);
  rings.push_back({line[0], first, glm::normalize(glm::cross(first, aside))});
  const auto reflected = [](const dvec3& v, const dvec3& normal) {
    return v - (2.0 * glm::dot(v, normal) / glm::dot(normal, normal)) * normal;
  };
  for (std::size_t k = 1; k < line.size(); ++k) {
    const dvec3 step = line[k] - line[k - 1], next = along(k);
    const dvec3 mirrored = reflected(rings.back().along, step);
    const dvec3 turn = next - mirrored;
    const dvec3 across = reflected(reflected(rings.back().across, step), turn);
    rings.push_back({line[k], next, glm::normalize(across - glm::dot(across, next) * next)});
  }
  return rings;
}

void add_ring(const Ring& ring, double radius, TriangleMesh& mesh) {
  const dvec3 up = glm::cross(ring.along, ring.across);
  for (int side = 0; side < kSides; ++side) {
    const double angle = kFullTurn * side / kSides;
    mesh.positions.emplace_back(ring.centre +
                                radius * (elementary::cos(angle) * ring.across + elementary::sin(angle) * up));
  }
}

// Adds the rings of a half ball around the end of the line, from its pole to its equator or back.
void add_cap(Ring ring, double radius, double sign, TriangleMesh& mesh) {
  const dvec3 centre = ring.centre;
  for (int k = 1; k <= kCapRings; ++k) {
    const int step = sign < 0.0 ? k : kCapRings + 1 - k;
    const double angle = 0.5 * std::numbers::pi * step / (kCapRings + 1);
    ring.centre = centre + sign * radius * elementary::cos(angle) * ring.along;
    add_ring(ring, radius * elementary::sin(angle), mesh);
  }
}

void add_faces(TriangleMesh& mesh) {
  const auto rings = static_cast<std::uint32_t>((mesh.positions.size() - 2) / kSides), n = std::uint32_t{kSides};
  const std::uint32_t last = 1 + (rings - 1) * n, pole = last + n;
  for (std::uint32_t side = 0; side < n; ++side) {
    const std::uint32_t next = (side + 1) % n;
    mesh.faces.emplace_back(0, 1 + next, 1 + side);
    for (std::uint32_t ring = 1; ring < last; ring += n) {
      mesh.faces.emplace_back(ring + side, ring + next, ring + n + next);
      mesh.faces.emplace_back(ring + side, ring + n + next, ring + n + side);
    }
    mesh.faces.emplace_back(last + side, last + next, pole);
  }
}

}  // namespace

std::vector<glm::dvec3> centre_line(const TubeShape& tube) {
  const std::vector<dvec3> fine = fine_line(tube.path);
  const std::vector<double> length = lengths_along(fine);
  const int steps = std::max(1, static_cast<int>(std::ceil(length.back() / (kRingStep * tube.radius))));
  std::vector<dvec3> line{fine.front()};
  std::size_t k = 0;
  for (int step = 1; step < steps; ++step) {
    const double at = length.back() * step / steps;
    while (length[k + 1] < at) ++k;
    line.push_back(glm::mix(fine[k], fine[k + 1], (at - length[k]) / (length[k + 1] - length[k])));
  }
  line.push_back(fine.back());
  return line;
}

double along_line(std::span<const glm::dvec3> line, const glm::dvec3& p) {
  double before = 0.0, at = 0.0, least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k < line.size(); ++k) {
    const dvec3 step = line[k] - line[k - 1];
    const double length = glm::length(step);
    const double share = std::clamp(glm::dot(p - line[k - 1], step) / std::max(length * length, 1e-30), 0.0, 1.0);
    const double distance = glm::distance(p, line[k - 1] + share * step);
    if (distance < least) least = distance, at = before + share * length;
    before += length;
  }
  return at;
}

std::string tube_fault(const TubeShape& tube) {
  if (tube.path.size() < 2) return "it needs at least two points";
  if (tube.path.size() > kMostPoints) return fmt::format("it has more than {} points", kMostPoints);
  double length = 0.0;
  for (std::size_t k = 1; k < tube.path.size(); ++k) {
    const double step = glm::distance(tube.path[k - 1], tube.path[k]);
    if (!(step > kShortest)) return fmt::format("two points in a row are the same, {}", in_mm(tube.path[k]));
    length += step;
  }
  if (length > kMostRings * kRingStep * tube.radius)
    return fmt::format("it is longer than {:.0f} radii; make it thicker", kMostRings * kRingStep);
  return bend_fault(tube);
}

TriangleMesh tube_surface(const TubeShape& tube) {
  const std::vector<Ring> rings = rings_along(centre_line(tube));
  const Ring &first = rings.front(), &last = rings.back();
  TriangleMesh mesh;
  mesh.positions.emplace_back(first.centre - tube.radius * first.along);
  add_cap(first, tube.radius, -1.0, mesh);
  for (const Ring& ring : rings) add_ring(ring, tube.radius, mesh);
  add_cap(last, tube.radius, 1.0, mesh);
  mesh.positions.emplace_back(last.centre + tube.radius * last.along);
  add_faces(mesh);
  return mesh;
}

}  // namespace trocar
