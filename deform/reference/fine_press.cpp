#include "deform/reference/fine_press.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

using glm::dmat3;
using glm::dvec2;
using glm::dvec3;
using std::numbers::pi;

// This share of the pressure follows the volume at each point, the rest the brick's mean: with the mean alone, bricks
// under large strain warp like hourglasses; without it they lock.
constexpr double kAtPoints = 0.25;
// Points across a face of the top, along each side, at which it presses.
constexpr int kAcross = 3, kPoints = kAcross * kAcross;
// The foundation: pressure over depth, times the finest element, over Young's modulus.
constexpr double kFoundation = 40.0;
// A balance: the energy that the next step of Newton's method promises, over that of the press.
constexpr double kBalanced = 1e-6;
constexpr double kResidual = 0.02;  // of the conjugate gradients, over the slope
constexpr int kMostSteps = 25, kMostGradients = 3000, kMostShortened = 12;
// The shape advances by at most this much of its radius and of its depth in one go; halved where no balance is found.
constexpr double kOfRadius = 0.4, kOfDepth = 0.2;
constexpr int kMostCuts = 2;
// A point that is deeper in the shape than this share of its radius has been passed by it.
constexpr double kPassed = 0.3;

// Lines of elements from 0 to `length`: of size `finest` between `from` and `to`, growing by `growth` of the distance.
std::vector<double> lines_of(double length, dvec2 fine, const PressElements& elements) {
  constexpr int kSteps = 20000;
  std::vector<double> count{0.0};
  for (int k = 0; k < kSteps; ++k) {
    const double at = length * (k + 0.5) / kSteps, away = std::max({0.0, fine.x - at, at - fine.y});
    count.push_back(count.back() + length / kSteps / (elements.finest + elements.growth * away));
  }
  const auto n = static_cast<std::size_t>(std::max(1.0, std::ceil(count.back())));
  std::vector<double> lines{0.0};
  for (std::size_t k = 1; k < n; ++k) {
    const double wanted = count.back() * static_cast<double>(k) / static_cast<double>(n);
    const auto after = std::lower_bound(count.begin(), count.end(), wanted);
    lines.push_back(length * static_cast<double>(after - count.begin()) / kSteps);
  }
  lines.push_back(length);
  return lines;
}

// The distance of a point from the outline of a prism, negative inside, and the direction to the point.
struct Away {
  double distance;
  dvec3 direction;
};

// Of a point of the plane of the outline.
Away away_from(std::span<const dvec2> outline, const dvec2& p) {
  const std::size_t n = outline.size();
  double nearest = INFINITY, inside = -INFINITY;
  dvec2 closest = outline[0], out(0.0);
  for (std::size_t k = 0; k < n; ++k) {
    const dvec2 a = outline[k], along = outline[(k + 1) % n] - a;
    const double square = glm::dot(along, along);
    const dvec2 q = a + (square > 0.0 ? std::clamp(glm::dot(p - a, along) / square, 0.0, 1.0) : 0.0) * along;
    if (glm::distance(p, q) < nearest) nearest = glm::distance(p, q), closest = q;
    if (n < 3) continue;
    const dvec2 normal = dvec2(along.y, -along.x) / std::sqrt(square);
    if (glm::dot(p - a, normal) > inside) inside = glm::dot(p - a, normal), out = normal;
  }
  if (n > 2 && inside < 0.0) return {inside, {out.x, 0.0, out.y}};
  const dvec2 to = nearest > 0.0 ? (p - closest) / nearest : dvec2(0.0, -1.0);
  return {nearest, {to.x, 0.0, to.y}};
}

Away away_from(const PressShape& shape, const dvec3& p, bool endless) {
  const Away across = away_from(shape.outline, {p.x, p.z});
  const double along = endless ? 0.0 : std::max(std::abs(p.y) - shape.half_length, 0.0);
  if (!(along > 0.0)) return across;
  const double beside = std::max(across.distance, 0.0), distance = elementary::hypot(beside, along);
  return {distance, (beside * across.direction + dvec3(0.0, std::copysign(along, p.y), 0.0)) / distance};
}

