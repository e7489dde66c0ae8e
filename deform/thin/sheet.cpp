// Steps an elastic sheet: forces and stiffness of its faces, one sparse factor, and contacts solved with it.
#include "deform/thin/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "geometry/closest.hpp"
#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "geometry/frame.hpp"

namespace trocar {
namespace {

using glm::cross;
using glm::dmat3;
using glm::dot;
using glm::dvec2;
using glm::dvec3;

// Below this share of its area at rest a face goes on with the pressure that it has there, so that forces are finite.
constexpr double kLeastAreaRatio = 1e-3;
// A mid-edge direction is at most 164 degrees from a normal: beyond, the angle is uncertain.
constexpr double kLeastOpening = 0.04;
// Heights of a face over its sides for bending, as a share of the side: a face that collapses must not give huge
// forces.
constexpr double kLeastHeight = 1e-3;
// Friction on a support holds with this creep.
constexpr double kCreep = 1e-4;  // m/s
// The squared cosine beyond which an edge counts as along an axis: 20 degrees.
constexpr double kAlongAxis = 0.88;
// Squared cosine of the largest angle between a mid-edge direction and the mean normal of its faces: 60 degrees. Two
// faces folded flat on each other have no mean normal (squared length).
constexpr double kFarthestTurn = 0.25, kFlatFold = 0.01;
// A tear opens by this share of its widest opening until it carries its strength.
constexpr double kFirstOpening = 0.05;

// What the law gives for a change of area: h(J), h', h''. The energy of a face is mu t A (I1 / 2 - 1 + h(J)).
struct AreaLaw {
  double value, slope, curvature;
};

AreaLaw power_law(double q, double j) {
  const double power = q == 1.0 ? 1.0 / (j * j) : q > 0.0 ? elementary::pow(j, -2.0 * q) : 1.0;
  const double value = q > 0.0 ? (power - 1.0) / (2.0 * q) : -elementary::log(j);
  return {value, -power / j, (2.0 * q + 1.0) * power / (j * j)};
}

AreaLaw area_law(double poisson, double j) {
  const double q = poisson / (1.0 - poisson);
  if (j >= kLeastAreaRatio) return power_law(q, j);
  // The curvature is that for which the stiffness of a step needs no correction (stiffness_of).
  const AreaLaw at = power_law(q, kLeastAreaRatio);
  return {at.value + (j - kLeastAreaRatio) * at.slope, at.slope, -(2.0 * q + 1.0) * at.slope / std::max(j, 1e-9)};
}

// Deformation of a face: F = u1 s1 v1^T + u2 s2 v2^T.
struct Deformation {
  dvec3 u1, u2, normal;  // unit
  dvec2 v1, v2;          // unit, in the plane at rest
  double s1, s2, area;   // s1 >= s2, product
};

Deformation deformation_of(const SheetElement& e, const std::array<dvec3, 3>& x) {
  const dvec3 p = x[1] - x[0], q = x[2] - x[0];
  const dvec3 f1 = p * e.gradient[1].x + q * e.gradient[2].x, f2 = p * e.gradient[1].y + q * e.gradient[2].y;
  const double c11 = dot(f1, f1), c22 = dot(f2, f2), c12 = dot(f1, f2), half = 0.5 * (c11 - c22);
  const double radius = std::sqrt(half * half + c12 * c12);
  Deformation d;
  d.v1 = {1.0, 0.0};
  if (radius > 0.0) {
    const double larger = std::sqrt(0.5 + 0.5 * std::abs(half) / radius), smaller = 0.5 * c12 / (radius * larger);
    d.v1 = half >= 0.0 ? dvec2(larger, smaller) : dvec2(smaller, larger);
  }
  d.v2 = {-d.v1.y, d.v1.x};
  const dvec3 n = cross(f1, f2), g1 = f1 * d.v1.x + f2 * d.v1.y;
  d.area = glm::length(n);
  d.s1 = std::sqrt(0.5 * (c11 + c22) + radius);
  d.s2 = d.s1 > 0.0 ? d.area / d.s1 : 0.0;
  const double length = glm::length(g1);
  d.u1 = length > 0.0 ? g1 / length : dvec3(1.0, 0.0, 0.0);
  d.normal = d.area > 0.0 ? n / d.area : glm::normalize(any_perpendicular(d.u1));
  d.u2 = cross(d.normal, d.u1);
  return d;
}

std::array<dvec3, 3> corners_of(const SheetFace& face, std::span<const dvec3> x) {
  return {x[face.node[0]], x[face.node[1]], x[face.node[2]]};
}

// Principal nominal stresses over mu.
struct Principal {
  double p1, p2;
};
Principal principal(const Deformation& d, const AreaLaw& law) {
  return {d.s1 + law.slope * d.s2, d.s2 + law.slope * d.s1};
}

// Second derivative of the energy of a face over mu t A, by the entries of F in the principal directions; what is
// negative is set to 0.
struct Stiffness {
  double d11, d12, d22;  // of s1 and s2
  double same, crossed;  // of the shears
  double out1, out2;     // across the face
};

Stiffness stiffness_of(const Deformation& d, const AreaLaw& law) {
  Stiffness k{};
  k.d11 = 1.0 + law.curvature * d.s2 * d.s2, k.d22 = 1.0 + law.curvature * d.s1 * d.s1;
  k.d12 = law.slope + law.curvature * d.area;
  const double mean = 0.5 * (k.d11 + k.d22), half = 0.5 * (k.d11 - k.d22),
               radius = std::sqrt(half * half + k.d12 * k.d12);
  if (mean < radius) {
    const double high = mean + radius, low = mean - radius, scale = high / (2.0 * radius);
    k.d11 = scale * (k.d11 - low), k.d22 = scale * (k.d22 - low), k.d12 *= scale;
  }
  const double shear = 1.0 - law.slope, turn = std::max(0.0, 1.0 + law.slope);
  k.same = 0.5 * (shear + turn), k.crossed = 0.5 * (shear - turn);
  k.out1 = std::max(0.0, 1.0 + law.slope * (d.s2 / d.s1)), k.out2 = std::max(0.0, 1.0 + law.slope * (d.s1 / d.s2));
  return k;
}

// Adds scale * (stiffness of the membrane between two corners), gradients b and c in the principal directions.
void add_stretch(const Deformation& d, const Stiffness& k, double scale, const dvec2& b, const dvec2& c, dmat3& to) {
  const double k11 = k.d11 * b.x * c.x + k.same * b.y * c.y, k12 = k.d12 * b.x * c.y + k.crossed * b.y * c.x;
  const double k21 = k.d12 * b.y * c.x + k.crossed * b.x * c.y, k22 = k.d22 * b.y * c.y + k.same * b.x * c.x;
  const double k33 = k.out1 * b.x * c.x + k.out2 * b.y * c.y;
  const dvec3 row1 = scale * (k11 * d.u1 + k12 * d.u2), row2 = scale * (k21 * d.u1 + k22 * d.u2);
  const dvec3 row3 = scale * k33 * d.normal;
  for (int j = 0; j < 3; ++j) to[j] += d.u1 * row1[j] + d.u2 * row2[j] + d.normal * row3[j];
}

// The turns of the mid-edge directions of a face, with their derivatives: by a corner along the normal, and by the
// direction about its edge.
struct FaceBend {
  dvec3 turn;                   // [edge] 1
  std::array<dvec3, 3> corner;  // [edge][corner] 1/m
  dvec3 edge;                   // [edge] 1
};

FaceBend bend_of(const SheetModel& model, const SheetState& s, std::size_t f, const std::array<dvec3, 3>& x,
                 const dvec3& normal) {
  FaceBend b;
  const double twice_area = glm::length(cross(x[1] - x[0], x[2] - x[0]));
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3, apex = (k + 2) % 3;
    const std::uint32_t edge = model.faces[f].edge[k];
    const dvec3 side = x[next] - x[k];
    const double squared = dot(side, side), length = std::sqrt(squared);
    const double inverse = length > 0.0 ? 1.0 / length : 0.0;
    const dvec3 &d = s.direction[edge], out = cross(side, normal) * inverse;
    b.turn[k] = 2.0 * dot(d, out) / std::max(1.0 + dot(d, normal), kLeastOpening);
    const double slope = 1.0 + 0.25 * b.turn[k] * b.turn[k];
    const double per_height = slope / std::max(twice_area * inverse, kLeastHeight * length);
    const double share = squared > 0.0 ? dot(x[apex] - x[k], side) / squared : 0.0;
    b.corner[k][k] = (1.0 - share) * per_height, b.corner[k][next] = share * per_height;
    b.corner[k][apex] = -per_height;
    b.edge[k] = model.edges[edge][0] == model.faces[f].node[k] ? slope : -slope;
  }
  return b;
}

struct FaceForce {
  std::array<dvec3, 3> force;  // [corner] N
  dvec3 torque;                // [edge] N m
};

FaceForce force_of(const SheetElement& e, const SheetSection& section, const Deformation& d, const AreaLaw& law,
                   const FaceBend& b) {
  FaceForce f;
  const Principal p = principal(d, law);
  const dvec3 moment = section.bending * e.integrity * (e.bend * (b.turn - e.turn));
  const double scale = section.shear * e.area * e.integrity;
  for (int i = 0; i < 3; ++i) {
    const double lift = moment[0] * b.corner[0][i] + moment[1] * b.corner[1][i] + moment[2] * b.corner[2][i];
    const dvec3 pull = p.p1 * dot(e.gradient[i], d.v1) * d.u1 + p.p2 * dot(e.gradient[i], d.v2) * d.u2;
    f.force[i] = -scale * pull - lift * d.normal;
    f.torque[i] = -moment[i] * b.edge[i];
  }
  return f;
}

// A face in the middle of a step: its points, which of them are free, and the sums it adds to.
struct Assembly {
  const SheetModel& model;
  const SheetState& state;
  SheetScratch& scratch;
  double dt, lag;

