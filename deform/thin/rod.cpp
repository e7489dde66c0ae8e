// Steps an elastic rod: gradients of stretch, curvature and twist, one banded matrix, and contacts solved with it.
#include "deform/thin/rod.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "geometry/closest.hpp"
#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "geometry/frame.hpp"
#include "geometry/units.hpp"

namespace trocar {
namespace {

using glm::cross;
using glm::dot;
using glm::dvec3;

constexpr int kStencil = 11;  // unknowns around a node: three nodes and the twists of two edges
constexpr double kPi = 0.5 * kFullTurn;

RodEdge edge_at(const RodState& s, std::size_t edge) {
  const dvec3 e = s.x[edge + 1] - s.x[edge], &axis = s.axis[edge];
  const double length = glm::length(e), c = elementary::cos(s.angle[edge]), sine = elementary::sin(s.angle[edge]);
  const dvec3 tangent = e / length, other = cross(tangent, axis);
  return {tangent, c * axis + sine * other, c * other - sine * axis, length};
}

void find_edges(const RodState& s, std::vector<RodEdge>& edges) {
  edges.resize(s.axis.size());
  for (std::size_t e = 0; e < edges.size(); ++e) edges[e] = edge_at(s, e);
}

std::vector<RodEdge> edges_of(const RodState& s) {
  std::vector<RodEdge> edges;
  find_edges(s, edges);
  return edges;
}

// Carries `d` from one tangent to another without turning it about them. Tangents: unit, not opposite.
dvec3 transported(const dvec3& d, const dvec3& from, const dvec3& to) {
  const dvec3 b = cross(from, to);
  const double c = dot(from, to);
  return c * d + cross(b, d) + b * (dot(b, d) / (1.0 + c));
}

// Returns the angle from `a` to `b` about `axis`, rad. All unit; a and b across the axis.
double angle_between(const dvec3& a, const dvec3& b, const dvec3& axis) {
  return elementary::atan2(dot(cross(a, b), axis), dot(a, b));
}

// Curvature and twist at an inner node, with their derivatives by the eleven unknowns around it.
struct Bend {
  std::array<double, 3> value;                           // 1, 1, rad: curvature along both axes, twist
  std::array<std::array<double, kStencil>, 3> gradient;  // by node, twist, node, twist, node
};

void add(std::array<double, kStencil>& gradient, int at, const dvec3& by) {
  for (int k = 0; k < 3; ++k) gradient[at + k] += by[k];
}

// The derivatives by the two edge vectors become those by the three nodes.
void set_nodes(std::array<double, kStencil>& gradient, const dvec3& by_before, const dvec3& by_after) {
  add(gradient, 0, -by_before);
  add(gradient, 4, by_before - by_after);
  add(gradient, 8, by_after);
}

// `twist`: from the material axes of one edge to those of the next, rad.
Bend bend_at(const RodEdge& before, const RodEdge& after, double twist) {
  const dvec3 &t = before.tangent, &u = after.tangent;
  const double chi = 1.0 + dot(t, u);
  const dvec3 binormal = 2.0 * cross(t, u) / chi, mean = (t + u) / chi;
  const dvec3 first = (before.first + after.first) / chi, second = (before.second + after.second) / chi;
  Bend b{};
  b.value = {0.5 * chi * dot(binormal, second), -0.5 * chi * dot(binormal, first), twist};
  set_nodes(b.gradient[0], (cross(u, second) - b.value[0] * mean) / before.length,
            (-cross(t, second) - b.value[0] * mean) / after.length);
  set_nodes(b.gradient[1], (-cross(u, first) - b.value[1] * mean) / before.length,
            (cross(t, first) - b.value[1] * mean) / after.length);
  set_nodes(b.gradient[2], 0.5 * binormal / before.length, 0.5 * binormal / after.length);
  b.gradient[0][3] = -0.5 * dot(binormal, before.first), b.gradient[0][7] = -0.5 * dot(binormal, after.first);
  b.gradient[1][3] = -0.5 * dot(binormal, before.second), b.gradient[1][7] = -0.5 * dot(binormal, after.second);
  b.gradient[2][3] = -1.0, b.gradient[2][7] = 1.0;
  return b;
}

Bend bend_at(const RodState& s, std::span<const RodEdge> edges, std::size_t node) {
  return bend_at(edges[node - 1], edges[node], s.angle[node] - s.angle[node - 1] + s.turn[node]);
}

// Stiffness of curvature and twist at an inner node, and its rest values.
struct BendLaw {
  std::array<double, 3> stiffness, rest;
};
BendLaw law_at(const RodModel& model, std::size_t node) {
  const double span = 0.5 * (model.length[node - 1] + model.length[node]);
  // Second moments of area go with the square of what is left of the section.
  const double least = std::min(model.whole[node - 1], model.whole[node]), whole = least * least / span;
  return {{model.bend * whole, model.bend * whole, model.twist * whole},
          {model.curvature[node].x, model.curvature[node].y, model.turn[node]}};
}

double strain_of(const RodModel& model, std::span<const RodEdge> edges, std::size_t edge) {
  return edges[edge].length / model.length[edge] - 1.0;
}

bool is_fixed(const RodModel& model, std::size_t unknown) {
  return unknown % 4 == 3 ? model.clamped[unknown / 4] != 0 : model.fixed[unknown / 4] != 0;
}

double speed_of(const RodState& s, std::size_t unknown) {
  return unknown % 4 == 3 ? s.spin[unknown / 4] : s.v[unknown / 4][static_cast<int>(unknown % 4)];
}

double mass_of(const RodModel& model, std::size_t unknown) {
  return unknown % 4 == 3 ? model.inertia[unknown / 4] : model.mass[unknown / 4];
}

// Force from outside along an unknown, N or N m.
double load_on(const RodLoads& loads, double mass, std::size_t unknown) {
  if (unknown % 4 == 3) return loads.torque.empty() ? 0.0 : loads.torque[unknown / 4];
  const int k = static_cast<int>(unknown % 4);
  return mass * loads.gravity[k] + (loads.force.empty() ? 0.0 : loads.force[unknown / 4][k]);
}

using Matrix = std::vector<std::array<double, RodScratch::kBand>>;

// Adds k g g^T for unknowns that stand one after another.
void add_square(double k, std::span<const double> g, std::size_t first, Matrix& matrix) {
  for (std::size_t i = 0; i < g.size(); ++i)
    for (std::size_t j = i; j < g.size(); ++j) matrix[first + i][j - i] += k * g[i] * g[j];
}

void add_edge(const RodModel& model, std::span<const RodEdge> edges, std::size_t e, std::span<double> force) {
  const dvec3 pull = model.whole[e] * model.stretch * strain_of(model, edges, e) * edges[e].tangent;
  for (int k = 0; k < 3; ++k) force[4 * e + k] += pull[k], force[4 * e + 4 + k] -= pull[k];
}

void add_bend(const Bend& b, const BendLaw& law, std::size_t node, std::span<double> force) {
  for (int k = 0; k < 3; ++k) {
    const double moment = law.stiffness[k] * (b.value[k] - law.rest[k]);
    for (int i = 0; i < kStencil; ++i) force[4 * (node - 1) + i] -= moment * b.gradient[k][i];
  }
}

// The stiffness of an edge along itself and, where it is stretched, across.
void add_edge_stiffness(const RodModel& model, std::span<const RodEdge> edges, std::size_t e, Matrix& matrix) {
  const double stretch = model.whole[e] * model.stretch, along = stretch / model.length[e];
  const double across = std::max(stretch * strain_of(model, edges, e) / edges[e].length, 0.0);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double k = (along - across) * edges[e].tangent[i] * edges[e].tangent[j] + (i == j ? across : 0.0);
      if (j <= i) matrix[4 * e + j][i - j] += k, matrix[4 * e + 4 + j][i - j] += k;
      matrix[4 * e + j][4 + i - j] -= k;
    }
}

// Adds the forces, and the positive part of the stiffness: squares of the gradients, and tension.
void add_forces_and_stiffness(const RodModel& model, const RodState& s, std::span<const RodEdge> edges,
                              std::span<double> force, Matrix& matrix) {
  for (std::size_t e = 0; e < edges.size(); ++e) {
    add_edge(model, edges, e, force);
    add_edge_stiffness(model, edges, e, matrix);
  }
  for (std::size_t node = 1; node < edges.size(); ++node) {
    const Bend b = bend_at(s, edges, node);
    const BendLaw law = law_at(model, node);
    add_bend(b, law, node, force);
    for (int k = 0; k < 3; ++k) add_square(law.stiffness[k], b.gradient[k], 4 * (node - 1), matrix);
  }
}

// Adds scale * matrix * v to `to`; both are a band longer than the unknowns, with zeros.
void add_product(const Matrix& matrix, double scale, std::span<const double> v, std::span<double> to) {
  for (std::size_t i = 0; i < matrix.size() - RodScratch::kBand; ++i) {
    const std::array<double, RodScratch::kBand>& row = matrix[i];
    double sum = row[0] * v[i];
    const double push = scale * v[i];
    for (std::size_t d = 1; d < RodScratch::kBand; ++d) sum += row[d] * v[i + d], to[i + d] += row[d] * push;
    to[i] += scale * sum;
  }
}

// Factors in place: L D L^T with a unit diagonal of L, D in column 0.
void factor(Matrix& a) {
  for (std::size_t j = 0; j + RodScratch::kBand < a.size(); ++j) {
    std::array<double, RodScratch::kBand>& row = a[j];
    std::array<double, RodScratch::kBand> share;
    const double inverse = 1.0 / row[0];
    for (std::size_t i = 1; i < RodScratch::kBand; ++i) share[i] = row[i] * inverse;
    for (std::size_t i = 1; i < RodScratch::kBand; ++i)
      for (std::size_t k = i; k < RodScratch::kBand; ++k) a[j + i][k - i] -= share[i] * row[k];
    for (std::size_t i = 1; i < RodScratch::kBand; ++i) row[i] = share[i];
  }
}

// Solves in place with the factors, for right sides (numbers, or several together) that are zero before `first`; those
// before `last` are not found. `b` is a band longer than the unknowns.
template <class Value>
void solve(const Matrix& a, std::size_t first, std::size_t last, std::span<Value> b) {
  const std::size_t count = a.size() - RodScratch::kBand;
  for (std::size_t i = first; i < count; ++i)
    for (std::size_t d = 1; d < RodScratch::kBand; ++d) b[i + d] -= a[i][d] * b[i];
  for (std::size_t i = first; i < count; ++i) b[i] *= 1.0 / a[i][0];
  for (std::size_t i = count; i < count + RodScratch::kBand; ++i) b[i] = Value{};
  for (std::size_t i = count; i-- > last;) {
    Value sum = b[i], other{};  // two sums, so that neither waits for the other
    for (std::size_t d = 1; d + 1 < RodScratch::kBand; d += 2) {
      sum -= a[i][d] * b[i + d];
      other -= a[i][d + 1] * b[i + d + 1];
    }
    sum += other;
    b[i] = sum;
  }
}

// How a point moves with the seven unknowns of its edge: node, twist, node.
struct Motion {
  double before, after;  // 1, shares of the nodes
  dvec3 tangent, arm;    // unit; m
  double length;         // m

