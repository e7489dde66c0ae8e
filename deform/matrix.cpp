#include "deform/matrix.hpp"

#include <algorithm>
#include <cmath>

#include "deform/solid/elastic_forces.hpp"
#include "deform/solid/elasticity.hpp"
#include "geometry/elementary.hpp"

namespace trocar {
namespace {

using glm::vec3;

// Below this the series of the energy is exact to rounding, and the closed form loses digits.
constexpr double kSmallRise = 1e-3;  // 1, of s q

vec3 at(const NodeColumns& x, std::uint32_t node) { return {x.x[node], x.y[node], x.z[node]}; }

// The mean edges of a cell over the spacing, and the sides between them.
struct CellShape {
  vec3 a, b, c;     // 1
  vec3 bc, ca, ab;  // 1
  float volume;     // 1, J
  float q;          // 1, see matrix.hpp
  float sides;      // 1, sum of the squared areas of the mean sides over that at rest
};

using Gradients = std::array<vec3, 8>;

CellShape shape_of(const LatticeCell& cell, const Gradients& gradient, const NodeColumns& x, float per_spacing) {
  CellShape s{};
  const vec3 first = at(x, cell.node[0]);
  for (int i = 1; i < 8; ++i) {
    const vec3 p = per_spacing * (at(x, cell.node[i]) - first);
    s.a += gradient[i].x * p, s.b += gradient[i].y * p, s.c += gradient[i].z * p;
  }
  s.bc = glm::cross(s.b, s.c), s.ca = glm::cross(s.c, s.a), s.ab = glm::cross(s.a, s.b);
  s.volume = glm::dot(s.a, s.bc);
  s.q = glm::dot(s.a, s.a) + glm::dot(s.b, s.b) + glm::dot(s.c, s.c) - 3.f - 2.f * (s.volume - 1.f);
  s.sides = (glm::dot(s.bc, s.bc) + glm::dot(s.ca, s.ca) + glm::dot(s.ab, s.ab)) / 3.f;
  return s;
}

// Moduli of the matrix of a cell over its volume modulus K, 1: shear, and what it adds to K.
struct Portion {
  float shear, swell;
};
Portion portion_of(const TissueParams& p, float fullness) {
  const float fraction = spring_fraction(p.law, fullness), ratio = shear_modulus(p) / volume_modulus(p);
  return {(1.f - fraction) * ratio, (1.f - 2.f * fraction) * ratio};
}

void push(NodeColumns& force, std::uint32_t node, const vec3& f) {
  force.x[node] += f.x, force.y[node] += f.y, force.z[node] += f.z;
}

Rise early_rise(double s, double q) {
  const double z = s * q;
  if (q <= 0.0 || s == 0.0) return {q, 1.0, 0.0};
  if (s < 0.0) {
    const double slope = 1.0 / (1.0 - z);
    const double energy =
        -z < kSmallRise ? q * (1.0 + z / 2.0 + z * z / 3.0 + z * z * z / 4.0) : elementary::log(1.0 - z) / -s;
    return {energy, slope, s * slope * slope};
  }
  if (z < kSmallRise) {
    const double slope = elementary::exp(z);
    return {q * (1.0 + z / 2.0 + z * z / 6.0 + z * z * z / 24.0), slope, s * slope};
  }
  const double slope = elementary::exp(std::min(z, kMostRise)), end = (slope - 1.0) / s;
  if (z <= kMostRise) return {end, slope, s * slope};
  return {end + slope * (q - kMostRise / s), slope, 0.0};
}

}  // namespace

Rise rise_of(double stiffening, double late_stiffening, double q) {
  Rise rise = early_rise(stiffening, q);
  if (q <= 0.0 || late_stiffening == 0.0) return rise;
  const double r = late_stiffening, last = std::sqrt(kMostLateRise / r), end = std::min(q, last);
  rise.energy += r * end * end * (q - 2.0 / 3.0 * end);
  rise.slope += r * end * end;
  if (q < last) rise.second += 2.0 * r * q;
  return rise;
}

std::vector<vec3> centres_of(const MeshView& organ, const Lattice& lattice) {
  constexpr int kParts = 4;  // along each side
  Lattice fine;
  fine.spacing = lattice.spacing / kParts;
  fine.size = kParts * lattice.size;
  fine.origin = lattice.origin;
  const std::vector<float> share = measure_fullness(organ, fine);
  std::vector<vec3> centres;
  for (const LatticeCell& cell : lattice.cells) {
    vec3 sum(0.f);
    float whole = 0.f;
    for (int z = 0; z < kParts; ++z)
      for (int y = 0; y < kParts; ++y)
        for (int x = 0; x < kParts; ++x) {
          const float part = share[fine.flat(kParts * cell.at + glm::ivec3(x, y, z))];
          whole += part, sum += part * (vec3(x, y, z) + 0.5f);
        }
    const vec3 centre = whole > 0.f ? sum / (whole * kParts) : vec3(0.5f);
    centres.push_back(glm::clamp(centre, kCentreMargin, 1.f - kCentreMargin));
  }
  return centres;
}

Gradients corner_gradients(const vec3& centre) {
  Gradients gradient;
  for (int i = 0; i < 8; ++i) {
    const vec3 high(corner_offset(i)), weight = (1.f - high) * (1.f - centre) + high * centre, sign = 2.f * high - 1.f;
    gradient[i] = sign * vec3(weight.y * weight.z, weight.z * weight.x, weight.x * weight.y);
  }
  return gradient;
}

void add_matrix_forces(const TissueModel& model, const NodeColumns& x, NodeColumns& force) {
  const float h = model.params.node_spacing;
  const TissueParams& params = model.params;
  for (std::size_t i = 0; i < model.lattice.cells.size(); ++i) {
    const float bulk = model.bulk[model.bulk_index[i]];
    if (!(bulk > 0.f)) continue;
    const LatticeCell& cell = model.lattice.cells[i];
    const Gradients gradient = corner_gradients(model.centre[i]);
    const CellShape s = shape_of(cell, gradient, x, 1.f / h);
    const Portion portion = portion_of(model.params, cell.fullness);
    const float unit = bulk * h * h;
    const float stretch =
        unit * portion.shear * static_cast<float>(rise_of(params.stiffening, params.late_stiffening, s.q).slope);
    const float swell = std::min(std::max(s.volume - 1.f, -kMostShrink), kMostSwell);
    const float press = (unit * (1.f + portion.swell) * swell - stretch) / std::max(s.sides / kLargestRisingSides, 1.f);
    const vec3 fa = stretch * s.a + press * s.bc, fb = stretch * s.b + press * s.ca, fc = stretch * s.c + press * s.ab;
    for (int k = 0; k < 8; ++k)
      push(force, cell.node[k], -(gradient[k].x * fa + gradient[k].y * fb + gradient[k].z * fc));
  }
}

// The second derivative of psi along the unit gradient G of q is bounded by slope (2 + |G|^2 s), that of the volume
// term by the sides.
float stiffest_cell(const TissueModel& model, const NodeColumns& x) {
  const float h = model.params.node_spacing;
  const TissueParams& params = model.params;
  float most = 1.f;
  for (std::size_t i = 0; i < model.lattice.cells.size(); ++i) {
    if (!(model.bulk[model.bulk_index[i]] > 0.f)) continue;
    const CellShape s = shape_of(model.lattice.cells[i], corner_gradients(model.centre[i]), x, 1.f / h);
    const Rise rise = rise_of(params.stiffening, params.late_stiffening, s.q);
    const vec3 a = s.a - s.bc, b = s.b - s.ca, c = s.c - s.ab;
    const double square = glm::dot(a, a) + glm::dot(b, b) + glm::dot(c, c);
    const auto stretch = static_cast<float>(rise.slope + 2.0 * std::max(rise.second, 0.0) * square);
    most = std::max({most, stretch, std::min(s.sides, kLargestRisingSides)});
  }
  return most;
}

void add_matrix_cell(const TissueParams& params, double fullness, const vec3& centre,
                     const std::array<std::uint32_t, 8>& corners, std::span<const glm::dvec3> u,
                     std::span<glm::dvec3> f) {
  const Gradients weight = corner_gradients(centre);
  glm::dmat3 gradient(0.0);  // h times that of the displacement: column k is the change of edge k
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < 3; ++k) gradient[k] += static_cast<double>(weight[i][k]) * u[corners[i]];
  const double trace = gradient[0][0] + gradient[1][1] + gradient[2][2];
  const double unit = fullness * params.node_spacing;
  const Portion portion = portion_of(params, static_cast<float>(fullness));
  const double bulk = unit * volume_modulus(params), shear = portion.shear * bulk;
  const glm::dmat3 stress =
      shear * (gradient + glm::transpose(gradient)) + (bulk * (1.0 + portion.swell) - shear) * trace * glm::dmat3(1.0);
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < 3; ++k) f[corners[i]] += static_cast<double>(weight[i][k]) * stress[k];
}

}  // namespace trocar