  bool is_free(std::uint32_t point) const {
    const std::size_t nodes = model.mass.size();
    return point < nodes ? !model.fixed[point] : !model.clamped[point - nodes];
  }
  double* right(std::uint32_t point) const { return scratch.right.data() + model.plan.at[point]; }
  void add(std::uint32_t node, const dvec3& by) const {
    double* to = right(node);
    for (int i = 0; i < 3; ++i) to[i] += by[i];
  }
  // Adds a block of the matrix; what belongs to a fixed node becomes a force. `k`: columns, rows of the first point.
  void add_pair(std::uint32_t i, std::uint32_t j, const FactorBlock& block, const dmat3& k) const {
    const bool free_i = is_free(i), free_j = is_free(j);
    if (free_i && free_j) {
      double* to = scratch.factor.values.data() + block.offset;
      for (std::uint32_t c = 0; c < 3; ++c)
        for (std::uint32_t r = i == j ? c : 0; r < 3; ++r)
          to[c * std::size_t{block.height} + r] += block.turned ? k[r][c] : k[c][r];
    } else if (free_i) {
      add(i, -(k * state.v[j]));
    } else if (free_j) {
      add(j, -(state.v[i] * k));
    }
  }
  // Rows: an edge, columns: a node.
  void add_edge_node(std::uint32_t edge, std::uint32_t node, const FactorBlock& block, const dvec3& k) const {
    if (!is_free(edge)) return;
    if (!is_free(node)) {
      *right(edge) -= dot(k, state.v[node]);
      return;
    }
    double* to = scratch.factor.values.data() + block.offset;
    for (int c = 0; c < 3; ++c) to[block.turned ? c : c * std::size_t{block.height}] += k[c];
  }
  void add_edges(std::uint32_t i, std::uint32_t j, const FactorBlock& block, double k) const {
    if (is_free(i) && is_free(j)) scratch.factor.values[block.offset] += k;
  }

  void add_face(std::size_t f, const SheetSection& section, double pressure) const;
  void add_point(const SheetPoint& point, const dvec3& force, const dmat3& k) const;
};

const FactorBlock& block_at(const std::array<FactorBlock, 21>& blocks, int i, int j) {
  return blocks[i * (i + 1) / 2 + j];
}

void Assembly::add_face(std::size_t f, const SheetSection& section, double pressure) const {
  const SheetFace& face = model.faces[f];
  const SheetElement& e = model.elements[f];
  const auto& blocks = model.blocks[f];
  const auto nodes = static_cast<std::uint32_t>(model.mass.size());
  const std::array<dvec3, 3> x = corners_of(face, state.x);
  const Deformation d = deformation_of(e, x);
  const AreaLaw law = area_law(model.params.poisson, d.area);
  const FaceBend b = bend_of(model, state, f, x, d.normal);
  const FaceForce force = force_of(e, section, d, law, b);
  const Stiffness stiffness = stiffness_of(d, law);
  const dvec3 push = pressure / 6.0 * cross(x[1] - x[0], x[2] - x[0]);
  const double square = dt * lag, stretch = square * section.shear * e.area * e.integrity;
  const dmat3 law_of_bend = square * section.bending * e.integrity * e.bend;
  std::array<dvec2, 3> gradient;
  std::array<dvec3, 3> bent;  // [corner] law_of_bend times the derivatives of the turns
  for (int i = 0; i < 3; ++i) {
    gradient[i] = {dot(e.gradient[i], d.v1), dot(e.gradient[i], d.v2)};
    bent[i] = law_of_bend * dvec3(b.corner[0][i], b.corner[1][i], b.corner[2][i]);
    add(face.node[i], dt * (force.force[i] + push));
    *right(nodes + face.edge[i]) += dt * force.torque[i];
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j <= i; ++j) {
      const double across = b.corner[0][i] * bent[j][0] + b.corner[1][i] * bent[j][1] + b.corner[2][i] * bent[j][2];
      const dvec3 scaled = across * d.normal;
      dmat3 k(scaled.x * d.normal, scaled.y * d.normal, scaled.z * d.normal);
      add_stretch(d, stiffness, stretch, gradient[i], gradient[j], k);
      add_pair(face.node[i], face.node[j], block_at(blocks, i, j), k);
      add_edges(nodes + face.edge[i], nodes + face.edge[j], block_at(blocks, 3 + i, 3 + j),
                b.edge[i] * law_of_bend[i][j] * b.edge[j]);
    }
    for (int j = 0; j < 3; ++j)
      add_edge_node(nodes + face.edge[i], face.node[j], block_at(blocks, 3 + i, j), b.edge[i] * bent[j][i] * d.normal);
  }
}