  dvec3 of(const dvec3& from, double turn, const dvec3& to) const {
    const dvec3 turned = (to - from) / length;
    return before * from + after * to + dot(tangent, arm) * turned - dot(arm, turned) * tangent +
           turn * cross(tangent, arm);
  }
  // The transposed map: what a force at the point is on the unknowns.
  std::array<double, 7> loads_of(const dvec3& force) const {
    const dvec3 couple = (dot(tangent, arm) * force - dot(tangent, force) * arm) / length;
    const dvec3 from = before * force - couple, to = after * force + couple;
    return {from.x, from.y, from.z, dot(cross(tangent, arm), force), to.x, to.y, to.z};
  }
};

// Rows of that map: [axis][unknown].
using MotionRows = std::array<std::array<double, 7>, 3>;
MotionRows rows_of(const Motion& m) {
  MotionRows rows;
  for (int k = 0; k < 3; ++k) {
    dvec3 unit(0.0);
    unit[k] = 1.0;
    rows[static_cast<std::size_t>(k)] = m.loads_of(unit);
  }
  return rows;
}

Motion motion_of(const RodPoint& p, const RodEdge& edge) {
  return {1.0 - p.share, p.share, edge.tangent, p.arm, edge.length};
}

// Velocity of a point, from values of the unknowns.
dvec3 at_point(const Motion& motion, std::uint32_t edge, std::span<const double> values) {
  const double* v = values.data() + 4 * std::size_t{edge};
  return motion.of({v[0], v[1], v[2]}, v[3], {v[4], v[5], v[6]});
}

void add_loads(const Motion& motion, std::uint32_t edge, const dvec3& force, std::span<double> values) {
  const std::array<double, 7> loads = motion.loads_of(force);
  for (std::size_t i = 0; i < loads.size(); ++i) values[4 * std::size_t{edge} + i] += loads[i];
}

// What fixed nodes and twists get has no effect.
void drop_fixed(const RodModel& model, std::span<double> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (is_fixed(model, i)) values[i] = 0.0;
}

// Finds how contacts move under impulses at each of them, with the factors of the step. What the first moves by an
// impulse at the second, the second moves by one at the first: only what lies behind an impulse is solved for.
void find_mobility(const RodModel& model, std::span<const RodContact> contacts, RodScratch& scratch) {
  const std::size_t count = contacts.size();
  scratch.mobility.resize(count * count);
  scratch.rows.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    scratch.rows[i] = rows_of(motion_of(contacts[i].at, scratch.edges[contacts[i].at.edge]));
  for (std::size_t j = 0; j < count; ++j) {
    const std::size_t first = 4 * std::size_t{contacts[j].at.edge};
    scratch.answers.assign(scratch.matrix.size(), RodAnswers{});
    for (std::size_t i = 0; i < 7; ++i)
      if (!is_fixed(model, first + i))
        scratch.answers[first + i].by = {scratch.rows[j][0][i], scratch.rows[j][1][i], scratch.rows[j][2][i], 0.0};
    solve(scratch.matrix, first, first, std::span(scratch.answers));
    for (std::size_t i = 0; i < count; ++i) {
      if (contacts[i].at.edge < contacts[j].at.edge || (contacts[i].at.edge == contacts[j].at.edge && i < j)) continue;
      const RodAnswers* moved = scratch.answers.data() + 4 * std::size_t{contacts[i].at.edge};
      glm::dmat3 by_row(0.0);  // [axis] speed along it, by component of the impulse
      for (int k = 0; k < 3; ++k)
        for (std::size_t u = 0; u < 7; ++u)
          for (int c = 0; c < 3; ++c)
            by_row[k][c] += scratch.rows[i][static_cast<std::size_t>(k)][u] * moved[u].by[static_cast<std::size_t>(c)];
      scratch.mobility[j * count + i] = by_row;
      scratch.mobility[i * count + j] = glm::transpose(by_row);
    }
    scratch.mobility[j * count + j] += contacts[j].compliance * glm::dmat3(1.0);
  }
}

// Sets `answer` to matrix^-1 of the impulses.
void apply(const RodModel& model, std::span<const RodContact> contacts, std::span<const dvec3> impulses,
           RodScratch& scratch) {
  scratch.answer.assign(scratch.matrix.size(), 0.0);
  for (std::size_t j = 0; j < contacts.size(); ++j)
    add_loads(motion_of(contacts[j].at, scratch.edges[contacts[j].at.edge]), contacts[j].at.edge, impulses[j],
              scratch.answer);
  drop_fixed(model, std::span(scratch.answer).first(scratch.answer.size() - RodScratch::kBand));
  solve(scratch.matrix, 0, 0, std::span(scratch.answer));
}

dvec3 speed_at(const RodState& s, const RodPoint& at, const Motion& motion) {
  return motion.of(s.v[at.edge], s.spin[at.edge], s.v[at.edge + 1]);
}

// Impulses that keep the rod out of obstacles, then those that take overlaps back. Call with the changes of speed in
// `right`; leaves the speeds that only take overlaps back in `answer`.
void solve_contacts(const RodModel& model, const RodState& s, double dt, std::span<RodContact> contacts,
                    RodScratch& scratch) {
  const std::size_t count = contacts.size();
  find_mobility(model, contacts, scratch);
  scratch.speed.resize(count);
  scratch.impulses.assign(count, dvec3(0.0));
  const PushSolver<RodContact> solver{contacts, scratch.mobility, scratch.speed, scratch.impulses};
  for (std::size_t i = 0; i < count; ++i) {
    const RodPoint& at = contacts[i].at;
    const Motion motion = motion_of(at, scratch.edges[at.edge]);
    scratch.speed[i] = speed_at(s, at, motion) + at_point(motion, at.edge, scratch.right) - contacts[i].slide;
  }
  solver.keep_out(dt);
  apply(model, contacts, scratch.impulses, scratch);
  for (std::size_t k = 0; k < scratch.right.size(); ++k) scratch.right[k] += scratch.answer[k];
  solver.take_back(dt);
  apply(model, contacts, scratch.impulses, scratch);
}

// (M (1 + drag dt) + dt lag K) dv = dt (f - drag M v) - dt lag K v, lag = dt + damping_time
void assemble(const RodModel& model, const RodState& s, const RodLoads& loads, double dt, RodScratch& scratch) {
  const std::size_t unknowns = 4 * s.x.size() - 1;
  const double lag = dt + model.params.damping_time;
  for (std::vector<double>* values : {&scratch.right, &scratch.speeds})
    values->assign(unknowns + RodScratch::kBand, 0.0);
  scratch.matrix.assign(unknowns + RodScratch::kBand, {});
  for (std::size_t i = 0; i < unknowns; ++i) scratch.speeds[i] = speed_of(s, i);
  find_edges(s, scratch.edges);
  add_forces_and_stiffness(model, s, scratch.edges, scratch.right, scratch.matrix);
  add_product(scratch.matrix, -lag, scratch.speeds, scratch.right);
  for (std::size_t i = 0; i < unknowns; ++i) {
    const double mass = mass_of(model, i);
    const double force = load_on(loads, mass, i) - model.params.drag * mass * scratch.speeds[i];
    scratch.right[i] = dt * (scratch.right[i] + force);
    for (double& entry : scratch.matrix[i]) entry *= dt * lag;
    scratch.matrix[i][0] += mass * (1.0 + model.params.drag * dt);
  }
}

// A force that pulls away from the axis turns its edge towards itself: the positive part of that stiffness, for turns
// of the edge across and about itself.
void add_lever_stiffness(const RodAnchor& anchor, const Motion& motion, double scale, Matrix& matrix) {
  const double whole = dot(motion.arm, anchor.force);
  const double along = dot(motion.arm, motion.tangent) * dot(anchor.force, motion.tangent);
  const std::size_t first = 4 * std::size_t{anchor.at.edge};
  matrix[first + 3][0] += scale * std::max(whole - along, 0.0);
  if (!(whole > 0.0)) return;
  const double across = scale * whole / (motion.length * motion.length);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double k = across * ((i == j ? 1.0 : 0.0) - motion.tangent[i] * motion.tangent[j]);
      if (j <= i) matrix[first + j][i - j] += k, matrix[first + 4 + j][i - j] += k;
      matrix[first + j][4 + i - j] -= k;
    }
}