// Gradients of the eight shape functions at the eight points of Gauss of a brick. [point][corner] 1/m
using Gradients = std::array<std::array<dvec3, 8>, 8>;
Gradients gradients_of(const dvec3& size) {
  const double g = 0.5 / std::numbers::sqrt3;
  Gradients found;
  for (int point = 0; point < 8; ++point)
    for (int corner = 0; corner < 8; ++corner) {
      dvec3 value, slope;
      for (int k = 0; k < 3; ++k) {
        const double side = (corner >> k & 1) ? 1.0 : -1.0, at = (point >> k & 1) ? g : -g;
        value[k] = 0.5 + side * at, slope[k] = side / size[k];
      }
      found[static_cast<std::size_t>(point)][static_cast<std::size_t>(corner)] = {
          slope.x * value.y * value.z, value.x * slope.y * value.z, value.x * value.y * slope.z};
    }
  return found;
}

// Lame's constants.
struct Lame {
  double mu, lambda;  // Pa
};

// The energy of a brick, with slope and curvature: [corner], [corner][corner].
struct Brick {
  double energy = 0.0;  // J
  std::array<dvec3, 8> slope{};
  std::array<std::array<dmat3, 8>, 8> curvature{};
};

// The shear of one point; and of its volume the share J g of the slope, g = F^-T grad N.
struct AtPoint {
  double energy, volume;  // J/m^3, 1
  dmat3 stress;           // Pa
  dmat3 turn;             // F^-T
};

AtPoint finite_at(const dmat3& f, const Lame& lame) {
  const double volume = glm::determinant(f);
  if (!(volume > 0.0)) return {INFINITY, volume, {}, {}};
  const dmat3 turn = glm::transpose(glm::inverse(f));
  const double square = glm::dot(f[0], f[0]) + glm::dot(f[1], f[1]) + glm::dot(f[2], f[2]);
  return {0.5 * lame.mu * (square - 3.0 - 2.0 * elementary::log(volume)), volume, lame.mu * (f - turn), turn};
}

AtPoint linear_at(const dmat3& f, const Lame& lame) {
  const dmat3 strain = 0.5 * (f + glm::transpose(f)) - dmat3(1.0);
  double square = 0.0;
  for (int k = 0; k < 3; ++k) square += glm::dot(strain[k], strain[k]);
  return {lame.mu * square, 1.0 + strain[0][0] + strain[1][1] + strain[2][2], 2.0 * lame.mu * strain, dmat3(1.0)};
}

// x: [corner] m. Without `curvature` only energy and slope. The energy is infinite where the brick is turned inside
// out.
Brick brick_of(const std::array<dvec3, 8>& x, const dvec3& size, const Lame& lame, PressedSolid solid, bool curvature) {
  const Gradients gradients = gradients_of(size);
  const double whole = size.x * size.y * size.z, weight = whole / 8.0;
  const bool finite = solid == PressedSolid::Finite;
  Brick brick;
  std::array<AtPoint, 8> at;
  std::array<std::array<dvec3, 8>, 8> turned;
  std::array<dvec3, 8> swell{};
  double volume = 0.0;
  for (std::size_t q = 0; q < 8; ++q) {
    dmat3 f(0.0);
    for (std::size_t a = 0; a < 8; ++a) f += glm::outerProduct(x[a], gradients[q][a]);
    at[q] = finite ? finite_at(f, lame) : linear_at(f, lame);
    brick.energy += weight * at[q].energy;
    if (!std::isfinite(brick.energy)) return brick;
    volume += at[q].volume / 8.0;
    for (std::size_t a = 0; a < 8; ++a) {
      turned[q][a] = at[q].turn * gradients[q][a];
      brick.slope[a] += weight * (at[q].stress * gradients[q][a]);
    }
  }
  const double of_mean = (1.0 - kAtPoints) * lame.lambda, of_points = kAtPoints * lame.lambda;
  brick.energy += 0.5 * whole * of_mean * (volume - 1.0) * (volume - 1.0);
  std::array<double, 8> pressure, scale;
  for (std::size_t q = 0; q < 8; ++q) {
    const double more = at[q].volume - 1.0;
    brick.energy += 0.5 * weight * of_points * more * more;
    pressure[q] = of_mean * (volume - 1.0) + of_points * more, scale[q] = weight * (finite ? at[q].volume : 1.0);
    for (std::size_t a = 0; a < 8; ++a) {
      swell[a] += scale[q] * turned[q][a];
      brick.slope[a] += pressure[q] * scale[q] * turned[q][a];
    }
  }
  if (!curvature) return brick;
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t b = 0; b <= a; ++b) {
      dmat3 block = of_mean / whole * glm::outerProduct(swell[a], swell[b]);
      double straight = 0.0;
      for (std::size_t q = 0; q < 8; ++q) {
        const dmat3 crossed = glm::outerProduct(turned[q][b], turned[q][a]);
        const double second = finite ? pressure[q] * scale[q] : 0.0;
        straight += weight * lame.mu * glm::dot(gradients[q][a], gradients[q][b]);
        block += (weight * lame.mu - second) * crossed +
                 (second + of_points * scale[q] * scale[q] / weight) * glm::transpose(crossed);
      }
      block += dmat3(straight);
      brick.curvature[a][b] = block;
      if (a != b) brick.curvature[b][a] = glm::transpose(block);
    }
  return brick;
}

