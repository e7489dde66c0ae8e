#include "study/shapes/superquadric.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "geometry/error.hpp"

namespace trocar {
namespace {

constexpr std::size_t kSteps = 4096;

double parameter_of(std::size_t step) { return static_cast<double>(step) / kSteps; }

// Returns a point between the axis (t = 0) and the corner (t = 1). Up to n = 1 it goes by the polar angle, above by the
// angle of the formula: each gives even points where the other does not; at n = 1 they are equal.
glm::dvec2 point_at(double exponent, double t) {
  const double angle = t * 0.25 * std::numbers::pi;
  if (exponent > 1.0) return {std::pow(std::cos(angle), exponent), std::pow(std::sin(angle), exponent)};
  const double slope = std::tan(angle), power = 2.0 / exponent;
  const double x = std::pow(1.0 + std::pow(slope, power), -1.0 / power);
  return {x, x * slope};
}

}  // namespace

QuarterCurve::QuarterCurve(const Superellipse& shape) : exponent_(shape.exponent) {
  const glm::dvec2 sizes[2] = {{shape.a, shape.b}, {shape.b, shape.a}};
  for (int side = 0; side < 2; ++side) {
    Half& half = half_[side];
    half.length.assign(kSteps + 1, 0.0);
    glm::dvec2 before(sizes[side].x, 0.0);
    for (std::size_t i = 1; i <= kSteps; ++i) {
      const glm::dvec2 here = sizes[side] * point_at(exponent_, parameter_of(i));
      half.length[i] = half.length[i - 1] + glm::distance(before, here);
      if (here.y < shape.least_offset && i < kSteps / 2) half.first = half.length[i];
      before = here;
    }
  }
}

// Pieces of equal length; the first one is longer at a cusp.
std::vector<glm::dvec2> QuarterCurve::cut_half(const Half& half, std::size_t pieces) const {
  std::vector<glm::dvec2> points{{1.0, 0.0}};
  const double first = std::max(half.length.back() / static_cast<double>(pieces), half.first);
  for (std::size_t i = 0; i + 1 < pieces; ++i) {
    const double rest = (half.length.back() - first) / static_cast<double>(pieces - 1);
    const double wanted = first + rest * static_cast<double>(i);
    const auto above = std::upper_bound(half.length.begin() + 1, half.length.end() - 1, wanted);
    const auto step = static_cast<std::size_t>(above - half.length.begin());
    const double low = half.length[step - 1], part = std::clamp((wanted - low) / (half.length[step] - low), 0.0, 1.0);
    points.push_back(point_at(exponent_, parameter_of(step - 1) + part / kSteps));
  }
  points.emplace_back(std::pow(2.0, -0.5 * exponent_));
  return points;
}

QuarterPoints QuarterCurve::cut(std::size_t pieces) const {
  if (pieces == 1) return {{{1.0, 0.0}, {0.0, 1.0}}, 0};
  const double share = std::round(static_cast<double>(pieces) * half_[0].length.back() / length());
  const std::size_t low = std::clamp<std::size_t>(static_cast<std::size_t>(share), 1, pieces - 1);
  QuarterPoints quarter{cut_half(half_[0], low), low};
  const std::vector<glm::dvec2> high = cut_half(half_[1], pieces - low);
  for (std::size_t i = high.size() - 1; i-- > 0;) quarter.points.emplace_back(high[i].y, high[i].x);
  return quarter;
}

namespace {

constexpr int kFewestFaces = 32, kMostFaces = 4000000;
constexpr double kLeastExponent = 0.1, kMostExponent = 4.0;
constexpr double kLeastSize = 1e-4, kMostSize = 1.0, kMostRatio = 100.0;  // m, m, 1
constexpr double kLeastHole = 0.01, kMostHole = 0.99;                     // 1  of size.x
// Least thickness of a cusp as a fraction of the largest size: 32 times the least height of a face with area
// (exact_sign.hpp).
constexpr double kThinnest = 0x1p-15;
// Least height, as a fraction of the row's radius, of a face seen from above where the number of columns changes.
constexpr double kLeastHeight = 1e-9;
// A row gets half the columns when its cells would be narrower than this fraction of their height.
constexpr double kNarrow = 0.7;
// Relative error of the face count below which only the cells' shape matters.
constexpr double kCloseEnough = 0.01;
// Penalty for cells twice as long as wide, as a relative error of the face count, divided by log 2.
constexpr double kSquareness = 0.06;

bool is_toroid(const SuperquadricParams& p) { return p.kind == SuperquadricKind::Toroid; }

void require(bool sound, const char* sentence) {
  if (!sound) throw InputError(sentence);
}

void check(const SuperquadricParams& p) {
  if (p.faces < kFewestFaces || p.faces > kMostFaces)
    throw InputError("a superquadric of " + std::to_string(p.faces) + " faces cannot be made; ask for " +
                     std::to_string(kFewestFaces) + " to " + std::to_string(kMostFaces));
  for (int i = 0; i < 3; ++i)
    require(p.size[i] >= kLeastSize && p.size[i] <= kMostSize, "each half size must be between 0.1 and 1000 mm");
  require(std::max({p.size.x, p.size.y, p.size.z}) <= kMostRatio * std::min({p.size.x, p.size.y, p.size.z}),
          "no half size may be more than 100 times another");
  for (const double e : {p.profile_exponent, p.outline_exponent})
    require(e >= kLeastExponent && e <= kMostExponent, "each exponent must be between 0.1 and 4");
  require(!is_toroid(p) || (p.hole >= kLeastHole * p.size.x && p.hole <= kMostHole * p.size.x),
          "the hole must be between 1 and 99 % of the half size along x");
}

// Mean radius of the ring and half width of its tube, as fractions of size.x; 0 and 1 for an ellipsoid.
struct Ring {
  double middle, half_width;
};

Ring ring_of(const SuperquadricParams& p) {
  const double hole = p.hole / p.size.x;
  return is_toroid(p) ? Ring{0.5 * (1.0 + hole), 0.5 * (1.0 - hole)} : Ring{0.0, 1.0};
}

// ---- the net: rows of similar outlines, each with the columns of its level ----

using Columns = std::vector<std::size_t>;  // indices of outline points; each level is a subset of the previous one

struct Row {
  double radius, height;  // 1  of size.x and size.y; of size.z
  std::size_t level = 0;
};

struct Net {
  std::vector<glm::dvec2> outline;  // [point] 1  a quarter
  std::vector<Columns> levels;
  std::vector<Row> rows;  // upper half, from the pole or the inner edge of the ring to the equator