// Adds the springs: dt force on the right, dt^2 stiffness in the matrix.
void add_anchors(const RodState& s, std::span<const RodAnchor> anchors, double dt, RodScratch& scratch) {
  for (const RodAnchor& anchor : anchors) {
    const std::uint32_t edge = anchor.at.edge;
    const Motion motion = motion_of(anchor.at, scratch.edges[edge]);
    const dvec3 ahead = anchor.force + anchor.stiffness * (dt * (anchor.velocity - speed_at(s, anchor.at, motion)));
    add_loads(motion, edge, dt * ahead, scratch.right);
    const MotionRows rows = rows_of(motion);
    MotionRows stiff;
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t i = 0; i < 7; ++i)
        stiff[k][i] = dt * dt *
                      (anchor.stiffness[0][static_cast<int>(k)] * rows[0][i] +
                       anchor.stiffness[1][static_cast<int>(k)] * rows[1][i] +
                       anchor.stiffness[2][static_cast<int>(k)] * rows[2][i]);
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = i; j < 7; ++j)
        scratch.matrix[4 * std::size_t{edge} + i][j - i] +=
            rows[0][i] * stiff[0][j] + rows[1][i] * stiff[1][j] + rows[2][i] * stiff[2][j];
    add_lever_stiffness(anchor, motion, dt * dt, scratch.matrix);
  }
}