// A block of the matrix, in float: it only serves the direction of a step.
using Block = std::array<float, 9>;  // column by column
void add_product(const Block& m, const dvec3& v, dvec3& to) {
  to.x += m[0] * v.x + m[3] * v.y + m[6] * v.z;
  to.y += m[1] * v.x + m[4] * v.y + m[7] * v.z;
  to.z += m[2] * v.x + m[5] * v.y + m[8] * v.z;
}

// A face of the top, with its four corners: x first, then y.
struct TopFace {
  std::array<std::size_t, 4> corner;
  double area;  // m^2
};

// A point of a face that presses: depth in the shape, 0 outside, direction out of the shape, weights of the corners.
struct TopPoint {
  Away in;
  std::array<double, 4> weight;
};

}  // namespace

// The nodes of a quarter of the block, with one layer more around them, which does not move.
struct FinePress::Grid {
  PressedBlock block;
  PressShape shape;
  double finest, height = 0.0;  // m  of an element; of the shape
  Lame lame;
  std::array<std::vector<double>, 3> lines;  // m  x, y; z from 0 down
  std::array<std::size_t, 3> many;           //    nodes along each axis, with the layer around
  std::vector<std::size_t> node;             //    numbers of the nodes, ascending
  std::array<std::ptrdiff_t, 27> to;         //    from a node to those around it
  std::vector<dvec3> rest, x, before;        // [number] m
  std::vector<dvec3> free;                   // [number] 1: it moves along this axis, 0: it does not
  std::vector<TopFace> top;
  std::vector<std::array<Block, 27>> matrix;
  std::vector<dmat3> inverse;  // [number] m/N  of its own block
  double depth = 0.0, depth_before = 0.0;

  Grid(const PressedBlock& b, const PressShape& s, const PressElements& elements);
  std::size_t number(std::size_t i, std::size_t j, std::size_t k) const {
    return ((k + 1) * many[1] + j + 1) * many[0] + i + 1;
  }
  void place_nodes();
  template <class Use>
  void for_bricks(Use&& use) const;
  double energy_of(const std::vector<dvec3>& at, double deep, std::vector<dvec3>* slope);
  template <class Use>
  void for_points(const std::vector<dvec3>& at, double deep, Use&& use) const;
  void assemble(double deep, bool convex);
  void add_bricks();
  void add_contacts(double deep, bool convex);
  void add_block(std::size_t a, std::size_t b, std::size_t place, const dmat3& value);
  void invert();
  void multiply(const std::vector<dvec3>& v, std::vector<dvec3>& to_vector) const;
  void smooth(const std::vector<dvec3>& r, std::vector<dvec3>& z) const;
  std::optional<std::vector<dvec3>> direction(const std::vector<dvec3>& slope, bool convex) const;
  double product(const std::vector<dvec3>& a, const std::vector<dvec3>& b) const;
  std::optional<int> balance(double deep);
  std::optional<PressAnswer> answer() const;
  // The contact of a node of the top: depth in the shape, 0 outside, and the direction out of the shape.
  Away contact(const dvec3& p, double deep) const {
    const Away away = away_from(shape, {p.x, p.y, p.z + deep}, block.plane);
    return {std::max(shape.radius - away.distance, 0.0), away.direction};
  }
  // The curvature of half the square of this depth: a point that slides along a curve leaves it.
  dmat3 contact_curvature(const dvec3& p, double deep) const {
    const Away in = contact(p, deep);
    if (!(in.distance > 0.0)) return dmat3(0.0);
    const double step = 1e-4 * shape.radius;
    dmat3 turns;
    for (int k = 0; k < 3; ++k) {
      dvec3 by(0.0);
      by[k] = step;
      turns[k] = (contact(p + by, deep).direction - contact(p - by, deep).direction) / (2.0 * step);
    }
    return glm::outerProduct(in.direction, in.direction) - 0.5 * in.distance * (turns + glm::transpose(turns));
  }
  double firmness() const { return kFoundation * block.youngs_modulus / finest; }  // Pa/m
};