  std::size_t pieces(const Row& row) const { return levels[row.level].size() - 1; }
};

// Returns every second column; always keeps the corner and the ends.
Columns coarser(const Columns& fine, std::size_t corner) {
  Columns kept;
  std::size_t since_fixed = 0;
  for (const std::size_t column : fine) {
    const bool fixed = column == fine.front() || column == fine.back() || column == corner;
    since_fixed = fixed ? 0 : since_fixed + 1;
    if (since_fixed % 2 == 0) kept.push_back(column);
  }
  return kept;
}

bool has_height(const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& c, double least) {
  const glm::dvec2 u = b - a, v = c - a;
  return u.x * v.y - u.y * v.x > least * std::max({glm::length(u), glm::length(v), glm::length(u - v)});
}

// Calls visit(a, b, c) for the triangles between two rows, counter-clockwise as seen from above in the first quadrant.
// A corner is {true for the outer row, index among the columns of its level}.
struct NetCorner {
  bool outer;
  std::size_t index;
};

template <class Visit>
void for_each_triangle(const Columns& inner, const Columns& outer, Visit visit) {
  for (std::size_t i = 0, o = 0; i + 1 < inner.size(); ++i) {
    std::size_t end = o + 1;
    while (outer[end] != inner[i + 1]) ++end;
    const std::size_t middle = (o + end + 1) / 2;
    for (; o < middle; ++o) visit(NetCorner{false, i}, NetCorner{true, o}, NetCorner{true, o + 1});
    visit(NetCorner{false, i}, NetCorner{true, middle}, NetCorner{false, i + 1});
    for (; o < end; ++o) visit(NetCorner{false, i + 1}, NetCorner{true, o}, NetCorner{true, o + 1});
  }
}

// Does every triangle between the rows keep its orientation seen from above? Then the surface is a graph there and
// cannot fold, even for a concave outline.
bool strip_is_sound(const Net& net, const Row& inner, const Row& outer) {
  const Columns &in = net.levels[inner.level], &out = net.levels[outer.level];
  bool sound = true;
  for_each_triangle(in, out, [&](NetCorner a, NetCorner b, NetCorner c) {
    const auto at = [&](NetCorner n) {
      return n.outer ? outer.radius * net.outline[out[n.index]] : inner.radius * net.outline[in[n.index]];
    };
    sound = sound && has_height(at(a), at(b), at(c), kLeastHeight * outer.radius);
  });
  return sound;
}

// Chooses the level of each row, from the equator inwards. quarter: length of the outline, m; tall: mean distance of
// the rows, m.
void choose_levels(Net& net, double quarter, double tall) {
  for (std::size_t k = net.rows.size() - 1; k-- > 0;) {
    Row &row = net.rows[k], &outer = net.rows[k + 1];
    row.level = outer.level;
    const auto wide = [&] { return row.radius * quarter / static_cast<double>(net.pieces(row)); };
    while (row.radius > 0.0 && row.level + 1 < net.levels.size() && wide() < kNarrow * tall) {
      ++row.level;
      if (strip_is_sound(net, row, outer)) continue;
      --row.level;
      break;
    }
  }
}

std::size_t face_count(const Net& net) {
  std::size_t eighth = 0;
  for (std::size_t k = 0; k + 1 < net.rows.size(); ++k)
    eighth += net.pieces(net.rows[k + 1]) + (net.rows[k].radius > 0.0 ? net.pieces(net.rows[k]) : 0);
  return 8 * eighth;
}

class NetMaker {
 public:
  explicit NetMaker(const SuperquadricParams& p)
      : toroid_(is_toroid(p)),
        ring_(ring_of(p)),
        outline_({p.size.x, p.size.y, p.outline_exponent, thinnest(p)}),
        profile_({ring_.half_width * width(p), p.size.z, p.profile_exponent,
                  thinnest(p) * width(p) / std::min(p.size.x, p.size.y)}) {}