// Adds dt * force and dt * k to a point.
void Assembly::add_point(const SheetPoint& point, const dvec3& force, const dmat3& k) const {
  const SheetFace& face = model.faces[point.face];
  for (int i = 0; i < 3; ++i) {
    if (point.weight[i] == 0.0) continue;
    add(face.node[i], dt * point.weight[i] * force);
    for (int j = 0; j <= i; ++j)
      if (point.weight[j] != 0.0)
        add_pair(face.node[i], face.node[j], block_at(model.blocks[point.face], i, j),
                 dt * point.weight[i] * point.weight[j] * k);
  }
}

template <class Values>
auto at_point(const SheetModel& model, const SheetPoint& point, Values values) {
  const auto& node = model.faces[point.face].node;
  return point.weight[0] * values(node[0]) + point.weight[1] * values(node[1]) + point.weight[2] * values(node[2]);
}

// The stiffness that acts in this step: a spring that would pull too hard gets softer.
double stiffness_now(const SheetSpring& spring, const dvec3& at, double lag) {
  const double length = glm::distance(spring.anchor + lag * spring.velocity, at);
  return spring.stiffness * length > spring.most ? spring.most / length : spring.stiffness;
}

dmat3 times_outer(double k, const dvec3& n) { return {k * n.x * n, k * n.y * n, k * n.z * n}; }

// Stiffness and friction of a support; both are 0 off it.
struct SupportLaw {
  double depth;     // m
  double push;      // N/m
  double friction;  // N s/m
};
SupportLaw law_of(const SheetSupport& support, const dvec3& at, const dvec3& v) {
  const double depth = dot(support.position - at, support.normal);
  if (!(depth > 0.0) && !support.arrives) return {0.0, 0.0, 0.0};
  const dvec3 slip = v - support.velocity, along = slip - dot(slip, support.normal) * support.normal;
  const double speed = std::max(glm::length(along), kCreep);
  return {depth, support.stiffness, support.friction * support.stiffness * std::max(depth, 0.0) / speed};
}

void add_points(const Assembly& assembly, const SheetLoads& loads) {
  const SheetModel& model = assembly.model;
  const SheetState& s = assembly.state;
  const double lag = assembly.lag;
  for (const SheetSpring& spring : loads.springs) {
    const dvec3 at = position(model, s.x, spring.point);
    const double k = stiffness_now(spring, at, lag);
    assembly.add_point(spring.point, k * (spring.anchor + lag * spring.velocity - at), dmat3(lag * k));
  }
  for (const SheetSupport& support : loads.supports) {
    const dvec3 at = position(model, s.x, support.point), &n = support.normal;
    const SupportLaw law = law_of(support, at, at_point(model, support.point, [&](auto i) { return s.v[i]; }));
    const dvec3 along = support.velocity - dot(support.velocity, n) * n;
    const double shift = law.depth + lag * dot(support.velocity, n);
    assembly.add_point(support.point, law.push * shift * n + law.friction * along,
                       times_outer(lag * law.push - law.friction, n) + dmat3(law.friction));
  }
}

std::uint32_t node_of(const SheetModel& model, const SheetTie& tie, int side) {
  return model.faces[tie.face[side]].node[tie.corner[side]];
}

// Secant stiffness of a tie whose widest opening was `opened`, N/m. A step takes it at the opening that it expects, or
// a tear that opens fast would pull beyond its strength.
double tie_stiffness(const SheetParams& params, const SheetTie& tie, double opened) {
  const TearLaw law = tear_law(params, tie.length);
  if (opened >= law.widest) return 0.0;
  const double falling = std::max(opened - law.first, 0.0) / (law.widest - law.first);
  return tie.area * law.strength * (1.0 - falling) / std::max(opened, law.first);
}

void add_ties(const Assembly& assembly) {
  const SheetModel& model = assembly.model;
  const SheetState& s = assembly.state;
  for (std::size_t t = 0; t < model.ties.size(); ++t) {
    const std::uint32_t a = node_of(model, model.ties[t], 0), b = node_of(model, model.ties[t], 1);
    const double next = glm::distance(s.x[b] + assembly.lag * s.v[b], s.x[a] + assembly.lag * s.v[a]);
    const double k = a == b ? 0.0 : tie_stiffness(model.params, model.ties[t], std::max(s.opened[t], next));
    if (k == 0.0) continue;
    const dvec3 pull = assembly.dt * k * (s.x[b] - s.x[a]);
    const dmat3 stiff(assembly.dt * assembly.lag * k);
    assembly.add(a, pull), assembly.add(b, -pull);
    assembly.add_pair(a, a, model.tie_blocks[t][0], stiff);
    assembly.add_pair(b, a, model.tie_blocks[t][1], -stiff);
    assembly.add_pair(b, b, model.tie_blocks[t][2], stiff);
  }
}

// (M (1 + drag dt) + dt lag K) v_after = M v + dt f, lag = dt + damping_time
void assemble(const Assembly& assembly, const SheetLoads& loads) {
  const auto& [model, s, scratch, dt, lag] = assembly;
  clear(model.plan, scratch.factor);
  scratch.right.assign(model.plan.unknowns, 0.0);
  const SheetSection section = section_of(model.params);
  for (std::size_t f = 0; f < model.faces.size(); ++f) assembly.add_face(f, section, loads.pressure);
  add_points(assembly, loads);
  add_ties(assembly);
  for (std::uint32_t node = 0; node < model.mass.size(); ++node) {
    if (model.plan.at[node] == kNoPoint) continue;
    const dvec3 outside = loads.force.empty() ? dvec3(0.0) : loads.force[node];
    assembly.add(node, model.mass[node] * (s.v[node] + dt * loads.gravity) + dt * outside);
  }
}