// Sets the forces that acted. Returns whether one was above its limit and is now at it, without stiffness.
bool limit_anchors(const RodState& s, std::span<RodAnchor> anchors, double dt, const RodScratch& scratch) {
  bool slipped = false;
  for (RodAnchor& anchor : anchors) {
    if (!(anchor.limit < INFINITY) || anchor.slipped) continue;
    const Motion motion = motion_of(anchor.at, scratch.edges[anchor.at.edge]);
    const dvec3 speed = speed_at(s, anchor.at, motion) + at_point(motion, anchor.at.edge, scratch.right);
    const dvec3 force = anchor.force + anchor.stiffness * (dt * (anchor.velocity - speed));
    const double size = glm::length(force);
    if (!(size > anchor.limit)) continue;
    anchor.force = force * (anchor.limit / size);
    anchor.stiffness = glm::dmat3(0.0);
    anchor.slipped = slipped = true;
  }
  return slipped;
}

// Call with the changes of speed in `right`.
void set_anchor_forces(const RodState& s, std::span<RodAnchor> anchors, double dt, const RodScratch& scratch) {
  for (RodAnchor& anchor : anchors) {
    const Motion motion = motion_of(anchor.at, scratch.edges[anchor.at.edge]);
    const dvec3 speed = speed_at(s, anchor.at, motion) + at_point(motion, anchor.at.edge, scratch.right);
    anchor.force += anchor.stiffness * (dt * (anchor.velocity - speed));
  }
}

