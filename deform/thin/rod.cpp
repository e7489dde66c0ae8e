// Steps an elastic rod: gradients of stretch, curvature and twist, one banded matrix, and contacts solved with it.
#include "deform/thin/rod.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "deform/thin/push.hpp"
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
  return {{model.bend / span, model.bend / span, model.twist / span},
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
    for (std::size_t j = 0; j <= i; ++j) matrix[first + i][i - j] += k * g[i] * g[j];
}

void add_edge(const RodModel& model, std::span<const RodEdge> edges, std::size_t e, std::span<double> force) {
  const dvec3 pull = model.stretch * strain_of(model, edges, e) * edges[e].tangent;
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
  const double along = model.stretch / model.length[e];
  const double across = std::max(model.stretch * strain_of(model, edges, e) / edges[e].length, 0.0);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double k = (along - across) * edges[e].tangent[i] * edges[e].tangent[j] + (i == j ? across : 0.0);
      if (j <= i) matrix[4 * e + i][i - j] += k, matrix[4 * e + 4 + i][i - j] += k;
      matrix[4 * e + 4 + i][4 + i - j] -= k;
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

// Sets `to` to matrix * speeds of the unknowns.
template <class Each>
void multiply(const Matrix& matrix, const RodState& s, Each each) {
  const std::size_t count = matrix.size();
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0.0;
    for (std::size_t d = 0; d < RodScratch::kBand; ++d) {
      if (d <= i) sum += matrix[i][d] * speed_of(s, i - d);
      if (d > 0 && i + d < count) sum += matrix[i + d][d] * speed_of(s, i + d);
    }
    each(i, sum);
  }
}

// Factors in place: L D L^T with a unit diagonal of L, D in column 0.
void factor(Matrix& a) {
  const std::size_t count = a.size();
  for (std::size_t j = 0; j < count; ++j) {
    const std::size_t last = std::min(count - 1, j + RodScratch::kBand - 1);
    for (std::size_t i = j + 1; i <= last; ++i) {
      const double share = a[i][i - j] / a[j][0];
      for (std::size_t k = i; k <= last; ++k) a[k][k - i] -= a[k][k - j] * share;
    }
    for (std::size_t i = j + 1; i <= last; ++i) a[i][i - j] /= a[j][0];
  }
}

// Solves in place with the factors, for a right side that is zero before `first`.
void solve(const Matrix& a, std::size_t first, std::span<double> b) {
  const std::size_t count = a.size();
  for (std::size_t i = first; i < count; ++i)
    for (std::size_t d = 1; d < RodScratch::kBand && d <= i - first; ++d) b[i] -= a[i][d] * b[i - d];
  for (std::size_t i = count; i-- > 0;) {
    double x = b[i] / a[i][0];
    for (std::size_t d = 1; d < RodScratch::kBand && i + d < count; ++d) x -= a[i + d][d] * b[i + d];
    b[i] = x;
  }
}

// Value at a contact's point of three components a node.
template <class Value>
dvec3 at_point(const RodContact& c, Value value) {
  return (1.0 - c.share) * value(c.edge) + c.share * value(c.edge + 1);
}

// What fixed nodes and twists get has no effect.
void drop_fixed(const RodModel& model, std::span<double> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (is_fixed(model, i)) values[i] = 0.0;
}

// Finds how contacts move under impulses at each of them, with the factors of the step.
void find_mobility(const RodModel& model, std::span<const RodContact> contacts, RodScratch& scratch) {
  const std::size_t count = contacts.size();
  scratch.mobility.resize(count * count);
  for (std::size_t j = 0; j < count; ++j)
    for (int b = 0; b < 3; ++b) {
      const std::size_t first = 4 * std::size_t{contacts[j].edge};
      scratch.answer.assign(scratch.matrix.size(), 0.0);
      scratch.answer[first + b] = 1.0 - contacts[j].share;
      scratch.answer[first + 4 + b] = contacts[j].share;
      drop_fixed(model, scratch.answer);
      solve(scratch.matrix, first, scratch.answer);
      for (std::size_t i = 0; i < count; ++i) {
        const dvec3 moved = at_point(contacts[i], [&](std::size_t node) {
          return dvec3(scratch.answer[4 * node], scratch.answer[4 * node + 1], scratch.answer[4 * node + 2]);
        });
        scratch.mobility[i * count + j][b] = moved;
      }
    }
}

