#include "deform/solid/lattice.hpp"

#include <fmt/format.h>

#include <cmath>
#include <tuple>

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

// Computes the volume fraction of each lattice cell: finds the crossings of rows along x with the surface, and the
// winding number between crossings.

namespace {

// Rows through each cell, per side: 16 rows, each measured exactly along x.
constexpr int kRowsPerSide = 4;

struct EdgeCrossing {
  std::uint32_t row;
  float turn;  // in direction +x: +1 enters the organ, -1 leaves it
  double x;    // m
};

// Twice the signed area of (u, v, row) in the yz plane. The sign depends on the edge only, not on the face: it is
// computed from the lower end, and a row exactly on the edge counts as left of it (as if the row were moved by (-e^2,
// e), e -> 0).
struct EdgeSide {
  double area;
  bool left;
};

EdgeSide side_of_row(const glm::dvec3& u, const glm::dvec3& v, double y, double z) {
  const bool swapped = u.y != v.y ? u.y > v.y : u.z > v.z;
  const glm::dvec3 &low = swapped ? v : u, &high = swapped ? u : v;
  const double area = (low.y - y) * (high.z - z) - (low.z - z) * (high.y - y);
  return swapped ? EdgeSide{-area, area < 0.0} : EdgeSide{area, area >= 0.0};
}

class RowScan {
 public:
  RowScan(const Lattice& grid)
      : grid_(grid), rows_y_(grid.size.y * kRowsPerSide), rows_z_(grid.size.z * kRowsPerSide) {}

  void add(const Triangle& t) {
    const glm::ivec2 first = first_row(glm::min(t.a, glm::min(t.b, t.c)));
    const glm::ivec2 last = first_row(glm::max(t.a, glm::max(t.b, t.c)));
    for (int k = first.y; k <= std::min(last.y, rows_z_ - 1); ++k)
      for (int j = first.x; j <= std::min(last.x, rows_y_ - 1); ++j) cross(t, j, k);
  }

  std::vector<float> volume_fraction() {
    std::sort(crossings_.begin(), crossings_.end(), [](const EdgeCrossing& a, const EdgeCrossing& b) {
      return std::tie(a.row, a.x, a.turn) < std::tie(b.row, b.x, b.turn);
    });
    covered_.assign(grid_.flat(grid_.size - 1) + 1, 0.0);
    good_rows_.assign(static_cast<std::size_t>(grid_.size.y) * grid_.size.z, 0);
    std::size_t begin = 0;
    for (std::uint32_t row = 0; row < static_cast<std::uint32_t>(rows_y_ * rows_z_); ++row) {
      std::size_t end = begin;
      while (end < crossings_.size() && crossings_[end].row == row) ++end;
      measure_row(row, begin, end);
      begin = end;
    }
    std::vector<float> share(covered_.size());
    for (std::size_t cell = 0; cell < share.size(); ++cell) {
      const int rows = good_rows_[cell / grid_.size.x];
      share[cell] = rows == 0 ? 0.f : static_cast<float>(std::clamp(covered_[cell] / (rows * grid_.spacing), 0.0, 1.0));
    }
    return share;
  }

 private:
  double pitch() const { return grid_.spacing / kRowsPerSide; }
  double row_y(int j) const { return grid_.origin.y + (j + 0.5) * pitch(); }
  double row_z(int k) const { return grid_.origin.z + (k + 0.5) * pitch(); }

  // The first row, or one slightly before it, that can meet a face whose lowest corner is `p`.
  glm::ivec2 first_row(const glm::dvec3& p) const {
    return glm::max(
        glm::ivec2(glm::floor((glm::dvec2(p.y, p.z) - glm::dvec2(grid_.origin.y, grid_.origin.z)) / pitch())), 0);
  }

  void cross(const Triangle& t, int j, int k) {
    const double y = row_y(j), z = row_z(k);
    const EdgeSide ab = side_of_row(t.a, t.b, y, z), bc = side_of_row(t.b, t.c, y, z), ca = side_of_row(t.c, t.a, y, z);
    if (ab.left != bc.left || bc.left != ca.left) return;
    const double area = ab.area + bc.area + ca.area;
    if (area == 0.0) return;
    // A face that is counter-clockwise in yz has its outside towards +x: the row leaves the organ there.
    const double x = (bc.area * t.a.x + ca.area * t.b.x + ab.area * t.c.x) / area;
    crossings_.push_back({static_cast<std::uint32_t>(k * rows_y_ + j), ab.left ? -1.f : 1.f, x});
  }

  // When the crossings of a row do not cancel, a rounding error occurred: the row is excluded from the cells' average.
  void measure_row(std::uint32_t row, std::size_t begin, std::size_t end) {
    float turns = 0.f;
    for (std::size_t i = begin; i < end; ++i) turns += crossings_[i].turn;
    if (turns != 0.f) return;
    const int j = static_cast<int>(row) % rows_y_ / kRowsPerSide, k = static_cast<int>(row) / rows_y_ / kRowsPerSide;
    ++good_rows_[static_cast<std::size_t>(k) * grid_.size.y + j];
    float winding = 0.f;
    for (std::size_t i = begin; i + 1 < end; ++i) {
      winding += crossings_[i].turn;
      if (winding > 0.f) cover(crossings_[i].x, crossings_[i + 1].x, grid_.flat({0, j, k}));
    }
  }

  // Adds the stretch from `low` to `high` to the cells of the row that begins with cell `first`.
  void cover(double low, double high, std::size_t first) {
    const double from = (low - grid_.origin.x) / grid_.spacing, to = (high - grid_.origin.x) / grid_.spacing;
    const int begin = std::max(static_cast<int>(std::floor(from)), 0);
    for (int i = begin; i < grid_.size.x && i < to; ++i)
      covered_[first + i] += grid_.spacing * std::max(std::min(to, i + 1.0) - std::max(from, i + 0.0), 0.0);
  }

  const Lattice& grid_;
  int rows_y_, rows_z_;
  std::vector<EdgeCrossing> crossings_;
  std::vector<double> covered_;  // [cell of the grid] m of row inside the organ, summed over all rows
  std::vector<int> good_rows_;   // [row of cells] rows that were measured
};

}  // namespace

std::vector<float> measure_volume_fractions(const MeshView& organ, const Lattice& grid) {
  RowScan scan(grid);
  for (const glm::uvec3& face : organ.faces) scan.add(triangle_of(organ.positions, face));
  return scan.volume_fraction();
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
