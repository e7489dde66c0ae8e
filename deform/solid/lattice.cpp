#include "deform/solid/lattice.hpp"

#include <fmt/format.h>

#include <cmath>

#include "geometry/error.hpp"

namespace trocar {
namespace {

bool separates(const glm::dvec3& axis, const Triangle& t, const glm::dvec3& half) {
  const double a = glm::dot(axis, t.a), b = glm::dot(axis, t.b), c = glm::dot(axis, t.c);
  const double support = glm::dot(glm::abs(axis), half);
  return std::min({a, b, c}) > support || std::max({a, b, c}) < -support;
}

}  // namespace

bool triangle_touches_box(const Triangle& triangle, const glm::dvec3& centre, const glm::dvec3& half) {
  const Triangle t{triangle.a - centre, triangle.b - centre, triangle.c - centre};
  const glm::dvec3 sides[3] = {t.b - t.a, t.c - t.b, t.a - t.c};
  const glm::dvec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (const glm::dvec3& axis : axes)
    if (separates(axis, t, half)) return false;
  if (separates(glm::cross(sides[0], sides[1]), t, half)) return false;
  for (const glm::dvec3& axis : axes)
    for (const glm::dvec3& side : sides)
      if (separates(glm::cross(axis, side), t, half)) return false;
  return true;
}

// Computes the volume fraction of each lattice cell from the faces, cut into their parts within each cell. By Gauss's
// theorem the tissue in a cell has the volume of what lies in it below each part along x, minus that of what lies below
// the parts whose outside is towards -x. Lengths here are in spacings.

namespace {

// A triangle between six planes has up to nine corners; rounding may add some.
struct Polygon {
  std::array<glm::dvec3, 24> corner;
  std::size_t count = 0;

  void add(const glm::dvec3& p) {
    if (count < corner.size()) corner[count++] = p;
  }
};

// Returns the part with sign * coordinate >= sign * limit.
Polygon beyond(const Polygon& whole, int axis, double limit, double sign) {
  Polygon part;
  for (std::size_t i = 0; i < whole.count; ++i) {
    const glm::dvec3 &a = whole.corner[i], &b = whole.corner[i + 1 < whole.count ? i + 1 : 0];
    const double before = sign * (a[axis] - limit), after = sign * (b[axis] - limit);
    if (before >= 0.0) part.add(a);
    if ((before >= 0.0) == (after >= 0.0)) continue;
    glm::dvec3 crossing = a + before / (before - after) * (b - a);
    crossing[axis] = limit;
    part.add(crossing);
  }
  return part;
}

class FaceParts {
 public:
  explicit FaceParts(const Lattice& grid)
      : grid_(grid), volume_(grid.flat(grid.size - 1) + 1, 0.0), area_(volume_.size(), 0.0) {}

  void add(const Triangle& t) {
    Polygon face;
    for (const glm::dvec3* p : {&t.a, &t.b, &t.c}) face.add((*p - grid_.origin) / grid_.spacing);
    glm::ivec3 at(0);
    cut(face, 2, at);
  }

  std::vector<float> volume_fractions() {
    // Outside the organ the sums cancel but for their rounding.
    constexpr double kRounding = 1e-6;
    std::vector<float> fractions(volume_.size());
    for (std::size_t row = 0; row < fractions.size(); row += grid_.size.x) {
      double above = 0.0;  // area of the parts in the cells further along x
      for (std::size_t cell = row + grid_.size.x; cell-- > row;) {
        const double fraction = std::clamp(volume_[cell] + above, 0.0, 1.0);
        fractions[cell] = fraction > kRounding ? static_cast<float>(fraction) : 0.f;
        above += area_[cell];
      }
    }
    return fractions;
  }

 private:
  // Cuts a part between the planes of layers, then rows, then columns.
  void cut(const Polygon& part, int axis, glm::ivec3& at) {
    if (part.count == 0) return;
    if (axis < 0) return add_part(part, at);
    double low = INFINITY, high = -INFINITY;
    for (std::size_t i = 0; i < part.count; ++i)
      low = std::min(low, part.corner[i][axis]), high = std::max(high, part.corner[i][axis]);
    const int last = grid_.size[axis] - 1, from = std::clamp(static_cast<int>(std::floor(low)), 0, last);
    for (at[axis] = from; at[axis] <= last && (at[axis] == from || at[axis] < high); ++at[axis]) {
      const int here = at[axis];
      if (here == from && (here == last || high <= here + 1)) {
        cut(part, axis - 1, at);
        return;
      }
      const Polygon above = here == from ? part : beyond(part, axis, here, 1.0);
      cut(here == last ? above : beyond(above, axis, here + 1, -1.0), axis - 1, at);
    }
  }

  void add_part(const Polygon& part, const glm::ivec3& at) {
    const std::size_t cell = grid_.flat(at);
    for (std::size_t i = 2; i < part.count; ++i) {
      const glm::dvec3 &a = part.corner[0], b = part.corner[i - 1] - a, c = part.corner[i] - a;
      const double area = 0.5 * (b.y * c.z - b.z * c.y);  // above 0: the outside is towards +x
      area_[cell] += area;
      volume_[cell] += area * (a.x + (b.x + c.x) / 3.0 - at.x);
    }
  }

  const Lattice& grid_;
  std::vector<double> volume_;  // [cell of the grid] below the parts in the cell, within it
  std::vector<double> area_;    // [cell of the grid] of their projections along x
};

}  // namespace

std::vector<float> measure_volume_fractions(const MeshView& organ, const Lattice& grid) {
  FaceParts parts(grid);
  for (const glm::uvec3& face : organ.faces) parts.add(triangle_of(organ.positions, face));
  return parts.volume_fractions();
}

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

void number_cells(Lattice& lattice, const std::vector<char>& used, const std::vector<float>& volume_fraction) {
  lattice.cell_of.assign(used.size(), -1);
  std::size_t flat = 0;
  for (int z = 0; z < lattice.size.z; ++z)
    for (int y = 0; y < lattice.size.y; ++y)
      for (int x = 0; x < lattice.size.x; ++x, ++flat) {
        if (!used[flat]) continue;
        lattice.cell_of[flat] = static_cast<std::int32_t>(lattice.cells.size());
        lattice.cells.push_back({{x, y, z}, std::max(volume_fraction[flat], kEmptiestCell), {}});
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
  const std::vector<float> volume_fraction = measure_volume_fractions(organ, lattice);
  std::vector<char> used(volume_fraction.size());
  for (std::size_t i = 0; i < used.size(); ++i) used[i] = volume_fraction[i] > 0.f;
  find_touched(organ, lattice, used);
  number_cells(lattice, used, volume_fraction);
  number_nodes(lattice);
  return lattice;
}

}  // namespace trocar