// Adds masses to the diagonal. What is fixed keeps its speed.
void finish(const Assembly& assembly) {
  const auto& [model, s, scratch, dt, lag] = assembly;
  const auto nodes = static_cast<std::uint32_t>(model.mass.size());
  for (std::uint32_t point = 0; point < model.plan.at.size(); ++point) {
    const std::uint32_t at = model.plan.at[point];
    if (at == kNoPoint) continue;
    const bool is_free = assembly.is_free(point);
    const FactorFront& front = model.plan.fronts[model.plan.front[point]];
    const double mass = point < nodes ? model.mass[point] * (1.0 + model.params.drag * dt) : 0.0;
    for (std::uint32_t i = 0; i < (point < nodes ? 3u : 1u); ++i) {
      const std::size_t row = at + i - front.first;
      double& diagonal = scratch.factor.values[front.panel + row * front.height + row];
      diagonal = is_free ? diagonal + mass : 1.0;
      if (!is_free) scratch.right[at + i] = point < nodes ? s.v[point][static_cast<int>(i)] : 0.0;
    }
  }
}

void set_forces(const SheetModel& model, const SheetState& s, const SheetLoads& loads, double lag,
                const std::vector<double>& speeds) {
  const auto speed = [&](std::uint32_t node) {
    const double* v = speeds.data() + model.plan.at[node];
    return dvec3(v[0], v[1], v[2]);
  };
  for (SheetSpring& spring : loads.springs) {
    const dvec3 at = position(model, s.x, spring.point), v = at_point(model, spring.point, speed);
    spring.force = stiffness_now(spring, at, lag) * (spring.anchor - at + lag * (spring.velocity - v));
  }
  for (SheetSupport& support : loads.supports) {
    const dvec3 at = position(model, s.x, support.point), v = at_point(model, support.point, speed);
    const dvec3 &n = support.normal, slip = support.velocity - v;
    const SupportLaw law = law_of(support, at, at_point(model, support.point, [&](auto i) { return s.v[i]; }));
    support.force = law.push * (law.depth + lag * dot(slip, n)) * n + law.friction * (slip - dot(slip, n) * n);
  }
}

// Turns a direction that is carried from one edge vector to another without twist, then by `turn` about it, with the
// angle 2 atan(turn / 2).
dvec3 carried(const dvec3& d, const dvec3& from, const dvec3& to, double turn) {
  const double before = glm::length(from), after = glm::length(to);
  if (!(before > 0.0) || !(after > 0.0)) return d;
  const dvec3 t = from / before, u = to / after, b = cross(t, u);
  const double c = dot(t, u), opening = std::max(1.0 + c, 1e-12);
  const dvec3 moved = c * d + cross(b, d) + b * (dot(b, d) / opening);
  const double half = 0.5 * turn, scale = 1.0 / (1.0 + half * half);
  const dvec3 turned = scale * ((1.0 - half * half) * moved + 2.0 * half * cross(u, moved));
  const dvec3 straight = turned - dot(turned, u) * u;
  const double length = glm::length(straight);
  return length > 0.0 ? straight / length : glm::normalize(any_perpendicular(u));
}

// Turns directions back that a violent step has moved out of the range between the normals of their faces: they have no
// mass, and beyond it the energy would rise without limit.
void straighten(const SheetModel& model, SheetScratch& scratch, SheetState& s) {
  scratch.normal.assign(model.edges.size(), dvec3(0.0));
  for (const SheetFace& face : model.faces) {
    const std::array<dvec3, 3> x = corners_of(face, s.x);
    const dvec3 n = cross(x[1] - x[0], x[2] - x[0]);
    const double length = glm::length(n);
    if (!(length > 0.0)) continue;
    for (const std::uint32_t edge : face.edge) scratch.normal[edge] += n / length;
  }
  for (std::size_t e = 0; e < model.edges.size(); ++e) {
    const dvec3& n = scratch.normal[e];
    const double along = dot(n, s.direction[e]), squared = dot(n, n);
    if (squared < kFlatFold || (along > 0.0 && along * along > kFarthestTurn * squared)) continue;
    const dvec3 side = s.x[model.edges[e][1]] - s.x[model.edges[e][0]];
    const dvec3 across = n - dot(n, side) / std::max(dot(side, side), 1e-300) * side;
    const double length = glm::length(across);
    if (length > 0.0 && !model.clamped[e]) s.direction[e] = across / length;
  }
}

void move(const SheetModel& model, double dt, SheetScratch& scratch, SheetState& s) {
  scratch.before.assign(s.x.begin(), s.x.end());
  const bool corrected = !scratch.answer.empty();
  for (std::size_t node = 0; node < s.x.size(); ++node) {
    const std::uint32_t at = model.plan.at[node];
    if (at == kNoPoint) continue;
    for (std::uint32_t i = 0; i < 3; ++i) {
      const int k = static_cast<int>(i);
      if (!model.fixed[node]) s.v[node][k] = scratch.right[at + i];
      s.x[node][k] += dt * (s.v[node][k] + (corrected ? scratch.answer[at + i] : 0.0));
    }
  }
  for (std::size_t e = 0; e < model.edges.size(); ++e) {
    const auto [a, b] = model.edges[e];
    const std::uint32_t at = model.plan.at[s.x.size() + e];
    const double rate = model.clamped[e] ? 0.0 : scratch.right[at] + (corrected ? scratch.answer[at] : 0.0);
    s.direction[e] = carried(s.direction[e], scratch.before[b] - scratch.before[a], s.x[b] - s.x[a], dt * rate);
  }
  straighten(model, scratch, s);
  for (std::size_t t = 0; t < model.ties.size(); ++t) {
    const SheetTie& tie = model.ties[t];
    s.opened[t] = std::max(s.opened[t], glm::distance(s.x[node_of(model, tie, 0)], s.x[node_of(model, tie, 1)]));
  }
}

// Visits the unknowns from a front to the root, with their number in the path.
template <class Each>
void along_path(const FactorPlan& plan, std::uint32_t front, Each each) {
  std::size_t k = 0;
  for (; front != kNoPoint; front = plan.fronts[front].parent)
    for (std::uint32_t i = 0; i < plan.fronts[front].own; ++i) each(plan.fronts[front].first + i, k++);
}

// The first front in which a free corner of a point is eliminated. All three stand on its path, for they share a face.
std::uint32_t first_front(const SheetModel& model, const SheetPoint& point) {
  std::uint32_t first = kNoPoint;
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t node = model.faces[point.face].node[i];
    if (point.weight[i] != 0.0 && !model.fixed[node]) first = std::min(first, model.plan.front[node]);
  }
  return first;
}