FinePress::Grid::Grid(const PressedBlock& b, const PressShape& s, const PressElements& elements)
    : block(b), shape(s), finest(elements.finest) {
  const double nu = block.poisson_ratio, mu = 0.5 * block.youngs_modulus / (1.0 + nu);
  lame = {mu, 2.0 * mu * nu / (1.0 - 2.0 * nu)};
  double wide = 0.0;  // where the lowest part of the outline ends
  for (const dvec2& p : shape.outline) height = std::max(height, p.y + shape.radius);
  for (const dvec2& p : shape.outline)
    if (p.y < 1.001 * shape.radius) wide = std::max(wide, p.x);
  const double r = shape.radius, half = 0.5 * block.side;
  const auto around = [r](double edge) { return dvec2(edge > 0.0 ? std::max(edge - r, 0.0) : 0.0, edge + 1.5 * r); };
  lines[0] = lines_of(half, around(wide), elements);
  lines[1] =
      block.plane ? std::vector<double>{0.0, elements.finest} : lines_of(half, around(shape.half_length), elements);
  lines[2] = lines_of(block.height, {0.0, r}, elements);
  place_nodes();
}

void FinePress::Grid::place_nodes() {
  for (std::size_t k = 0; k < 3; ++k) many[k] = lines[k].size() + 2;
  const std::size_t all = many[0] * many[1] * many[2];
  rest.resize(all), free.resize(all);
  for (std::size_t k = 0; k < lines[2].size(); ++k)
    for (std::size_t j = 0; j < lines[1].size(); ++j)
      for (std::size_t i = 0; i < lines[0].size(); ++i) {
        const std::size_t n = number(i, j, k);
        node.push_back(n);
        rest[n] = {lines[0][i], lines[1][j], -lines[2][k]};
        const double held = k + 1 == lines[2].size() ? 0.0 : 1.0;
        free[n] = held * dvec3(i > 0 ? 1.0 : 0.0, j > 0 && !block.plane ? 1.0 : 0.0, 1.0);
        if (k > 0 || i + 1 == lines[0].size() || j + 1 == lines[1].size()) continue;
        top.push_back({{n, number(i + 1, j, 0), number(i, j + 1, 0), number(i + 1, j + 1, 0)},
                       (lines[0][i + 1] - lines[0][i]) * (lines[1][j + 1] - lines[1][j])});
      }
  std::size_t next = 0;
  const auto row = static_cast<std::ptrdiff_t>(many[0]), layer = row * static_cast<std::ptrdiff_t>(many[1]);
  for (std::ptrdiff_t k = -1; k <= 1; ++k)
    for (std::ptrdiff_t j = -1; j <= 1; ++j)
      for (std::ptrdiff_t i = -1; i <= 1; ++i) to[next++] = k * layer + j * row + i;
  x = before = rest;
  matrix.resize(all), inverse.resize(all);
}

// Calls use(corners, size): the numbers of the eight corners of a brick, x first, then y, then upwards.
template <class Use>
void FinePress::Grid::for_bricks(Use&& use) const {
  for (std::size_t k = 0; k + 1 < lines[2].size(); ++k)
    for (std::size_t j = 0; j + 1 < lines[1].size(); ++j)
      for (std::size_t i = 0; i + 1 < lines[0].size(); ++i) {
        std::array<std::size_t, 8> corners;
        for (std::size_t c = 0; c < 8; ++c) corners[c] = number(i + (c & 1), j + (c >> 1 & 1), k + 1 - (c >> 2));
        use(corners,
            dvec3(lines[0][i + 1] - lines[0][i], lines[1][j + 1] - lines[1][j], lines[2][k + 1] - lines[2][k]));
      }
}

