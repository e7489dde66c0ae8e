// Computes the fullness of each lattice cell: finds the crossings of rows along x with the surface, and the winding
// number between crossings.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "deform/solid/lattice.hpp"

namespace trocar {
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

  std::vector<float> fullness() {
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

std::vector<float> measure_fullness(const MeshView& organ, const Lattice& grid) {
  RowScan scan(grid);
  for (const glm::uvec3& face : organ.faces) scan.add(triangle_of(organ.positions, face));
  return scan.fullness();
}

}  // namespace trocar