// Unknowns that the paths of two fronts have in common: the last ones of both.
std::uint32_t common_length(const FactorPlan& plan, std::uint32_t a, std::uint32_t b) {
  while (a != b) {
    std::uint32_t& lower = a < b ? a : b;
    if (lower == kNoPoint) return 0;
    lower = plan.fronts[lower].parent;
  }
  return path_length(plan, a);
}

// Solves for a unit impulse at every contact, along three axes, as far as contacts need it: y = L^-1 b on its path.
void find_paths(const SheetModel& model, std::span<const SheetContact> contacts, SheetScratch& scratch) {
  const FactorPlan& plan = model.plan;
  scratch.wide.assign(plan.unknowns, dvec3(0.0));
  scratch.path_end.clear(), scratch.paths.clear();
  for (const SheetContact& contact : contacts) {
    const std::uint32_t front = first_front(model, contact.point);
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t node = model.faces[contact.point.face].node[i];
      if (model.fixed[node]) continue;
      for (int b = 0; b < 3; ++b)
        scratch.wide[plan.at[node] + static_cast<std::uint32_t>(b)][b] = contact.point.weight[i];
    }
    const std::size_t begin = scratch.paths.size(), length = path_length(plan, front);
    scratch.paths.resize(begin + length);
    forward_on_path(plan, scratch.factor, front, scratch.wide, std::span(scratch.paths).subspan(begin));
    scratch.path_end.push_back(static_cast<std::uint32_t>(begin + length));
  }
}

// Finds how contacts move under impulses at each of them: products of their paths.
void find_mobility(const SheetModel& model, std::span<const SheetContact> contacts, SheetScratch& scratch) {
  const std::size_t count = contacts.size();
  scratch.mobility.resize(count * count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const std::size_t common =
          common_length(model.plan, first_front(model, contacts[i].point), first_front(model, contacts[j].point));
      const dvec3 *w = scratch.paths.data() + scratch.path_end[i] - common,
                  *z = scratch.paths.data() + scratch.path_end[j] - common;
      dmat3 sum(0.0);
      for (std::size_t k = 0; k < common; ++k) sum += dmat3(w[k] * z[k].x, w[k] * z[k].y, w[k] * z[k].z);
      scratch.mobility[i * count + j] = sum;
      scratch.mobility[j * count + i] = glm::transpose(sum);
    }
}

// Adds the impulses, half solved, to right sides that are half solved.
void apply(const SheetModel& model, std::span<const SheetContact> contacts, SheetScratch& scratch,
           std::vector<double>& to) {
  std::size_t begin = 0;
  for (std::size_t j = 0; j < contacts.size(); ++j) {
    const dvec3 impulse = scratch.impulses[j];
    along_path(model.plan, first_front(model, contacts[j].point),
               [&](std::uint32_t unknown, std::size_t k) { to[unknown] += dot(scratch.paths[begin + k], impulse); });
    begin = scratch.path_end[j];
  }
}

// Impulses that keep the sheet out of obstacles, then those that take overlaps back. Call with half-solved speeds in
// `right`; adds the impulses there, and leaves the speeds that only take overlaps back in `answer`, both half solved.
void solve_contacts(const SheetModel& model, double dt, std::span<SheetContact> contacts, SheetScratch& scratch) {
  const std::size_t count = contacts.size();
  find_paths(model, contacts, scratch);
  find_mobility(model, contacts, scratch);
  scratch.speed.resize(count), scratch.impulses.assign(count, dvec3(0.0));
  const PushSolver<SheetContact> solver{contacts, scratch.mobility, scratch.speed, scratch.impulses};
  std::size_t begin = 0;
  for (std::size_t i = 0; i < count; ++i) {
    dvec3 speed = -contacts[i].slide;
    for (int c = 0; c < 3; ++c) {
      const std::uint32_t node = model.faces[contacts[i].point.face].node[c];
      if (model.fixed[node])
        for (int b = 0; b < 3; ++b)
          speed[b] += contacts[i].point.weight[c] * scratch.right[model.plan.at[node] + static_cast<std::uint32_t>(b)];
    }
    along_path(model.plan, first_front(model, contacts[i].point), [&](std::uint32_t unknown, std::size_t k) {
      speed += scratch.right[unknown] * scratch.paths[begin + k];
    });
    scratch.speed[i] = speed;
    begin = scratch.path_end[i];
  }
  solver.keep_out(dt);
  apply(model, contacts, scratch, scratch.right);
  solver.take_back(dt);
  scratch.answer.assign(model.plan.unknowns, 0.0);
  apply(model, contacts, scratch, scratch.answer);
}

void sheet_requires(bool good, const char* what) {
  if (!good) throw InputError(fmt::format("a sheet {}", what));
}

void check(const SheetParams& p) {
  const bool finite = std::isfinite(p.thickness) && std::isfinite(p.youngs_modulus) && std::isfinite(p.density) &&
                      std::isfinite(p.bending) && std::isfinite(p.damping_time) && std::isfinite(p.drag);
  sheet_requires(finite && p.thickness > 0.0 && p.youngs_modulus > 0.0 && p.density > 0.0 && p.bending > 0.0,
                 "needs a thickness, a modulus, a density and a share of bending above 0");
  sheet_requires(p.poisson >= 0.0 && p.poisson <= 0.5, "needs a Poisson's ratio of 0 to 0.5");
  sheet_requires(p.damping_time >= 0.0 && p.drag >= 0.0, "needs damping and drag of at least 0");
  sheet_requires(p.strength > 0.0 && p.toughness > 0.0 && p.cut_toughness >= 0.0 && std::isfinite(p.toughness),
                 "needs a strength and a toughness above 0");
}

// A side of a face, for sorting: nodes of its edge, lower first.
struct SheetSide {
  std::uint32_t low, high, face, side;
  auto operator<=>(const SheetSide&) const = default;
};

std::vector<SheetSide> sorted_sides(const SheetModel& model) {
  std::vector<SheetSide> sides;
  for (std::uint32_t f = 0; f < model.faces.size(); ++f)
    for (std::uint32_t k = 0; k < 3; ++k) {
      const std::uint32_t a = model.faces[f].node[k], b = model.faces[f].node[(k + 1) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), f, k});
    }
  std::sort(sides.begin(), sides.end());
  return sides;
}

