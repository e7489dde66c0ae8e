#include "tests/support/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <utility>

namespace trocar::shapes {
namespace {

TriangleMesh icosahedron() {
  const float t = (1.f + std::sqrt(5.f)) / 2.f;
  TriangleMesh mesh;
  mesh.positions = {{-1, t, 0},  {1, t, 0},  {-1, -t, 0}, {1, -t, 0}, {0, -1, t},  {0, 1, t},
                    {0, -1, -t}, {0, 1, -t}, {t, 0, -1},  {t, 0, 1},  {-t, 0, -1}, {-t, 0, 1}};
  mesh.faces = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
  return mesh;
}

// Splits each face into four; the new vertices are the middles of the edges.
TriangleMesh subdivided(const TriangleMesh& coarse) {
  TriangleMesh fine;
  fine.positions = coarse.positions;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middles;
  const auto middle = [&](std::uint32_t a, std::uint32_t b) {
    const auto [entry, is_new] =
        middles.try_emplace(std::minmax(a, b), static_cast<std::uint32_t>(fine.positions.size()));
    if (is_new) fine.positions.push_back((coarse.positions[a] + coarse.positions[b]) * 0.5f);
    return entry->second;
  };
  for (const glm::uvec3& f : coarse.faces) {
    const std::uint32_t xy = middle(f.x, f.y), yz = middle(f.y, f.z), zx = middle(f.z, f.x);
    fine.faces.insert(fine.faces.end(), {{f.x, xy, zx}, {f.y, yz, xy}, {f.z, zx, yz}, {xy, yz, zx}});
  }
  return fine;
}

// Adds two faces per cell of a columns x rows grid of vertices; `vertex` returns their indices.
template <class Vertex>
void add_cells(int columns, int rows, Vertex vertex, std::vector<glm::uvec3>& faces) {
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      const std::uint32_t a = vertex(column, row), b = vertex(column + 1, row);
      const std::uint32_t c = vertex(column + 1, row + 1), d = vertex(column, row + 1);
      faces.emplace_back(a, b, c);
      faces.emplace_back(a, c, d);
    }
}

glm::vec3 on_circle(double turn, double radius) {
  const double angle = 2.0 * std::numbers::pi * turn;
  return {static_cast<float>(radius * std::cos(angle)), static_cast<float>(radius * std::sin(angle)), 0.f};
}

}  // namespace

TriangleMesh icosphere(int subdivisions, float radius, const glm::vec3& centre) {
  TriangleMesh mesh = icosahedron();
  for (int i = 0; i < subdivisions; ++i) mesh = subdivided(mesh);
  for (glm::vec3& p : mesh.positions) p = centre + glm::normalize(p) * radius;
  return mesh;
}

TriangleMesh sphere_of(std::size_t faces, float radius, const glm::vec3& centre) {
  const int rows =
      std::max(3, static_cast<int>(std::ceil((1.0 + std::sqrt(1.0 + 2.0 * static_cast<double>(faces))) / 2.0)));
  const int columns = rows;
  TriangleMesh mesh;
  mesh.positions.push_back(centre - glm::vec3(0, 0, radius));
  for (int row = 1; row < rows; ++row) {
    const double polar = std::numbers::pi * row / rows;
    for (int column = 0; column < columns; ++column) {
      const glm::vec3 ring = on_circle(double(column) / columns, radius * std::sin(polar));
      mesh.positions.push_back(centre + ring - glm::vec3(0, 0, radius * std::cos(polar)));
    }
  }
  const auto top = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.push_back(centre + glm::vec3(0, 0, radius));
  const auto vertex = [&](int column, int row) {
    return static_cast<std::uint32_t>(1 + row * columns + column % columns);
  };
  for (int column = 0; column < columns; ++column) mesh.faces.emplace_back(0, vertex(column + 1, 0), vertex(column, 0));
  add_cells(columns, rows - 2, vertex, mesh.faces);
  for (int column = 0; column < columns; ++column)
    mesh.faces.emplace_back(vertex(column, rows - 2), vertex(column + 1, rows - 2), top);
  return mesh;
}

TriangleMesh cube(float side, const glm::vec3& centre) {
  TriangleMesh mesh;
  for (int corner = 0; corner < 8; ++corner) {
    const glm::vec3 unit(corner & 1, (corner >> 1) & 1, (corner >> 2) & 1);
    mesh.positions.push_back(centre + (unit - 0.5f) * side);
  }
  mesh.faces = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return mesh;
}

TriangleMesh grid(int columns, int rows, float width, float height) {
  TriangleMesh mesh;
  for (int row = 0; row <= rows; ++row)
    for (int column = 0; column <= columns; ++column) {
      const float u = static_cast<float>(column) / static_cast<float>(columns);
      const float v = static_cast<float>(row) / static_cast<float>(rows);
      mesh.positions.emplace_back((u - 0.5f) * width, (v - 0.5f) * height, 0.f);
    }
  add_cells(
      columns, rows, [columns](int c, int r) { return static_cast<std::uint32_t>(r * (columns + 1) + c); }, mesh.faces);
  return mesh;
}

TriangleMesh torus(int major_steps, int minor_steps, float major_radius, float minor_radius) {
  TriangleMesh mesh;
  for (int minor = 0; minor < minor_steps; ++minor) {
    const glm::vec3 section = on_circle(double(minor) / minor_steps, minor_radius);
    for (int major = 0; major < major_steps; ++major)
      mesh.positions.push_back(on_circle(double(major) / major_steps, major_radius + section.x) +
                               glm::vec3(0, 0, section.y));
  }
  const auto vertex = [=](int major, int minor) {
    return static_cast<std::uint32_t>((minor % minor_steps) * major_steps + major % major_steps);
  };
  add_cells(major_steps, minor_steps, vertex, mesh.faces);
  return mesh;
}

TriangleMesh random_soup(std::uint32_t seed, std::size_t faces, float side, float longest_edge) {
  std::mt19937 random(seed);
  // Written by hand, because the standard distributions differ between libraries.
  const auto uniform = [&random] { return static_cast<float>(random() >> 8) / static_cast<float>(1u << 24) - 0.5f; };
  const auto point = [&uniform](float size) {
    const float x = uniform(), y = uniform(), z = uniform();
    return glm::vec3(x, y, z) * size;
  };
  const float corner_box = longest_edge / std::sqrt(3.f);
  TriangleMesh mesh;
  for (std::size_t i = 0; i < faces; ++i) {
    const glm::vec3 centre = point(side);
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    for (int corner = 0; corner < 3; ++corner) mesh.positions.push_back(centre + point(corner_box));
    mesh.faces.emplace_back(first, first + 1, first + 2);
  }
  return mesh;
}

TriangleMesh joined(const TriangleMesh& first, const TriangleMesh& second) {
  TriangleMesh mesh = first;
  const auto offset = static_cast<std::uint32_t>(first.positions.size());
  mesh.positions.insert(mesh.positions.end(), second.positions.begin(), second.positions.end());
  for (const glm::uvec3& face : second.faces) mesh.faces.push_back(face + offset);
  return mesh;
}

TriangleMesh turned(TriangleMesh mesh) {
  for (glm::uvec3& face : mesh.faces) std::swap(face.y, face.z);
  return mesh;
}

}  // namespace trocar::shapes
