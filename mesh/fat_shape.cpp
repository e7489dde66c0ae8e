#include "mesh/fat_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>

#include "geometry/closest.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using glm::ivec3;

constexpr int kAlong = 10, kAcross = 4;  // squares of the patch, along its lines and between two of them
constexpr double kRise = 0.35;           // lobules  height of a lobule's middle above its border
constexpr double kJitter = 0.7;          // lobules  of the middles, from a regular grid
constexpr double kLeastNodes = 3.0;      // spacings that the body is thick at least
constexpr double kLeastLobule = 2.0;     // spacings between two lobules at least
constexpr int kSteps = 3;                // towards the surface
constexpr double kMargin = 3.0;          // spacings around the body

double length_of(const std::vector<dvec3>& line) {
  double sum = 0.0;
  for (std::size_t k = 1; k < line.size(); ++k) sum += glm::distance(line[k - 1], line[k]);
  return sum;
}

// Returns the point at a share of a line's length.
dvec3 point_at(const std::vector<dvec3>& line, double share) {
  double along = share * length_of(line);
  for (std::size_t k = 1; k < line.size(); ++k) {
    const double piece = glm::distance(line[k - 1], line[k]);
    if (along <= piece && piece > 0.0) return glm::mix(line[k - 1], line[k], along / piece);
    along -= piece;
  }
  return line.back();
}

std::vector<const std::vector<dvec3>*> lines_of(const FatShape& fat) {
  if (fat.through.empty()) return {&fat.from, &fat.to};
  return {&fat.from, &fat.through, &fat.to};
}

// The ruled patch through the lines.
std::vector<closest::Face> patch_of(const FatShape& fat) {
  std::vector<closest::Face> patch;
  const auto lines = lines_of(fat);
  const auto at = [](const std::vector<dvec3>& a, const std::vector<dvec3>& b, int i, int j) {
    const double share = static_cast<double>(i) / kAlong;
    return glm::mix(point_at(a, share), point_at(b, share), static_cast<double>(j) / kAcross);
  };
  for (std::size_t k = 1; k < lines.size(); ++k)
    for (int i = 0; i < kAlong; ++i)
      for (int j = 0; j < kAcross; ++j) {
        const dvec3 a = at(*lines[k - 1], *lines[k], i, j), b = at(*lines[k - 1], *lines[k], i + 1, j),
                    c = at(*lines[k - 1], *lines[k], i + 1, j + 1), d = at(*lines[k - 1], *lines[k], i, j + 1);
        patch.push_back(closest::face({a, b, c}));
        patch.push_back(closest::face({a, c, d}));
      }
  return patch;
}

// Returns a number from 0 to 1 that depends on a cell of the grid of lobules. Mixing: Steele, Lea, Flood, Fast
// splittable pseudorandom number generators, OOPSLA 2014.
double jitter_of(const ivec3& cell, std::uint64_t which) {
  std::uint64_t z = 0x9e3779b97f4a7c15ull * (which + 1);
  for (const int i : {cell.x, cell.y, cell.z}) {
    z += 0x9e3779b97f4a7c15ull + static_cast<std::uint32_t>(i);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
  }
  return static_cast<double>(z >> 11) * 0x1p-53;
}

}  // namespace

double from_lobule(const dvec3& p, double lobule) {
  const dvec3 q = p / lobule, whole = glm::floor(q);
  const ivec3 home(whole);
  double least = INFINITY;
  for (int z = -1; z <= 1; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) {
        const ivec3 cell = home + ivec3(x, y, z);
        const dvec3 shift(jitter_of(cell, 0), jitter_of(cell, 1), jitter_of(cell, 2));
        const dvec3 away = dvec3(cell) + 0.5 + kJitter * (shift - 0.5) - q;
        least = std::min(least, glm::dot(away, away));
      }
  return std::sqrt(least);
}

namespace {

// A triangle of the patch, and a ball around it.
struct PatchFace {
  closest::Face face;
  dvec3 middle;
  double radius;

  explicit PatchFace(const closest::Face& of) : face(of), middle(0.0), radius(0.0) {
    for (const closest::Segment& side : face.side) middle += side.p / 3.0;
    for (const closest::Segment& side : face.side) radius = std::max(radius, glm::distance(middle, side.p));
  }
};

// The distance field of a body.
struct Field {
  std::vector<PatchFace> patch;
  const FatShape& fat;

  explicit Field(const FatShape& of) : fat(of) {
    for (const closest::Face& face : patch_of(fat)) patch.emplace_back(face);
  }