// Numbers the edges. Before: SheetFace::edge is the edge of `model.edges` that an edge continues, or kNoPoint. Returns
// these, [edge].
std::vector<std::uint32_t> find_edges(SheetModel& model) {
  const std::vector<SheetSide> sides = sorted_sides(model);
  std::vector<std::array<std::uint32_t, 2>> edges;
  std::vector<std::uint32_t> origin;
  model.beside.clear();
  for (std::size_t i = 0; i < sides.size();) {
    const SheetSide& first = sides[i];
    std::size_t end = i + 1;
    while (end < sides.size() && sides[end].low == first.low && sides[end].high == first.high) ++end;
    sheet_requires(end - i <= 2, "cannot have an edge of three faces");
    const auto start = [&](const SheetSide& side) { return model.faces[side.face].node[side.side]; };
    sheet_requires(end - i < 2 || start(first) != start(sides[i + 1]),
                   "needs neighbouring triangles that wind the same way");
    const auto edge = static_cast<std::uint32_t>(edges.size());
    edges.push_back({start(first), start(first) == first.low ? first.high : first.low});
    std::uint32_t from = kNoPoint;
    model.beside.push_back(first.face);
    for (; i < end; ++i) {
      std::uint32_t& known = model.faces[sides[i].face].edge[sides[i].side];
      from = std::min(from, known), known = edge;
    }
    origin.push_back(from);
  }
  model.edges = std::move(edges);
  return origin;
}

void find_masses(SheetModel& model) {
  const double per_square = section_of(model.params).per_square;
  std::fill(model.mass.begin(), model.mass.end(), 0.0);
  for (std::size_t f = 0; f < model.faces.size(); ++f)
    for (const std::uint32_t node : model.faces[f].node) model.mass[node] += per_square * model.elements[f].area / 3.0;
}

void find_plan(SheetModel& model, std::span<const dvec3> x) {
  const std::size_t nodes = model.mass.size();
  std::vector<std::uint8_t> sizes(nodes, 3);
  sizes.resize(nodes + model.edges.size(), 1);
  std::vector<FactorElement> elements;
  for (const SheetFace& face : model.faces) {
    const std::array<dvec3, 3> c = corners_of(face, x);
    const auto edge = [&](int k) { return static_cast<std::uint32_t>(nodes) + face.edge[k]; };
    elements.push_back(
        {{face.node[0], face.node[1], face.node[2], edge(0), edge(1), edge(2)}, (c[0] + c[1] + c[2]) / 3.0});
  }
  const std::size_t faces = elements.size();
  for (const SheetTie& tie : model.ties) {
    const std::uint32_t a = node_of(model, tie, 0), b = node_of(model, tie, 1);
    elements.push_back({{a, a == b ? kNoPoint : b, kNoPoint, kNoPoint, kNoPoint, kNoPoint}, x[a]});
  }
  model.plan = plan_factor(sizes, elements);
  model.blocks.clear(), model.tie_blocks.clear();
  for (const FactorElement& e : std::span(elements).subspan(faces)) {
    const std::uint32_t a = e.point[0], b = e.point[1] == kNoPoint ? a : e.point[1];
    model.tie_blocks.push_back({block_of(model.plan, a, a), block_of(model.plan, b, a), block_of(model.plan, b, b)});
  }
  for (const FactorElement& e : std::span(elements).first(faces)) {
    std::array<FactorBlock, 21> blocks;
    for (int i = 0, k = 0; i < 6; ++i)
      for (int j = 0; j <= i; ++j) blocks[k++] = block_of(model.plan, e.point[i], e.point[j]);
    model.blocks.push_back(blocks);
  }
}

dvec3 normal_of(const std::array<dvec3, 3>& x) {
  const dvec3 n = cross(x[1] - x[0], x[2] - x[0]);
  const double length = glm::length(n);
  return length > 0.0 ? n / length : dvec3(0.0);
}

// Mean normals of the faces of edges, across the edges; a fold by half a turn gets a direction out of both faces.
std::vector<dvec3> mean_directions(const SheetModel& model, std::span<const dvec3> x) {
  std::vector<dvec3> sum(model.edges.size(), dvec3(0.0)), out(sum);
  for (const SheetFace& face : model.faces) {
    const std::array<dvec3, 3> c = corners_of(face, x);
    const dvec3 normal = normal_of(c);
    for (int k = 0; k < 3; ++k) {
      sum[face.edge[k]] += normal;
      out[face.edge[k]] += cross(c[(k + 1) % 3] - c[k], normal);
    }
  }
  for (std::size_t e = 0; e < sum.size(); ++e) {
    const dvec3 side = x[model.edges[e][1]] - x[model.edges[e][0]];
    const auto across = [&](const dvec3& d) { return d - dot(d, side) / std::max(dot(side, side), 1e-300) * side; };
    dvec3 d = across(sum[e]);
    if (glm::length(d) < 1e-6) d = across(out[e]);
    if (!(glm::length(d) > 0.0)) d = any_perpendicular(side);
    sum[e] = glm::length(d) > 0.0 ? glm::normalize(d) : dvec3(0.0, 0.0, 1.0);
  }
  return sum;
}

// Finds the parts of a sheet beside one obstacle. An edge that crosses the axis has a nearest point that stays where it
// is from step to step; one along the axis has none, but its ends belong to edges that cross. The inside of a face is
// nearest only to an end of the axis.
struct ContactSearch {
  const SheetModel& model;
  const SheetState& state;
  const ThinObstacle& obstacle;
  std::uint32_t number;
  double solid, near;  // m, from the axis: surfaces touch; are within reach
  closest::Segment axis;
  dvec3 low, high;

  ContactSearch(const SheetModel& m, const SheetState& s, const ThinObstacle& o, std::uint32_t k, double reach)
      : model(m),
        state(s),
        obstacle(o),
        number(k),
        solid(o.radius + 0.5 * m.params.thickness),
        near(solid + reach),
        axis(closest::segment(o.from, o.to)),
        low(glm::min(o.from, o.to) - near),
        high(glm::max(o.from, o.to) + near) {}