// What is fixed does not change its speed.
void hold_fixed(const RodModel& model, RodScratch& scratch) {
  const std::size_t unknowns = scratch.right.size() - RodScratch::kBand;
  for (std::size_t i = 0; i < unknowns; ++i) {
    if (!is_fixed(model, i)) continue;
    scratch.matrix[i] = {1.0};
    for (std::size_t d = 1; d < RodScratch::kBand && d <= i; ++d) scratch.matrix[i - d][d] = 0.0;
    scratch.right[i] = 0.0;
  }
}

// Leaves the factors in `matrix` and the changes of speed in `right`.
void solve_with(const RodModel& model, const RodState& s, std::span<const RodAnchor> anchors, double dt,
                RodScratch& scratch) {
  add_anchors(s, anchors, dt, scratch);
  hold_fixed(model, scratch);
  factor(scratch.matrix);
  solve(scratch.matrix, 0, 0, std::span(scratch.right));
}

// Changes the speeds by `right`, and moves by them and by what takes overlaps back.
void move(double dt, RodScratch& scratch, RodState& s) {
  scratch.before.assign(s.x.begin(), s.x.end());
  for (std::size_t node = 0; node < s.x.size(); ++node)
    for (int k = 0; k < 3; ++k) {
      s.v[node][k] += scratch.right[4 * node + k];
      s.x[node][k] += dt * (s.v[node][k] + scratch.answer[4 * node + k]);
    }
  for (std::size_t e = 0; e < s.spin.size(); ++e) {
    s.spin[e] += scratch.right[4 * e + 3];
    s.angle[e] += dt * s.spin[e];
  }
}