  double from_patch(const dvec3& p) const {
    double least = INFINITY;
    for (const PatchFace& f : patch)
      if (glm::distance(p, f.middle) - f.radius < least)
        least = std::min(least, std::sqrt(closest::closest_axis_face(closest::segment(p, p), f.face).squared));
    return least;
  }
  double operator()(const dvec3& p) const {
    const double away = from_patch(p), half = 0.5 * fat.thickness;
    if (away > half + fat.lobule) return away - half;
    return away - half + kRise * fat.lobule * std::min(from_lobule(p, fat.lobule), 1.0);
  }
  dvec3 gradient(const dvec3& p, double step) const {
    const Field& f = *this;
    const auto along = [&](const dvec3& by) { return (f(p + by) - f(p - by)) / (2.0 * step); };
    return {along({step, 0.0, 0.0}), along({0.0, step, 0.0}), along({0.0, 0.0, step})};
  }
};

// A regular grid around the body.
struct Grid {
  dvec3 low{0.0};
  ivec3 size{0};
  double spacing = 0.0;

  explicit Grid(const FatShape& fat) : spacing(fat.spacing) {
    dvec3 first(INFINITY), last(-INFINITY);
    for (const std::vector<dvec3>* line : lines_of(fat))
      for (const dvec3& p : *line) first = glm::min(first, p), last = glm::max(last, p);
    const double rim = 0.5 * fat.thickness + kMargin * fat.spacing;
    low = first - rim;
    size = ivec3(glm::ceil((last - first + 2.0 * rim) / spacing)) + 1;
  }
  double nodes() const { return double(size.x) * double(size.y) * double(size.z); }
  std::size_t flat(const ivec3& at) const {
    return (static_cast<std::size_t>(at.z) * size.y + at.y) * static_cast<std::size_t>(size.x) + at.x;
  }
  dvec3 point(const ivec3& at) const { return low + spacing * dvec3(at); }
};

template <typename Visit>
void visit(const ivec3& size, Visit&& at) {
  for (int z = 0; z < size.z; ++z)
    for (int y = 0; y < size.y; ++y)
      for (int x = 0; x < size.x; ++x) at(ivec3(x, y, z));
}

// Changes the sign of values near zero until the nodes inside touch one another, and those outside, by whole faces of
// their cubes, never by an edge or a corner alone: then the surface between them is closed and does not touch itself
// (Latecki, 3D well-composed pictures, Graphical Models and Image Processing 1997).
class Composer {
 public:
  Composer(const Grid& grid, std::vector<double>& value) : grid_(grid), value_(value) {}

  // Returns whether a value has changed.
  bool sweep() {
    changed_ = false;
    visit(grid_.size - 1, [&](const ivec3& cell) { look_at(cell); });
    return changed_;
  }

 private:
  bool inside(const ivec3& at) const { return value_[grid_.flat(at)] < 0.0; }

  void look_at(const ivec3& cell) {
    for (int axis = 0; axis < 3; ++axis)
      for (int far = 0; far < 2; ++far) {
        ivec3 first = cell;
        first[axis] += far;
        ivec3 u(0), v(0);
        u[(axis + 1) % 3] = 1, v[(axis + 2) % 3] = 1;
        if (inside(first) == inside(first + u + v) && inside(first + u) == inside(first + v) &&
            inside(first) != inside(first + u))
          flip({first, first + u + v, first + u, first + v});
      }
    int count = 0;
    for (int k = 0; k < 8; ++k) count += inside(cell + corner(k));
    for (int k = 0; k < 4; ++k) {
      const ivec3 a = cell + corner(k), b = cell + corner(7 - k);
      if (inside(a) == inside(b) && count == (inside(a) ? 2 : 6)) flip({a, b});
    }
  }

  static ivec3 corner(int k) { return {k & 1, k >> 1 & 1, k >> 2 & 1}; }

  // Changes the value nearest to zero.
  void flip(std::initializer_list<ivec3> nodes) {
    const auto size = [&](const ivec3& at) { return std::abs(value_[grid_.flat(at)]); };
    double& value = value_[grid_.flat(std::ranges::min(nodes, {}, size))];
    value = value < 0.0 ? 1e-3 * grid_.spacing : -1e-3 * grid_.spacing;
    changed_ = true;
  }

  const Grid& grid_;
  std::vector<double>& value_;
  bool changed_ = false;
};

void make_composed(const Grid& grid, std::vector<double>& value) {
  constexpr int kMostSweeps = 20;
  Composer composer(grid, value);
  for (int k = 0; k < kMostSweeps && composer.sweep(); ++k) {
  }
}

// Surface nets: one vertex in each cell that the surface passes, a square across each edge that it crosses.
struct Nets {
  const Grid& grid;
  const std::vector<double>& value;
  std::vector<std::uint32_t> vertex_of;  // [cell] by the flat index of its lowest node
  std::vector<dvec3> points;
  std::vector<glm::uvec3> faces;

  static constexpr std::uint32_t kNone = 0xffffffffu;

  Nets(const Grid& on, const std::vector<double>& values) : grid(on), value(values), vertex_of(values.size(), kNone) {
    visit(grid.size - 1, [&](const ivec3& cell) { add_vertex(cell); });
    visit(grid.size - 1, [&](const ivec3& at) {
      for (int axis = 0; axis < 3; ++axis) add_square(at, axis);
    });
  }

