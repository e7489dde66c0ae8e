// Rectangles of triangles, from which tests make sheets. Units: metres.
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <random>
#include <vector>

namespace trocar::test {

using Triangles = std::vector<std::array<std::uint32_t, 3>>;

// A rectangle in the plane z = 0 from the origin on.
struct SheetMesh {
  std::vector<glm::dvec3> points;
  Triangles triangles;
  int columns = 0, rows = 0;  // cells
  std::uint32_t at(int i, int j) const { return static_cast<std::uint32_t>(j * (columns + 1) + i); }
};

enum class Pattern { same, crossed, irregular };

// same: all diagonals one way. crossed: alternating. irregular: alternating, inner nodes moved by up to 30 % of a cell,
// those of the boundary along it.
inline SheetMesh rectangle(double length, double width, int columns, int rows, Pattern pattern, unsigned seed = 1) {
  SheetMesh mesh;
  mesh.columns = columns, mesh.rows = rows;
  std::mt19937 random(seed);
  const auto shift = [&] { return pattern == Pattern::irregular ? 0.3 * (random() / 2147483647.5 - 1.0) : 0.0; };
  for (int j = 0; j <= rows; ++j)
    for (int i = 0; i <= columns; ++i) {
      const double a = i > 0 && i < columns ? shift() : 0.0, b = j > 0 && j < rows ? shift() : 0.0;
      mesh.points.push_back({length * (i + a) / columns, width * (j + b) / rows, 0.0});
    }
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i) {
      const std::uint32_t p = mesh.at(i, j), q = mesh.at(i + 1, j), r = mesh.at(i + 1, j + 1), s = mesh.at(i, j + 1);
      if (pattern == Pattern::same || (i + j) % 2 == 0)
        mesh.triangles.push_back({p, q, r}), mesh.triangles.push_back({p, r, s});
      else
        mesh.triangles.push_back({p, q, s}), mesh.triangles.push_back({q, r, s});
    }
  return mesh;
}

}  // namespace trocar::test