void require(bool good, const char* what) {
  if (!good) throw InputError(fmt::format("a rod {}", what));
}

}  // namespace

RodSection section_of(const RodParams& p) {
  const double outer = p.outer_radius * p.outer_radius, inner = p.inner_radius * p.inner_radius;
  const double bending = 0.25 * kPi * (outer * outer - inner * inner), area = kPi * (outer - inner);
  return {area, bending, 2.0 * bending, p.density * area + p.filling * kPi * inner};
}

RodModel make_rod(const RodParams& p, std::span<const dvec3> points) {
  require(points.size() >= 2, "needs at least two points");
  require(p.outer_radius > 0.0 && p.inner_radius >= 0.0 && p.inner_radius < p.outer_radius,
          "needs 0 <= inner radius < outer radius");
  require(p.youngs_modulus > 0.0 && p.density > 0.0 && p.poisson >= 0.0 && p.poisson <= 0.5,
          "needs a modulus and a density above 0, and a Poisson's ratio of 0 to 0.5");
  require(p.damping_time >= 0.0 && p.drag >= 0.0 && p.filling >= 0.0, "needs damping, drag and filling of at least 0");
  const RodSection section = section_of(p);
  const std::size_t nodes = points.size(), edges = nodes - 1;
  RodModel model;
  model.params = p;
  model.stretch = p.youngs_modulus * section.area;
  model.bend = p.youngs_modulus * section.bending;
  model.twist = p.youngs_modulus / (2.0 * (1.0 + p.poisson)) * section.torsion;
  model.length.resize(edges), model.inertia.resize(edges), model.clamped.assign(edges, 0);
  model.whole.assign(edges, 1.0);
  model.mass.assign(nodes, 0.0), model.fixed.assign(nodes, 0);
  model.curvature.assign(nodes, glm::dvec2(0.0)), model.turn.assign(nodes, 0.0);
  for (std::size_t e = 0; e < edges; ++e) {
    const double length = glm::distance(points[e], points[e + 1]);
    require(length > 0.0 && std::isfinite(length), "needs neighbouring points that lie apart");
    model.length[e] = length;
    model.inertia[e] = p.density * section.torsion * length;
    for (const std::size_t end : {e, e + 1}) model.mass[end] += 0.5 * section.per_metre * length;
  }
  const RodState rest = rest_state(model, points);
  const std::vector<RodEdge> at_rest = edges_of(rest);
  for (std::size_t node = 1; node < edges; ++node) {
    const Bend b = bend_at(rest, at_rest, node);
    model.curvature[node] = {b.value[0], b.value[1]};
    model.turn[node] = b.value[2];
  }
  return model;
}