double FinePress::Grid::energy_of(const std::vector<dvec3>& at, double deep, std::vector<dvec3>* slope) {
  double energy = 0.0;
  if (slope) slope->assign(rest.size(), dvec3(0.0));
  for_bricks([&](const std::array<std::size_t, 8>& corners, const dvec3& size) {
    if (!std::isfinite(energy)) return;
    std::array<dvec3, 8> here;
    for (std::size_t c = 0; c < 8; ++c) here[c] = at[corners[c]];
    const Brick brick = brick_of(here, size, lame, block.solid, false);
    energy += brick.energy;
    for (std::size_t c = 0; slope && c < 8; ++c) (*slope)[corners[c]] += brick.slope[c];
  });
  for_points(at, deep, [&](const TopFace& face, const TopPoint& point, const dvec3&) {
    const double firm = firmness() * face.area / kPoints;
    energy += 0.5 * firm * point.in.distance * point.in.distance;
    for (std::size_t c = 0; slope && c < 4; ++c)
      (*slope)[face.corner[c]] -= firm * point.weight[c] * point.in.distance * point.in.direction;
  });
  if (slope)
    for (const std::size_t n : node) (*slope)[n] *= free[n];
  return energy;
}

// Calls use(face, point) for the points of the top that are in the shape.
template <class Use>
void FinePress::Grid::for_points(const std::vector<dvec3>& at, double deep, Use&& use) const {
  for (const TopFace& face : top) {
    std::array<dvec3, 4> corner;
    for (std::size_t c = 0; c < 4; ++c) corner[c] = at[face.corner[c]];
    const double lowest = std::min(std::min(corner[0].z, corner[1].z), std::min(corner[2].z, corner[3].z)),
                 highest = std::max(std::max(corner[0].z, corner[1].z), std::max(corner[2].z, corner[3].z));
    if (highest + deep < 0.0 || lowest + deep > height) continue;
    for (int k = 0; k < kPoints; ++k) {
      const int column = k % kAcross, row = k / kAcross;
      const double u = (column + 0.5) / kAcross, v = (row + 0.5) / kAcross;
      const std::array<double, 4> weight{(1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v};
      const dvec3 p = weight[0] * corner[0] + weight[1] * corner[1] + weight[2] * corner[2] + weight[3] * corner[3];
      const TopPoint point{contact(p, deep), weight};
      if (point.in.distance > 0.0) use(face, point, p);
    }
  }
}

void FinePress::Grid::add_block(std::size_t a, std::size_t b, std::size_t place, const dmat3& value) {
  Block& m = matrix[a][place];
  const dvec3 &rows = free[a], &columns = free[b];
  for (int c = 0; c < 3; ++c)
    for (int r = 0; r < 3; ++r)
      m[static_cast<std::size_t>(3 * c + r)] += static_cast<float>(rows[r] * columns[c] * value[c][r]);
}

void FinePress::Grid::add_bricks() {
  std::array<std::array<std::size_t, 8>, 8> place;  // of the block of two corners
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t b = 0; b < 8; ++b) {
      const auto step = [&](unsigned k) { return 1 + (b >> k & 1) - (a >> k & 1); };
      place[a][b] = (2 - step(2)) * 9 + step(1) * 3 + step(0);
    }
  for_bricks([&](const std::array<std::size_t, 8>& corners, const dvec3& size) {
    std::array<dvec3, 8> here;
    for (std::size_t c = 0; c < 8; ++c) here[c] = x[corners[c]];
    const Brick brick = brick_of(here, size, lame, block.solid, true);
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t b = 0; b < 8; ++b) add_block(corners[a], corners[b], place[a][b], brick.curvature[a][b]);
  });
}

void FinePress::Grid::add_contacts(double deep, bool convex) {
  for_points(x, deep, [&](const TopFace& face, const TopPoint& point, const dvec3& p) {
    const dmat3 curvature =
        firmness() * face.area / kPoints *
        (convex ? glm::outerProduct(point.in.direction, point.in.direction) : contact_curvature(p, deep));
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < 4; ++b) {
        const std::size_t along = 1 + (b & 1) - (a & 1), across = 1 + (b >> 1) - (a >> 1);
        add_block(face.corner[a], face.corner[b], 9 + 3 * across + along,
                  point.weight[a] * point.weight[b] * curvature);
      }
  });
}