// Adds matrix^-1 of the impulses to `change`. [unknown]
void apply(const RodModel& model, std::span<const RodContact> contacts, std::span<const dvec3> impulses,
           RodScratch& scratch) {
  scratch.answer.assign(scratch.matrix.size(), 0.0);
  for (std::size_t j = 0; j < contacts.size(); ++j)
    for (int b = 0; b < 3; ++b) {
      scratch.answer[4 * contacts[j].edge + b] += (1.0 - contacts[j].share) * impulses[j][b];
      scratch.answer[4 * contacts[j].edge + 4 + b] += contacts[j].share * impulses[j][b];
    }
  drop_fixed(model, scratch.answer);
  solve(scratch.matrix, 0, scratch.answer);
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
  for (std::size_t i = 0; i < count; ++i)
    scratch.speed[i] = at_point(contacts[i],
                                [&](std::size_t node) {
                                  return s.v[node] + dvec3(scratch.right[4 * node], scratch.right[4 * node + 1],
                                                           scratch.right[4 * node + 2]);
                                }) -
                       contacts[i].slide;
  for (std::size_t i = 0; i < count; ++i) solver.change(i, contacts[i].impulse);
  for (int round = 0; round < kPushRounds; ++round)
    for (std::size_t i = 0; i < count; ++i) {
      solver.press(i, std::min(-contacts[i].gap / dt, 0.0));
      solver.rub(i);
    }
  for (std::size_t i = 0; i < count; ++i) contacts[i].impulse = scratch.impulses[i];
  apply(model, contacts, scratch.impulses, scratch);
  for (std::size_t k = 0; k < scratch.right.size(); ++k) scratch.right[k] += scratch.answer[k];
  scratch.impulses.assign(count, dvec3(0.0));
  scratch.speed.assign(count, dvec3(0.0));
  for (int round = 0; round < kPushRounds; ++round)
    for (std::size_t i = 0; i < count; ++i)
      if (contacts[i].gap < 0.0) solver.press(i, -contacts[i].gap / (kStepsBack * dt));
  apply(model, contacts, scratch.impulses, scratch);
}

// (M (1 + drag dt) + dt lag K) dv = dt (f - drag M v) - dt lag K v, lag = dt + damping_time
void assemble(const RodModel& model, const RodState& s, const RodLoads& loads, double dt, RodScratch& scratch) {
  const std::size_t unknowns = 4 * s.x.size() - 1;
  const double lag = dt + model.params.damping_time;
  scratch.matrix.assign(unknowns, {});
  scratch.right.assign(unknowns, 0.0);
  find_edges(s, scratch.edges);
  add_forces_and_stiffness(model, s, scratch.edges, scratch.right, scratch.matrix);
  multiply(scratch.matrix, s, [&](std::size_t i, double stiff) { scratch.right[i] -= lag * stiff; });
  for (std::size_t i = 0; i < unknowns; ++i) {
    const double mass = mass_of(model, i);
    const double force = load_on(loads, mass, i) - model.params.drag * mass * speed_of(s, i);
    scratch.right[i] = dt * (scratch.right[i] + force);
    for (double& entry : scratch.matrix[i]) entry *= dt * lag;
    scratch.matrix[i][0] += mass * (1.0 + model.params.drag * dt);
  }
}

// What is fixed does not change its speed.
void hold_fixed(const RodModel& model, RodScratch& scratch) {
  const std::size_t unknowns = scratch.right.size();
  for (std::size_t i = 0; i < unknowns; ++i) {
    if (!is_fixed(model, i)) continue;
    scratch.matrix[i] = {1.0};
    for (std::size_t d = 1; d < RodScratch::kBand && i + d < unknowns; ++d) scratch.matrix[i + d][d] = 0.0;
    scratch.right[i] = 0.0;
  }
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
    sum.stretch += 0.5 * model.stretch * strain * strain * model.length[e];
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

void find_contacts(const RodModel& model, const RodState& s, std::span<const RodObstacle> obstacles, double reach,
                   RodContacts& contacts) {
  std::swap(contacts.list, contacts.before);
  contacts.list.clear();
  auto known = contacts.before.cbegin();
  for (std::uint32_t k = 0; k < obstacles.size(); ++k) {
    const RodObstacle& obstacle = obstacles[k];
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
      while (known != contacts.before.cend() && std::tie(known->obstacle, known->edge) < std::tie(k, e)) ++known;
      const bool again = known != contacts.before.cend() && known->obstacle == k && known->edge == e;
      const dvec3 normal = (edge.p + found.u * edge.d - axis.p - found.v * axis.d) / distance;
      contacts.list.push_back({k, e, found.u, normal, gap,
                               glm::mix(obstacle.from_velocity, obstacle.to_velocity, found.v), obstacle.friction,
                               again ? known->impulse : dvec3(0.0)});
    }
  }
}

void step(const RodModel& model, RodState& s, const RodLoads& loads, double dt, RodScratch& scratch,
          std::span<RodContact> contacts) {
  assemble(model, s, loads, dt, scratch);
  hold_fixed(model, scratch);
  factor(scratch.matrix);
  solve(scratch.matrix, 0, scratch.right);
  scratch.answer.assign(scratch.right.size(), 0.0);
  if (!contacts.empty()) solve_contacts(model, s, dt, contacts, scratch);
  move(dt, scratch, s);
  follow_nodes(scratch.before, s);
}

}  // namespace trocar