RodState rest_state(const RodModel& model, std::span<const dvec3> points) {
  const std::size_t nodes = points.size(), edges = model.length.size();
  RodState s;
  s.x.assign(points.begin(), points.end());
  s.v.assign(nodes, dvec3(0.0));
  s.angle.assign(edges, 0.0), s.spin.assign(edges, 0.0), s.turn.assign(nodes, 0.0);
  s.axis.resize(edges);
  dvec3 tangent{};
  for (std::size_t e = 0; e < edges; ++e) {
    const dvec3 next = glm::normalize(points[e + 1] - points[e]);
    s.axis[e] = e == 0 ? glm::normalize(any_perpendicular(next)) : transported(s.axis[e - 1], tangent, next);
    tangent = next;
  }
  return s;
}

RodEnergy energy_of(const RodModel& model, const RodState& s) {
  RodEnergy sum{};
  const std::vector<RodEdge> edges = edges_of(s);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const double strain = strain_of(model, edges, e);
    sum.stretch += 0.5 * model.whole[e] * model.stretch * strain * strain * model.length[e];
    sum.motion += 0.5 * model.inertia[e] * s.spin[e] * s.spin[e];
  }
  for (std::size_t node = 0; node < s.x.size(); ++node) {
    sum.motion += 0.5 * model.mass[node] * dot(s.v[node], s.v[node]);
    if (node == 0 || node + 1 == s.x.size()) continue;
    const Bend b = bend_at(s, edges, node);
    const BendLaw law = law_at(model, node);
    for (int k = 0; k < 3; ++k) {
      const double off = b.value[k] - law.rest[k];
      (k < 2 ? sum.bend : sum.twist) += 0.5 * law.stiffness[k] * off * off;
    }
  }
  return sum;
}

void elastic_forces(const RodModel& model, const RodState& s, std::span<double> force) {
  std::fill(force.begin(), force.end(), 0.0);
  const std::vector<RodEdge> edges = edges_of(s);
  for (std::size_t e = 0; e < edges.size(); ++e) add_edge(model, edges, e, force);
  for (std::size_t node = 1; node < edges.size(); ++node)
    add_bend(bend_at(s, edges, node), law_at(model, node), node, force);
}