// `convex`: without the part of the contacts' curvature that may be negative.
void FinePress::Grid::assemble(double deep, bool convex) {
  for (auto& blocks : matrix) blocks = {};
  add_bricks();
  add_contacts(deep, convex);
  for (const std::size_t n : node)
    for (int c = 0; c < 3; ++c)
      if (!(free[n][c] > 0.0)) matrix[n][13][static_cast<std::size_t>(4 * c)] = 1.f;
  invert();
}

void FinePress::Grid::invert() {
  for (const std::size_t n : node) {
    dmat3 own;
    for (int k = 0; k < 9; ++k) own[k / 3][k % 3] = matrix[n][13][static_cast<std::size_t>(k)];
    inverse[n] = glm::inverse(own);
  }
}

void FinePress::Grid::multiply(const std::vector<dvec3>& v, std::vector<dvec3>& out) const {
  for (const std::size_t n : node) {
    dvec3 sum(0.0);
    for (std::size_t k = 0; k < 27; ++k) add_product(matrix[n][k], v[n + static_cast<std::size_t>(to[k])], sum);
    out[n] = sum;
  }
}

// One symmetric sweep of Gauss and Seidel: the preconditioner.
void FinePress::Grid::smooth(const std::vector<dvec3>& r, std::vector<dvec3>& z) const {
  for (const std::size_t n : node) {
    dvec3 sum(0.0);
    for (std::size_t k = 0; k < 13; ++k) add_product(matrix[n][k], z[n + static_cast<std::size_t>(to[k])], sum);
    z[n] = inverse[n] * (r[n] - sum);
  }
  for (auto n = node.rbegin(); n != node.rend(); ++n) {
    dvec3 sum(0.0);
    for (std::size_t k = 14; k < 27; ++k) add_product(matrix[*n][k], z[*n + static_cast<std::size_t>(to[k])], sum);
    z[*n] -= inverse[*n] * sum;
  }
}

double FinePress::Grid::product(const std::vector<dvec3>& a, const std::vector<dvec3>& b) const {
  double sum = 0.0;
  for (const std::size_t n : node) sum += glm::dot(a[n], b[n]);
  return sum;
}

// Conjugate gradients down the slope. Where the energy curves down they end with what they have; nothing unless
// `convex`.
std::optional<std::vector<dvec3>> FinePress::Grid::direction(const std::vector<dvec3>& slope, bool convex) const {
  const std::vector<dvec3> none(rest.size(), dvec3(0.0));
  std::vector<dvec3> d = none, r = none, z = none, p = none, q = none;
  for (const std::size_t n : node) r[n] = -slope[n];
  smooth(r, z);
  p = z;
  double rz = product(r, z);
  const double enough = kResidual * kResidual * rz;
  for (int k = 0; k < kMostGradients && rz > enough; ++k) {
    multiply(p, q);
    const double curves = product(p, q);
    if (!(curves > 0.0) && !convex) return {};
    if (!(curves > 0.0)) return k > 0 ? d : p;
    const double step = rz / curves;
    for (const std::size_t n : node) d[n] += step * p[n], r[n] -= step * q[n];
    smooth(r, z);
    const double next = product(r, z);
    for (const std::size_t n : node) p[n] = z[n] + next / rz * p[n];
    rz = next;
  }
  return d;
}

// Newton's method with a line search. Returns its steps.
std::optional<int> FinePress::Grid::balance(double deep) {
  std::vector<dvec3> slope, trial = x;
  double energy = energy_of(x, deep, &slope);
  for (int step = 1; step <= kMostSteps; ++step) {
    if (!std::isfinite(energy)) return {};
    assemble(deep, false);
    std::optional<std::vector<dvec3>> way = direction(slope, false);
    if (!way) assemble(deep, true), way = direction(slope, true);
    const std::vector<dvec3>& d = *way;
    const double promised = -product(slope, d);
    double share = 1.0, there = INFINITY;
    for (int k = 0; k < kMostShortened; ++k, share *= 0.5) {
      for (const std::size_t n : node) trial[n] = x[n] + share * d[n];
      there = energy_of(trial, deep, nullptr);
      if (there <= energy - 1e-4 * share * promised) break;
    }
    if (promised < kBalanced * energy) {
      if (there < energy) x = trial;
      return step;
    }
    if (!(there < energy)) return {};
    x = trial;
    energy = energy_of(x, deep, &slope);
  }
  return {};
}