  // Returns the length in the upper half.
  double profile_length() const { return (toroid_ ? 2.0 : 1.0) * profile_.length(); }
  double outline_length() const { return outline_.length(); }
  std::size_t fewest_strips() const { return toroid_ ? 2 : 1; }

  Net make(std::size_t columns, std::size_t strips) const {
    Net net;
    const QuarterPoints outline = outline_.cut(columns);
    net.outline = outline.points;
    net.levels.emplace_back();
    for (std::size_t i = 0; i <= columns; ++i) net.levels[0].push_back(i);
    for (Columns next = coarser(net.levels[0], outline.corner); next.size() < net.levels.back().size();
         next = coarser(next, outline.corner))
      net.levels.push_back(next);
    if (toroid_) {
      for (const glm::dvec2& p : profile_.cut(strips / 2).points)
        net.rows.push_back({ring_.middle - ring_.half_width * p.x, p.y});
      net.rows.pop_back();
      strips -= strips / 2;
    }
    const QuarterPoints profile = profile_.cut(strips);
    for (auto p = profile.points.rbegin(); p != profile.points.rend(); ++p)
      net.rows.push_back({ring_.middle + ring_.half_width * p->x, p->y});
    choose_levels(net, outline_length(), profile_length() / static_cast<double>(net.rows.size() - 1));
    return net;
  }

 private:
  static double width(const SuperquadricParams& p) { return 0.5 * (p.size.x + p.size.y); }
  static double thinnest(const SuperquadricParams& p) { return kThinnest * std::max({p.size.x, p.size.y, p.size.z}); }

  bool toroid_;
  Ring ring_;
  QuarterCurve outline_, profile_;
};

std::size_t whole(double x, std::size_t least) { return std::max(static_cast<std::size_t>(std::lround(x)), least); }

// Returns the net with nearly the wanted number of faces and nearly square cells.
Net net_of(const NetMaker& maker, double wanted) {
  // Spacing of points that gives this number: the number is inversely proportional to its square.
  double apart = std::sqrt(16.0 * maker.profile_length() * maker.outline_length() / wanted);
  const auto columns_at = [&] { return whole(maker.outline_length() / apart, 1); };
  const auto strips_at = [&] { return whole(maker.profile_length() / apart, maker.fewest_strips()); };
  for (int i = 0; i < 6; ++i)
    apart *= std::sqrt(static_cast<double>(face_count(maker.make(columns_at(), strips_at()))) / wanted);
  const std::size_t middle = columns_at();
  Net best;
  double least_cost = 1e30;
  for (std::size_t k = 0; k <= 40; ++k) {
    const std::size_t step = (k + 1) / 2 * (1 + middle / 200);
    if (k % 2 == 1 && step >= middle) continue;
    const std::size_t columns = k % 2 == 1 ? middle - step : middle + step;
    const double oblong = kSquareness * std::abs(std::log(static_cast<double>(columns) / static_cast<double>(middle)));
    if (oblong + kCloseEnough >= least_cost) continue;
    std::size_t strips = strips_at();
    for (int i = 0; i < 3; ++i) {
      Net net = maker.make(columns, strips);
      const double ratio = static_cast<double>(face_count(net)) / wanted;
      const double cost = oblong + std::max(std::abs(ratio - 1.0), kCloseEnough);
      strips = whole(static_cast<double>(strips) / ratio, maker.fewest_strips());
      if (cost >= least_cost) continue;
      least_cost = cost;
      best = std::move(net);
    }
  }
  return best;
}

// ---- the net as a mesh ----

class NetMesh {
 public:
  NetMesh(const Net& net, const glm::dvec3& size) : net_(net), size_(size) {}