void follow_nodes(std::span<const dvec3> before, RodState& s) {
  const std::size_t edges = s.axis.size();
  dvec3 last_tangent{}, last_axis{};
  for (std::size_t e = 0; e < edges; ++e) {
    const dvec3 old = glm::normalize(before[e + 1] - before[e]), now = glm::normalize(s.x[e + 1] - s.x[e]);
    const dvec3 carried = transported(s.axis[e], old, now);
    s.axis[e] = glm::normalize(carried - dot(carried, now) * now);
    if (e > 0) {
      const dvec3 straight = transported(last_axis, last_tangent, now);
      const double whole = angle_between(straight, s.axis[e], now), off = whole - s.turn[e];
      s.turn[e] = whole - kFullTurn * std::floor(off / kFullTurn + 0.5);  // the turn nearest to the one before
    }
    last_tangent = now, last_axis = s.axis[e];
  }
}

dvec3 velocity_at(const RodState& s, const RodPoint& p) { return speed_at(s, p, motion_of(p, edge_at(s, p.edge))); }

void find_contacts(const RodModel& model, const RodState& s, std::span<const ThinObstacle> obstacles, double reach,
                   RodContacts& contacts) {
  std::swap(contacts.list, contacts.before);
  contacts.list.clear();
  auto known = contacts.before.cbegin();
  for (std::uint32_t k = 0; k < obstacles.size(); ++k) {
    const ThinObstacle& obstacle = obstacles[k];
    const closest::Segment axis = closest::segment(obstacle.from, obstacle.to);
    bool shared = false;  // the edge before ends in a contact, which is the start of this one
    for (std::uint32_t e = 0; e < s.axis.size(); ++e) {
      const closest::Segment edge = closest::segment(s.x[e], s.x[e + 1]);
      const closest::SegmentPair found = closest::closest_segments(edge, axis);
      const double distance = std::sqrt(found.squared);
      const double gap = distance - obstacle.radius - model.params.outer_radius;
      const bool listed = gap < reach && distance > 0.0 && !(shared && found.u <= 0.0);
      shared = listed && found.u >= 1.0;
      if (!listed) continue;
      while (known != contacts.before.cend() && std::tie(known->obstacle, known->at.edge) < std::tie(k, e)) ++known;
      const bool again = known != contacts.before.cend() && known->obstacle == k && known->at.edge == e;
      const dvec3 normal = (edge.p + found.u * edge.d - axis.p - found.v * axis.d) / distance;
      // The touched point turns with the edge: friction twists.
      const RodPoint at{e, found.u, -model.params.outer_radius * normal};
      contacts.list.push_back({k, at, normal, gap, glm::mix(obstacle.from_velocity, obstacle.to_velocity, found.v),
                               obstacle.friction, 0.0, again ? known->impulse : dvec3(0.0)});
    }
  }
}

void step(const RodModel& model, RodState& s, const RodLoads& loads, double dt, RodScratch& scratch,
          std::span<RodContact> contacts, std::span<RodAnchor> anchors) {
  assemble(model, s, loads, dt, scratch);
  const bool may_slip = std::ranges::any_of(anchors, [](const RodAnchor& a) { return a.limit < INFINITY; });
  if (may_slip) scratch.first_matrix = scratch.matrix, scratch.first_right = scratch.right;
  solve_with(model, s, anchors, dt, scratch);
  // A hold that slips pulls with its limit: once more, without its stiffness.
  if (may_slip && limit_anchors(s, anchors, dt, scratch)) {
    scratch.matrix = scratch.first_matrix, scratch.right = scratch.first_right;
    solve_with(model, s, anchors, dt, scratch);
  }
  scratch.answer.assign(scratch.right.size(), 0.0);
  if (!contacts.empty()) solve_contacts(model, s, dt, contacts, scratch);
  set_anchor_forces(s, anchors, dt, scratch);
  move(dt, scratch, s);
  follow_nodes(scratch.before, s);
}

}  // namespace trocar