std::optional<PressAnswer> FinePress::Grid::answer() const {
  PressAnswer found{depth, 0.0, 0.0, 0};
  double deepest = 0.0;
  for_points(x, depth, [&](const TopFace& face, const TopPoint& point, const dvec3&) {
    found.force -= firmness() * face.area / kPoints * point.in.distance * point.in.direction.z;
    deepest = std::max(deepest, point.in.distance);
  });
  if (deepest > kPassed * shape.radius) return {};
  found.peak_pressure = firmness() * deepest;
  found.force *= block.plane ? 2.0 / lines[1].back() : 4.0;
  return found;
}

FinePress::FinePress(const PressedBlock& block, const PressShape& shape, const PressElements& elements)
    : grid_(std::make_unique<Grid>(block, shape, elements)) {}
FinePress::~FinePress() = default;
std::size_t FinePress::nodes() const { return grid_->node.size(); }

std::optional<PressAnswer> FinePress::press_to(double depth) {
  Grid& g = *grid_;
  int steps = 0, cuts = 0;
  const auto most = [&] { return (kOfRadius * g.shape.radius + kOfDepth * g.depth) * std::ldexp(1.0, -cuts); };
  while (g.depth < depth) {
    // A short rest of the way is joined to the last piece.
    const double left = depth - g.depth, next = left < 1.2 * most() ? depth : g.depth + most();
    const std::vector<dvec3> kept = g.x;
    const double further = g.depth > g.depth_before ? (next - g.depth) / (g.depth - g.depth_before) : 0.0;
    for (const std::size_t n : g.node) g.x[n] += further * (kept[n] - g.before[n]);
    if (!std::isfinite(g.energy_of(g.x, next, nullptr))) g.x = kept;
    const std::optional<int> balanced = g.balance(next);
    if (!balanced) {
      g.x = kept;
      if (++cuts > kMostCuts) return {};
      continue;
    }
    steps += *balanced;
    g.before = kept, g.depth_before = g.depth, g.depth = next;
  }
  std::optional<PressAnswer> found = g.answer();
  if (found) found->iterations = steps;
  return found;
}

std::vector<ExtrapolatedForce> extrapolated(const PressedBlock& block, const PressShape& shape,
                                            const PressElements& elements, double ratio,
                                            std::span<const double> depths) {
  FinePress coarse(block, shape, elements), fine(block, shape, elements.refined(ratio));
  std::vector<ExtrapolatedForce> found;
  for (const double depth : depths) {
    const auto first = coarse.press_to(depth), second = first ? fine.press_to(depth) : first;
    if (!second) break;
    found.push_back({depth, second->force + (second->force - first->force) / (ratio - 1.0), second->force});
  }
  return found;
}

double cylinder_depth_on_layer(double modulus, double poisson, double radius, double force, double height) {
  const double plane = modulus / (1.0 - poisson * poisson), a = std::sqrt(4.0 * force * radius / (pi * plane));
  const double kappa = 3.0 - 4.0 * poisson;
  // The integral over the wave number t / height of the layer's response and the pressure's transform, in log t.
  constexpr int kSteps = 20000;
  constexpr double kFrom = -16.0, kTo = 16.0;
  double sum = 0.0;
  for (int k = 0; k < kSteps; ++k) {
    const double t = elementary::exp(kFrom + (kTo - kFrom) * (k + 0.5) / kSteps), e = elementary::exp(-2.0 * t),
                 u = t * a / height;
    // Numerator and denominator times e^-2t, so that they stay finite.
    const double layer =
        (kappa * (1.0 - e * e) - 4.0 * t * e) / (kappa * (1.0 + e * e) + (1.0 + kappa * kappa + 4.0 * t * t) * e);
    sum += (kTo - kFrom) / kSteps * layer * (u < 1e-6 ? 1.0 : 2.0 * std::cyl_bessel_j(1.0, u) / u);
  }
  return 2.0 * force / (pi * plane) * sum;
}

}  // namespace trocar