  bool is_far(const dvec3& least, const dvec3& most) const {
    return glm::any(glm::greaterThan(least, high)) || glm::any(glm::lessThan(most, low));
  }
  // `part`: node, edge or face, numbered one after another. `off`: from the axis to the sheet.
  void list(std::uint32_t part, const SheetPoint& point, const dvec3& off, double along,
            SheetContacts& contacts) const {
    const double distance = glm::length(off);
    if (!(distance > 0.0) || !(distance < near)) return;
    contacts.list.push_back({number,
                             part,
                             point,
                             off / distance,
                             distance - solid,
                             glm::mix(obstacle.from_velocity, obstacle.to_velocity, along),
                             obstacle.friction,
                             {}});
  }
  void try_edge(std::uint32_t e, SheetContacts& contacts) const {
    const dvec3 &from = state.x[model.edges[e][0]], &to = state.x[model.edges[e][1]];
    if (is_far(glm::min(from, to), glm::max(from, to))) return;
    const closest::Segment edge = closest::segment(from, to);
    const double along = dot(edge.d, axis.d);
    if (along * along > kAlongAxis * edge.squared_length * axis.squared_length) return;
    const closest::SegmentPair found = closest::closest_segments(edge, axis);
    std::uint32_t part = static_cast<std::uint32_t>(state.x.size()) + e;
    if (found.u <= 0.0 || found.u >= 1.0) {
      part = model.edges[e][found.u <= 0.0 ? 0 : 1];
      if (contacts.seen[part] == number + 1) return;
      contacts.seen[part] = number + 1;
    }
    const SheetFace& face = model.faces[model.beside[e]];
    SheetPoint point{model.beside[e], dvec3(0.0)};
    for (int k = 0; k < 3; ++k)
      if (face.edge[k] == e) point.weight[k] = 1.0 - found.u, point.weight[(k + 1) % 3] = found.u;
    list(part, point, edge.p + found.u * edge.d - axis.p - found.v * axis.d, found.v, contacts);
  }
  void try_face(std::uint32_t f, SheetContacts& contacts) const {
    const std::array<dvec3, 3> x = corners_of(model.faces[f], state.x);
    if (is_far(glm::min(x[0], glm::min(x[1], x[2])), glm::max(x[0], glm::max(x[1], x[2])))) return;
    const closest::InteriorPair found = closest::closest_interior(axis, closest::face({x[0], x[1], x[2]}));
    if (!found.inside || (found.u > 0.0 && found.u < 1.0)) return;
    const SheetPoint point{f, {1.0 - found.beta - found.gamma, found.beta, found.gamma}};
    list(static_cast<std::uint32_t>(state.x.size() + model.edges.size()) + f, point,
         position(model, state.x, point) - axis.p - found.u * axis.d, found.u, contacts);
  }
};

dvec2 turned_right(const dvec2& d) { return {d.y, -d.x}; }

}  // namespace

SheetSection section_of(const SheetParams& p) {
  const double t = p.thickness, e = p.youngs_modulus;
  return {e * t, 0.5 * e / (1.0 + p.poisson) * t, p.bending * e * t * t * t / (12.0 * (1.0 - p.poisson * p.poisson)),
          p.density * t};
}

SheetElement element_of(const std::array<dvec2, 3>& corner, double poisson) {
  SheetElement e{};
  e.corner = corner, e.integrity = 1.0;
  const dvec2 p = corner[1] - corner[0], q = corner[2] - corner[0];
  e.area = 0.5 * (p.x * q.y - p.y * q.x);
  std::array<dvec2, 3> out;  // [edge] unit
  dvec3 length(0.0);
  for (int k = 0; k < 3; ++k) {
    const dvec2 side = corner[(k + 1) % 3] - corner[k];
    length[k] = glm::length(side), out[k] = turned_right(side) / length[k];
    e.gradient[(k + 2) % 3] = -turned_right(side) / (2.0 * e.area);
  }
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) {
      const double c = dot(out[k], out[l]);
      e.bend[k][l] = length[k] * length[l] / e.area * ((1.0 - poisson) * c * c + poisson);
    }
  return e;
}

SheetModel make_sheet(const SheetParams& params, std::span<const dvec3> points,
                      std::span<const std::array<std::uint32_t, 3>> triangles) {
  check(params);
  sheet_requires(!triangles.empty(), "needs at least one triangle");
  SheetModel model;
  model.params = params;
  std::vector<std::uint8_t> used(points.size(), 0);
  for (const dvec3& p : points)
    sheet_requires(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z), "needs points that are finite");
  for (const auto& t : triangles) {
    for (const std::uint32_t node : t) {
      sheet_requires(node < points.size(), "needs triangles whose corners are among its points");
      used[node] = 1;
    }
    const dvec3 p = points[t[1]] - points[t[0]], q = points[t[2]] - points[t[0]], n = cross(p, q);
    const double longest = std::max({dot(p, p), dot(q, q), dot(q - p, q - p)});
    sheet_requires(glm::length(n) > 1e-6 * longest, "needs triangles with an area");
    const double length = glm::length(p);
    model.faces.push_back({t, {kNoPoint, kNoPoint, kNoPoint}});
    model.elements.push_back(element_of(
        {dvec2(0.0), dvec2(length, 0.0), dvec2(dot(p, q) / length, glm::length(n) / length)}, params.poisson));
  }
  for (const std::uint8_t u : used) sheet_requires(u != 0, "needs a triangle at every point");
  model.mass.resize(points.size()), model.fixed.assign(points.size(), 0);
  find_edges(model);
  model.clamped.assign(model.edges.size(), 0);
  find_masses(model);
  find_plan(model, points);
  const SheetState rest = rest_state(model, points);
  for (std::size_t f = 0; f < model.faces.size(); ++f) {
    const std::array<dvec3, 3> x = corners_of(model.faces[f], points);
    model.elements[f].turn = bend_of(model, rest, f, x, normal_of(x)).turn;
  }
  return model;
}

SheetState rest_state(const SheetModel& model, std::span<const dvec3> points) {
  SheetState s;
  s.x.assign(points.begin(), points.end());
  s.v.assign(points.size(), dvec3(0.0));
  s.direction = mean_directions(model, points);
  return s;
}

TearLaw tear_law(const SheetParams& p, double length) {
  const double strength = std::min(p.strength, std::sqrt(0.5 * p.youngs_modulus * p.toughness / length));
  const double widest = 2.0 * p.toughness / strength;
  return {strength, kFirstOpening * widest, widest};
}

double torn_energy(const SheetModel& model, const SheetState& s) {
  double sum = s.torn;
  for (std::size_t t = 0; t < model.ties.size(); ++t) {
    const TearLaw law = tear_law(model.params, model.ties[t].length);
    const double share = (s.opened[t] - law.first) / (law.widest - law.first);
    sum += model.ties[t].area * model.params.toughness * std::min(std::max(share, 0.0), 1.0);
  }
  return sum;
}

void rebuild(SheetModel& model, SheetState& s) {
  std::size_t kept = 0;
  for (std::size_t t = 0; t < model.ties.size(); ++t) {
    if (s.opened[t] >= tear_law(model.params, model.ties[t].length).widest) {
      s.torn += model.ties[t].area * model.params.toughness;
    } else {
      model.ties[kept] = model.ties[t], s.opened[kept++] = s.opened[t];
    }
  }
  model.ties.resize(kept), s.opened.resize(kept);
  const std::vector<dvec3> known = s.direction;
  const std::vector<std::uint8_t> clamped = model.clamped;
  const std::vector<std::uint32_t> origin = find_edges(model);
  s.direction = mean_directions(model, s.x);
  model.clamped.assign(model.edges.size(), 0);
  for (std::size_t e = 0; e < origin.size(); ++e)
    if (origin[e] != kNoPoint) s.direction[e] = known[origin[e]], model.clamped[e] = clamped[origin[e]];
  find_masses(model);
  find_plan(model, s.x);
}

void restore_plan(SheetModel& model, std::span<const dvec3> x) { find_plan(model, x); }