  bool inside(const ivec3& at) const { return value[grid.flat(at)] < 0.0; }

  // The mean of the places where the surface crosses the cell's edges.
  void add_vertex(const ivec3& cell) {
    dvec3 sum(0.0);
    int crossings = 0;
    for (int corner = 0; corner < 8; ++corner)
      for (int axis = 0; axis < 3; ++axis) {
        if (corner >> axis & 1) continue;
        const ivec3 a = cell + ivec3(corner & 1, corner >> 1 & 1, corner >> 2 & 1);
        ivec3 b = a;
        ++b[axis];
        if (inside(a) == inside(b)) continue;
        const double first = value[grid.flat(a)], last = value[grid.flat(b)];
        sum += glm::mix(grid.point(a), grid.point(b), first / (first - last));
        ++crossings;
      }
    if (crossings == 0) return;
    vertex_of[grid.flat(cell)] = static_cast<std::uint32_t>(points.size());
    points.push_back(sum / static_cast<double>(crossings));
  }

  // The four cells around an edge that the surface crosses; the shorter diagonal divides the square.
  void add_square(const ivec3& at, int axis) {
    ivec3 end = at;
    ++end[axis];
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    if (at[u] == 0 || at[v] == 0 || inside(at) == inside(end)) return;
    std::array<std::uint32_t, 4> corner{};
    for (int k = 0; k < 4; ++k) {
      ivec3 cell = at;
      if (k == 0 || k == 3) --cell[u];
      if (k < 2) --cell[v];
      corner[k] = vertex_of[grid.flat(cell)];
    }
    if (!inside(at)) std::swap(corner[1], corner[3]);
    const auto apart = [&](int a, int b) { return glm::distance(points[corner[a]], points[corner[b]]); };
    if (apart(0, 2) <= apart(1, 3)) {
      faces.emplace_back(corner[0], corner[1], corner[2]), faces.emplace_back(corner[0], corner[2], corner[3]);
    } else {
      faces.emplace_back(corner[0], corner[1], corner[3]), faces.emplace_back(corner[1], corner[2], corner[3]);
    }
  }
};

// Does each edge have two faces, in opposite directions?
bool is_closed(const std::vector<glm::uvec3>& faces) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> count;
  for (const glm::uvec3& f : faces)
    for (int i = 0; i < 3; ++i) ++count[{f[i], f[(i + 1) % 3]}];
  return std::ranges::all_of(count, [&](const auto& edge) {
    const auto back = count.find({edge.first.second, edge.first.first});
    return edge.second == 1 && back != count.end() && back->second == 1;
  });
}

struct Body {
  std::vector<dvec3> points;
  std::vector<glm::uvec3> faces;
};

Body body_of(const FatShape& fat) {
  const Grid grid(fat);
  const Field field(fat);
  std::vector<double> value(static_cast<std::size_t>(grid.nodes()));
  visit(grid.size, [&](const ivec3& at) { value[grid.flat(at)] = field(grid.point(at)); });
  make_composed(grid, value);
  Nets nets(grid, value);
  for (dvec3& p : nets.points)
    for (int step = 0; step < kSteps; ++step) {
      const dvec3 g = field.gradient(p, 0.1 * fat.spacing);
      const double square = glm::dot(g, g), most = 0.25 * fat.spacing;
      if (square > 0.25) p -= std::clamp(field(p) / square, -most, most) * g;
    }
  return {std::move(nets.points), std::move(nets.faces)};
}

}  // namespace

std::string fat_fault(const FatShape& fat) {
  for (const std::vector<dvec3>* line : lines_of(fat))
    if (line->size() < 2 || !(length_of(*line) > 0.0)) return "a line needs two points that differ";
  if (!(fat.thickness >= kLeastNodes * fat.spacing))
    return fmt::format("its vertices are too wide apart for its thickness; at most {:.2g} mm",
                       1e3 * fat.thickness / kLeastNodes);
  if (!(fat.lobule >= kLeastLobule * fat.spacing))
    return fmt::format("its vertices are too wide apart for its lobules; at most {:.2g} mm",
                       1e3 * fat.lobule / kLeastLobule);
  if (2.0 * kRise * fat.lobule > 0.5 * fat.thickness)
    return fmt::format("its lobules are too wide for its thickness; at most {:.2g} mm",
                       1e3 * fat.thickness / (4.0 * kRise));
  if (Grid(fat).nodes() > kMostFatNodes) return "it has too many vertices; make it smaller or space them wider";
  if (!is_closed(body_of(fat).faces)) return "its surface touches itself; move its lines apart or make it thicker";
  return "";
}

TriangleMesh fat_surface(const FatShape& fat) {
  const Body body = body_of(fat);
  TriangleMesh mesh;
  for (const dvec3& p : body.points) mesh.positions.emplace_back(p);
  mesh.faces = body.faces;
  return mesh;
}

double fat_distance(const FatShape& fat, const glm::dvec3& p) { return Field(fat)(p); }

}  // namespace trocar