  TriangleMesh make() {
    const std::size_t count = net_.rows.size();
    std::vector<std::uint32_t> upper(count), lower(count);
    for (std::size_t k = 0; k < count; ++k) upper[k] = add_row(net_.rows[k], 1.0);
    for (std::size_t k = count; k-- > 0;) {
      const bool shared = net_.rows[k].height == 0.0;  // the equator, the inner edge of the ring
      lower[k] = shared ? upper[k] : add_row(net_.rows[k], -1.0);
    }
    for (std::size_t k = 0; k + 1 < count; ++k) add_strip(k, upper, false);
    for (std::size_t k = count - 1; k-- > 0;) add_strip(k, lower, true);
    return std::move(mesh_);
  }

 private:
  // Adds one full turn, counter-clockwise from the x axis. Odd quarters traverse the columns backwards.
  std::uint32_t add_row(const Row& row, double side) {
    const auto first = static_cast<std::uint32_t>(mesh_.positions.size());
    const double z = side * row.height * size_.z;
    if (row.radius == 0.0) {
      mesh_.positions.emplace_back(0.f, 0.f, static_cast<float>(z));
      return first;
    }
    constexpr glm::dvec2 kQuarter[4] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    const std::size_t pieces = net_.pieces(row);
    for (std::size_t i = 0; i < 4 * pieces; ++i) {
      const std::size_t quarter = i / pieces, within = i % pieces;
      const std::size_t column = net_.levels[row.level][quarter % 2 == 0 ? within : pieces - within];
      const glm::dvec2 p = row.radius * kQuarter[quarter] * net_.outline[column] * glm::dvec2(size_);
      mesh_.positions.emplace_back(glm::dvec3(p, z));
    }
    return first;
  }

  std::uint32_t vertex(const Row& row, std::uint32_t first, std::size_t quarter, std::size_t index) const {
    if (row.radius == 0.0) return first;
    const std::size_t pieces = net_.pieces(row);
    const std::size_t offset = quarter % 2 == 0 ? quarter * pieces + index : (quarter + 1) * pieces - index;
    return first + static_cast<std::uint32_t>(offset % (4 * pieces));
  }

  void add_strip(std::size_t k, const std::vector<std::uint32_t>& first, bool below) {
    const Row &inner = net_.rows[k], &outer = net_.rows[k + 1];
    const bool pole = inner.radius == 0.0;
    const Columns &out = net_.levels[outer.level], &in = pole ? out : net_.levels[inner.level];
    for (std::size_t quarter = 0; quarter < 4; ++quarter) {
      const auto number = [&](NetCorner n) {
        return n.outer ? vertex(outer, first[k + 1], quarter, n.index) : vertex(inner, first[k], quarter, n.index);
      };
      for_each_triangle(in, out, [&](NetCorner a, NetCorner b, NetCorner c) {
        if (pole && !a.outer && !c.outer) return;  // both are the pole
        glm::uvec3 face(number(a), number(b), number(c));
        if ((quarter % 2 == 1) != below) std::swap(face.y, face.z);
        mesh_.faces.push_back(face);
      });
    }
  }

  const Net& net_;
  glm::dvec3 size_;
  TriangleMesh mesh_;
};

// ---- formulas ----

// Returns (u^(2/e) + v^(2/e))^(e/2) for u, v >= 0.
double power_sum(double u, double v, double e) {
  const double larger = std::max(u, v), smaller = std::min(u, v);
  return larger > 0.0 ? larger * std::pow(1.0 + std::pow(smaller / larger, 2.0 / e), 0.5 * e) : 0.0;
}

// Returns the area inside a superellipse with both half sizes 1.
double unit_area(double e) { return 4.0 * std::pow(std::tgamma(1.0 + 0.5 * e), 2.0) / std::tgamma(1.0 + e); }

}  // namespace

TriangleMesh make_superquadric(const SuperquadricParams& params) {
  check(params);
  return NetMesh(net_of(NetMaker(params), params.faces), params.size).make();
}

double superquadric_radius(const SuperquadricParams& params, const glm::dvec3& point) {
  const glm::dvec3 p = glm::abs(point / params.size);
  const Ring ring = ring_of(params);
  const double across = std::abs(power_sum(p.x, p.y, params.outline_exponent) - ring.middle) / ring.half_width;
  return power_sum(across, p.z, params.profile_exponent);
}

double superquadric_volume(const SuperquadricParams& params) {
  const double box = params.size.x * params.size.y * params.size.z, e = params.profile_exponent;
  const Ring ring = ring_of(params);
  const double rows = is_toroid(params)
                          ? 2.0 * ring.middle * ring.half_width * unit_area(e)
                          : 2.0 * std::tgamma(1.0 + 0.5 * e) * std::tgamma(1.0 + e) / std::tgamma(1.0 + 1.5 * e);
  return box * unit_area(params.outline_exponent) * rows;
}

}  // namespace trocar
