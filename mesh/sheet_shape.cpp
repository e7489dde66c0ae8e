#include "mesh/sheet_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

using glm::dvec3;

constexpr std::uint32_t kNoNode = 0xffffffffu;

// Rows along the two directions of a patch.
struct SheetRows {
  int u, v;
};

int rows_along(double length, double spacing) { return std::max(1, static_cast<int>(std::lround(length / spacing))); }

SheetRows rows_of(const SheetShape& sheet) {
  const std::vector<dvec3>& c = sheet.corners;
  const auto side = [&](std::size_t k) { return glm::distance(c[k], c[(k + 1) % c.size()]); };
  if (c.size() == 3) {
    const int rows = rows_along(std::max({side(0), side(1), side(2)}), sheet.spacing);
    return {rows, rows};
  }
  return {rows_along(std::max(side(0), side(2)), sheet.spacing), rows_along(std::max(side(1), side(3)), sheet.spacing)};
}

double nodes_of(const SheetShape& sheet) {
  const SheetRows rows = rows_of(sheet);
  if (sheet.corners.size() == 3) return 0.5 * (rows.u + 1.0) * (rows.u + 2.0);
  return (rows.u + 1.0) * (rows.v + 1.0);
}

// The diagonals alternate, so that the patch is as stiff along one diagonal as along the other.
SheetPatch square_patch(const SheetShape& sheet) {
  const SheetRows rows = rows_of(sheet);
  const std::vector<dvec3>& c = sheet.corners;
  SheetPatch patch;
  for (int j = 0; j <= rows.v; ++j)
    for (int i = 0; i <= rows.u; ++i) {
      const double u = static_cast<double>(i) / rows.u, v = static_cast<double>(j) / rows.v;
      patch.points.push_back((1.0 - v) * ((1.0 - u) * c[0] + u * c[1]) + v * ((1.0 - u) * c[3] + u * c[2]));
    }
  const auto node = [&](int i, int j) { return static_cast<std::uint32_t>(j * (rows.u + 1) + i); };
  for (int j = 0; j < rows.v; ++j)
    for (int i = 0; i < rows.u; ++i) {
      const std::uint32_t a = node(i, j), b = node(i + 1, j), d = node(i + 1, j + 1), e = node(i, j + 1);
      if ((i + j) % 2 == 0) {
        patch.triangles.push_back({a, b, d}), patch.triangles.push_back({a, d, e});
      } else {
        patch.triangles.push_back({a, b, e}), patch.triangles.push_back({b, d, e});
      }
    }
  return patch;
}

SheetPatch triangular_patch(const SheetShape& sheet) {
  const int rows = rows_of(sheet).u;
  const std::vector<dvec3>& c = sheet.corners;
  SheetPatch patch;
  std::vector<std::uint32_t> first;  // [row]
  for (int j = 0; j <= rows; ++j) {
    first.push_back(static_cast<std::uint32_t>(patch.points.size()));
    for (int i = 0; i + j <= rows; ++i) {
      const double u = static_cast<double>(i) / rows, v = static_cast<double>(j) / rows;
      patch.points.push_back((1.0 - u - v) * c[0] + u * c[1] + v * c[2]);
    }
  }
  const auto node = [&](int i, int j) { return first[static_cast<std::size_t>(j)] + static_cast<std::uint32_t>(i); };
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i + j < rows; ++i) {
      patch.triangles.push_back({node(i, j), node(i + 1, j), node(i, j + 1)});
      if (i + j + 1 < rows) patch.triangles.push_back({node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)});
    }
  return patch;
}

}  // namespace

std::string sheet_fault(const SheetShape& sheet) {
  const std::vector<dvec3>& c = sheet.corners;
  if (c.size() != 3 && c.size() != 4) return fmt::format("it has {} corners; give three or four", c.size());
  double longest = 0.0;
  for (std::size_t i = 0; i < c.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) longest = std::max(longest, glm::distance(c[i], c[j]));
  for (std::size_t i = 0; i < c.size(); ++i) {
    const dvec3 &p = c[i], &q = c[(i + 1) % c.size()], &r = c[(i + 2) % c.size()];
    if (!(glm::length(glm::cross(q - p, r - q)) > 1e-3 * longest * longest))
      return fmt::format("corners {}, {} and {} lie on one line; move one of them", i + 1, (i + 1) % c.size() + 1,
                         (i + 2) % c.size() + 1);
  }
  if (const double nodes = nodes_of(sheet); nodes > static_cast<double>(kMostSheetNodes))
    return fmt::format("it would have {:.0f} nodes and may have {}; raise spacing_mm to {:.1f} or more", nodes,
                       kMostSheetNodes,
                       1e3 * sheet.spacing * std::sqrt(nodes / static_cast<double>(kMostSheetNodes)) + 0.05);
  return {};
}

SheetPatch sheet_patch(const SheetShape& sheet) {
  return sheet.corners.size() == 3 ? triangular_patch(sheet) : square_patch(sheet);
}

SheetPatch sheet_patch(const TriangleMesh& surface) {
  SheetPatch patch;
  std::vector<std::uint32_t> number(surface.positions.size(), kNoNode);
  for (const glm::uvec3& face : welded_faces(surface.positions, surface.faces)) {
    std::array<std::uint32_t, 3> nodes{};
    for (int corner = 0; corner < 3; ++corner) {
      std::uint32_t& node = number[face[corner]];
      if (node == kNoNode) {
        node = static_cast<std::uint32_t>(patch.points.size());
        patch.points.emplace_back(surface.positions[face[corner]]);
      }
      nodes[static_cast<std::size_t>(corner)] = node;
    }
    patch.triangles.push_back(nodes);
  }
  return patch;
}

}  // namespace trocar