dvec3 position(const SheetModel& model, std::span<const dvec3> x, const SheetPoint& point) {
  return at_point(model, point, [&](std::uint32_t node) { return x[node]; });
}

SheetEnergy energy_of(const SheetModel& model, const SheetState& s) {
  SheetEnergy sum{};
  const SheetSection section = section_of(model.params);
  for (std::size_t f = 0; f < model.faces.size(); ++f) {
    const SheetElement& e = model.elements[f];
    const std::array<dvec3, 3> x = corners_of(model.faces[f], s.x);
    const Deformation d = deformation_of(e, x);
    const double law = area_law(model.params.poisson, d.area).value;
    sum.stretch += section.shear * e.area * e.integrity * (0.5 * (d.s1 * d.s1 + d.s2 * d.s2) - 1.0 + law);
    const dvec3 off = bend_of(model, s, f, x, d.normal).turn - e.turn;
    sum.bend += 0.5 * section.bending * e.integrity * dot(off, e.bend * off);
  }
  for (std::size_t node = 0; node < s.x.size(); ++node)
    sum.motion += 0.5 * model.mass[node] * dot(s.v[node], s.v[node]);
  return sum;
}

void elastic_forces(const SheetModel& model, const SheetState& s, std::span<dvec3> force, std::span<double> torque) {
  std::fill(force.begin(), force.end(), dvec3(0.0));
  std::fill(torque.begin(), torque.end(), 0.0);
  const SheetSection section = section_of(model.params);
  for (std::size_t f = 0; f < model.faces.size(); ++f) {
    const SheetFace& face = model.faces[f];
    const std::array<dvec3, 3> x = corners_of(face, s.x);
    const Deformation d = deformation_of(model.elements[f], x);
    const FaceForce sum = force_of(model.elements[f], section, d, area_law(model.params.poisson, d.area),
                                   bend_of(model, s, f, x, d.normal));
    for (int i = 0; i < 3; ++i) force[face.node[i]] += sum.force[i], torque[face.edge[i]] += sum.torque[i];
  }
}

std::vector<double> stiffness_of(const SheetModel& held, const SheetState& s) {
  SheetModel model = held;
  std::fill(model.fixed.begin(), model.fixed.end(), std::uint8_t{0});
  std::fill(model.clamped.begin(), model.clamped.end(), std::uint8_t{0});
  SheetScratch scratch;
  clear(model.plan, scratch.factor);
  scratch.right.assign(model.plan.unknowns, 0.0);
  const Assembly assembly{model, s, scratch, 1.0, 1.0};
  for (std::size_t f = 0; f < model.faces.size(); ++f) assembly.add_face(f, section_of(model.params), 0.0);
  const std::size_t nodes = model.mass.size(), unknowns = 3 * nodes + model.edges.size();
  std::vector<std::size_t> from(model.plan.unknowns);  // [unknown in the order of elimination]
  for (std::size_t point = 0; point < model.plan.at.size(); ++point)
    for (std::uint32_t i = 0; model.plan.at[point] != kNoPoint && i < (point < nodes ? 3u : 1u); ++i)
      from[model.plan.at[point] + i] = point < nodes ? 3 * point + i : 2 * nodes + point;
  std::vector<double> dense(unknowns * unknowns, 0.0);
  for (const FactorFront& front : model.plan.fronts)
    for (std::uint32_t c = 0; c < front.own; ++c)
      for (std::uint32_t r = c; r < front.height; ++r) {
        const std::uint32_t row = r < front.own ? front.first + r : model.plan.rows[front.rows + r - front.own];
        const std::size_t i = from[row], j = from[front.first + c];
        dense[i * unknowns + j] = dense[j * unknowns + i] = scratch.factor.values[front.panel + c * front.height + r];
      }
  return dense;
}

SheetStress stress_of(const SheetModel& model, const SheetState& s, std::uint32_t face) {
  const SheetElement& e = model.elements[face];
  const Deformation d = deformation_of(e, corners_of(model.faces[face], s.x));
  const Principal p = principal(d, area_law(model.params.poisson, d.area));
  const double scale = section_of(model.params).shear / model.params.thickness * e.integrity;
  return {scale * p.p1, scale * p.p2, d.u1, d.u2};
}

std::array<dvec3, 3> corner_forces(const SheetModel& model, const SheetState& s, std::uint32_t f) {
  const std::array<dvec3, 3> x = corners_of(model.faces[f], s.x);
  const Deformation d = deformation_of(model.elements[f], x);
  return force_of(model.elements[f], section_of(model.params), d, area_law(model.params.poisson, d.area),
                  bend_of(model, s, f, x, d.normal))
      .force;
}

void follow_nodes(const SheetModel& model, std::span<const dvec3> before, SheetState& s) {
  for (std::size_t e = 0; e < model.edges.size(); ++e) {
    const auto [a, b] = model.edges[e];
    s.direction[e] = carried(s.direction[e], before[b] - before[a], s.x[b] - s.x[a], 0.0);
  }
}

void find_contacts(const SheetModel& model, const SheetState& s, std::span<const ThinObstacle> obstacles, double reach,
                   SheetContacts& contacts) {
  std::swap(contacts.list, contacts.before);
  contacts.list.clear();
  contacts.seen.assign(s.x.size(), 0);
  for (std::uint32_t k = 0; k < obstacles.size(); ++k) {
    const ContactSearch search(model, s, obstacles[k], k, reach);
    for (std::uint32_t e = 0; e < model.edges.size(); ++e) search.try_edge(e, contacts);
    for (std::uint32_t f = 0; f < model.faces.size(); ++f) search.try_face(f, contacts);
  }
  const auto order = [](const SheetContact& c) { return std::tie(c.obstacle, c.part); };
  std::sort(contacts.list.begin(), contacts.list.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  auto known = contacts.before.cbegin();
  for (SheetContact& contact : contacts.list) {
    while (known != contacts.before.cend() && order(*known) < order(contact)) ++known;
    if (known != contacts.before.cend() && order(*known) == order(contact)) contact.impulse = known->impulse;
  }
}

void step(const SheetModel& model, SheetState& s, const SheetLoads& loads, double dt, SheetScratch& scratch,
          std::span<SheetContact> contacts) {
  const Assembly assembly{model, s, scratch, dt, dt + model.params.damping_time};
  assemble(assembly, loads);
  finish(assembly);
  factorise(model.plan, scratch.factor);
  forward(model.plan, scratch.factor, scratch.right);
  scratch.answer.clear();
  if (!contacts.empty()) solve_contacts(model, dt, contacts, scratch);
  backward(model.plan, scratch.factor, scratch.right);
  if (!contacts.empty()) backward(model.plan, scratch.factor, scratch.answer);
  set_forces(model, s, loads, assembly.lag, scratch.right);
  move(model, dt, scratch, s);
}

}  // namespace trocar
