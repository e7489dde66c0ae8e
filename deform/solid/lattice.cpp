#include "deform/solid/lattice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "deform/box_overlap.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

// About 30 bytes per cell of the bounding grid: a larger lattice would need more than a gigabyte.
constexpr double kMostGridCells = 3e7;

// An organ longer than a whole number of cells by only a rounding error does not get another layer.
constexpr double kGridSlack = 1e-4;  // of a cell

struct Bounds {
  glm::dvec3 low{INFINITY}, high{-INFINITY};
};

Bounds bounds_of(const MeshView& organ) {
  Bounds bounds;
  for (const glm::uvec3& face : organ.faces)
    for (int corner = 0; corner < 3; ++corner) {
      bounds.low = glm::min(bounds.low, glm::dvec3(organ.positions[face[corner]]));
      bounds.high = glm::max(bounds.high, glm::dvec3(organ.positions[face[corner]]));
    }
  return bounds;
}

glm::dvec3 cells_of(const glm::dvec3& extent, double spacing) {
  return glm::max(glm::ceil(extent / spacing - kGridSlack), 1.0);
}

std::string grid_fault(const glm::dvec3& extent, double spacing) {
  const double longest = std::max({extent.x, extent.y, extent.z});
  if (spacing > longest)
    return fmt::format(
        "node spacing {:g} mm is larger than the organ, whose longest side is {:.3g} mm; choose a "
        "spacing of at most a few cells per side",
        spacing * 1e3, longest * 1e3);
  const glm::dvec3 cells = cells_of(extent, spacing);
  if (cells.x * cells.y * cells.z > kMostGridCells)
    return fmt::format(
        "node spacing {:g} mm is too small for an organ of {:.3g} mm: it asks for {:.0f} x {:.0f} x "
        "{:.0f} cells; choose a larger spacing",
        spacing * 1e3, longest * 1e3, cells.x, cells.y, cells.z);
  return "";
}

// The grid is centred on the organ.
Lattice make_grid(const MeshView& organ, double spacing) {
  const Bounds bounds = bounds_of(organ);
  const glm::dvec3 extent = bounds.high - bounds.low;
  if (const std::string fault = grid_fault(extent, spacing); !fault.empty()) throw InputError(fault);
  const glm::dvec3 cells = cells_of(extent, spacing);
  Lattice grid;
  grid.spacing = spacing;
  grid.size = glm::ivec3(cells);
  grid.origin = 0.5 * (bounds.low + bounds.high) - 0.5 * spacing * cells;
  return grid;
}

// Marks the cells that share a point with a face. The boxes are slightly smaller than the cells, so that a flat side of
// the organ in a lattice plane touches the cells behind it but not those in front.
void find_touched(const MeshView& organ, const Lattice& grid, std::vector<char>& used) {
  const glm::dvec3 half(0.5 * grid.spacing * (1.0 - 2.0 * kGridSlack));
  for (const glm::uvec3& face : organ.faces) {
    const Triangle t = triangle_of(organ.positions, face);
    const glm::ivec3 first = grid.column_of(glm::min(t.a, glm::min(t.b, t.c)));
    const glm::ivec3 last = grid.column_of(glm::max(t.a, glm::max(t.b, t.c)));
    for (int z = first.z; z <= last.z; ++z)
      for (int y = first.y; y <= last.y; ++y)
        for (int x = first.x; x <= last.x; ++x) {
          const glm::dvec3 centre = grid.origin + grid.spacing * (glm::dvec3(x, y, z) + 0.5);
          if (triangle_touches_box(t, centre, half)) used[grid.flat({x, y, z})] = 1;
        }
  }
  // Independent of rounding in the overlap test, the cell that embeds a vertex must exist.
  for (const glm::vec3& vertex : organ.positions) used[grid.flat(grid.column_of(glm::dvec3(vertex)))] = 1;
}

void number_cells(Lattice& lattice, const std::vector<char>& used, const std::vector<float>& fullness) {
  lattice.cell_of.assign(used.size(), -1);
  std::size_t flat = 0;
  for (int z = 0; z < lattice.size.z; ++z)
    for (int y = 0; y < lattice.size.y; ++y)
      for (int x = 0; x < lattice.size.x; ++x, ++flat) {
        if (!used[flat]) continue;
        lattice.cell_of[flat] = static_cast<std::int32_t>(lattice.cells.size());
        lattice.cells.push_back({{x, y, z}, std::max(fullness[flat], kEmptiestCell), {}});
      }
}

void number_nodes(Lattice& lattice) {
  const glm::ivec3 nodes = lattice.size + 1;
  const auto flat_node = [&](const glm::ivec3& at) {
    return (static_cast<std::size_t>(at.z) * nodes.y + at.y) * nodes.x + at.x;
  };
  constexpr std::uint32_t kUnused = 0xffffffffu;
  std::vector<std::uint32_t> node_of(static_cast<std::size_t>(nodes.x) * nodes.y * nodes.z, kUnused);
  for (const LatticeCell& cell : lattice.cells)
    for (int corner = 0; corner < 8; ++corner) node_of[flat_node(cell.at + corner_offset(corner))] = 0;
  std::size_t flat = 0;
  for (int z = 0; z < nodes.z; ++z)
    for (int y = 0; y < nodes.y; ++y)
      for (int x = 0; x < nodes.x; ++x, ++flat) {
        if (node_of[flat] == kUnused) continue;
        node_of[flat] = static_cast<std::uint32_t>(lattice.node_at.size());
        lattice.node_at.push_back({x, y, z});
      }
  for (LatticeCell& cell : lattice.cells)
    for (int corner = 0; corner < 8; ++corner) cell.node[corner] = node_of[flat_node(cell.at + corner_offset(corner))];
}

}  // namespace

std::string lattice_fault(const MeshView& organ, double spacing) {
  const Bounds bounds = bounds_of(organ);
  return grid_fault(bounds.high - bounds.low, spacing);
}

Lattice make_lattice(const MeshView& organ, double spacing) {
  Lattice lattice = make_grid(organ, spacing);
  const std::vector<float> fullness = measure_fullness(organ, lattice);
  std::vector<char> used(fullness.size());
  for (std::size_t i = 0; i < used.size(); ++i) used[i] = fullness[i] > 0.f;
  find_touched(organ, lattice, used);
  number_cells(lattice, used, fullness);
  number_nodes(lattice);
  return lattice;
}

}  // namespace trocar
