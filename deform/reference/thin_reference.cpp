#include "deform/reference/thin_reference.hpp"

#include <algorithm>
#include <cmath>

#include "deform/reference/newton.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// What the solver needs of an unknown.
struct Unknown {
  double mass = 0.0;   // kg or kg m^2
  double speed = 0.0;  // per second
  double load = 0.0;   // N or N m
  double lever = 1.0;  // 1 or m, of the force that counts as its residual
  bool is_free = true;
};

void set_nodes(std::span<const double> mass, std::span<const std::uint8_t> fixed, std::span<const dvec3> v,
               std::span<const dvec3> force, const dvec3& gravity, std::size_t stride, std::vector<Unknown>& unknowns) {
  for (std::size_t node = 0; node < mass.size(); ++node)
    for (int axis = 0; axis < 3; ++axis) {
      const double load = mass[node] * gravity[axis] + (force.empty() ? 0.0 : force[node][axis]);
      unknowns[stride * node + static_cast<std::size_t>(axis)] = {mass[node], v[node][axis], load, 1.0,
                                                                  fixed[node] == 0 && mass[node] > 0.0};
    }
}

struct RodBody {
  using State = RodState;
  const RodModel& model;
  const RodReferenceLoads& loads;

  double damping_time() const { return model.params.damping_time; }
  double drag() const { return model.params.drag; }
  std::vector<Unknown> unknowns(const RodState& s) const {
    std::vector<Unknown> all(4 * s.x.size() - 1);
    set_nodes(model.mass, model.fixed, s.v, loads.loads.force, loads.loads.gravity, 4, all);
    for (std::size_t e = 0; e < s.spin.size(); ++e) {
      const double torque = loads.loads.torque.empty() ? 0.0 : loads.loads.torque[e];
      all[4 * e + 3] = {model.inertia[e], s.spin[e], torque, model.length[e], model.clamped[e] == 0};
    }
    return all;
  }
  void add_outside(const RodState& from, std::span<const double> u, double, Curvature curvature,
                   ThinExpansion& out) const {
    for (const RodSpring& spring : loads.springs) add_spring(spring, from, u, curvature, out);
  }
  void set_speeds(std::span<const double> speeds, RodState& s) const {
    for (std::size_t node = 0; node < s.x.size(); ++node)
      s.v[node] = {speeds[4 * node], speeds[4 * node + 1], speeds[4 * node + 2]};
    for (std::size_t e = 0; e < s.spin.size(); ++e) s.spin[e] = speeds[4 * e + 3];
  }
};

struct SheetBody {
  using State = SheetState;
  const SheetModel& model;
  const SheetLoads& loads;

  double damping_time() const { return model.params.damping_time; }
  double drag() const { return model.params.drag; }
  std::vector<Unknown> unknowns(const SheetState& s) const {
    std::vector<Unknown> all(3 * s.x.size() + s.direction.size());
    set_nodes(model.mass, model.fixed, s.v, loads.force, loads.gravity, 3, all);
    for (std::size_t e = 0; e < s.direction.size(); ++e) {
      const double length = glm::distance(s.x[model.edges[e][0]], s.x[model.edges[e][1]]);
      all[3 * s.x.size() + e] = {0.0, 0.0, 0.0, length, model.clamped[e] == 0};
    }
    return all;
  }
  void add_outside(const SheetState&, std::span<const double> u, double dt, Curvature curvature,
                   ThinExpansion& out) const {
    if (loads.pressure != 0.0) add_pressure(model, loads.pressure, u, curvature, out);
    for (SheetSpring spring : loads.springs) {
      spring.anchor += dt * spring.velocity;
      if (spring.stiffness > 0.0) add_spring(model, spring, u, curvature, out);
    }
    for (SheetSupport support : loads.supports) {
      support.position += dt * support.velocity;
      add_support(model, support, u, curvature, out);
    }
  }
  void set_speeds(std::span<const double> speeds, SheetState& s) const {
    for (std::size_t node = 0; node < s.x.size(); ++node)
      s.v[node] = {speeds[3 * node], speeds[3 * node + 1], speeds[3 * node + 2]};
  }
};

// The balance of a body at the end of a step, or at rest when dt is 0; as a problem of newton.hpp.
template <class Body>
struct ThinBalance {
  // Unknowns, and the state whose frames they continue: the start of the step, or at rest the last iterate, so that
  // edges may turn by any angle.
  struct State {
    typename Body::State from;
    std::vector<double> u;
  };
  const Body& body;
  const ThinParams& params;
  double dt;  // s
  std::vector<Unknown> unknowns;
  std::vector<double> before;  // [unknown] at the start
  std::vector<int> number;     // [unknown] among the free ones; -1: not free
  int count = 0;

  ThinBalance(const Body& b, const typename Body::State& start, double step, const ThinParams& p)
      : body(b), params(p), dt(step), unknowns(b.unknowns(start)), before(unknowns_of(start)) {
    for (const Unknown& unknown : unknowns) number.push_back(unknown.is_free ? count++ : -1);
  }

  double tolerance() const { return params.balance; }
  int most_iterations() const { return params.most_iterations; }

  // What is fixed goes on; the rest starts where it is.
  State start(const typename Body::State& from) const {
    State s{from, before};
    for (std::size_t i = 0; i < s.u.size(); ++i)
      if (!unknowns[i].is_free) s.u[i] += dt * unknowns[i].speed;
    return s;
  }

  // As an energy of u, that of the state ahead, u + lead (u - before), is divided by 1 + lead.
  void add_elastic_ahead(const State& s, Curvature curvature, ThinExpansion& out) const {
    const double lead = dt > 0.0 ? body.damping_time() / dt : 0.0;
    std::vector<double> ahead = s.u;
    if (dt > 0.0)
      for (std::size_t i = 0; i < ahead.size(); ++i) ahead[i] += lead * (s.u[i] - before[i]);
    add_elastic(body.model, s.from, ahead, curvature, out);
    out.energy /= 1.0 + lead;
    for (ThinCurvature& entry : out.curvature) entry.value *= 1.0 + lead;
  }
  ThinExpansion expand(const State& s, Curvature curvature) const {
    ThinExpansion out;
    out.slope.assign(s.u.size(), 0.0);
    add_elastic_ahead(s, curvature, out);
    body.add_outside(s.from, s.u, dt, curvature, out);
    const double inertia = dt > 0.0 ? 1.0 / (dt * dt) : 0.0, drag = dt > 0.0 ? body.drag() / dt : 0.0;
    for (std::uint32_t i = 0; i < s.u.size(); ++i) {
      const Unknown& unknown = unknowns[i];
      const double moved = s.u[i] - before[i], gained = moved - dt * unknown.speed;
      out.energy += 0.5 * unknown.mass * (inertia * gained * gained + drag * moved * moved) - unknown.load * moved;
      out.slope[i] += unknown.mass * (inertia * gained + drag * moved) - unknown.load;
      if (inertia > 0.0) out.curvature.push_back({i, i, unknown.mass * (inertia + drag)});
    }
    return out;
  }
  Eigen::VectorXd slope_of(const ThinExpansion& e) const {
    Eigen::VectorXd slope(count);
    for (std::size_t i = 0; i < number.size(); ++i)
      if (number[i] >= 0) slope(number[i]) = e.slope[i];
    return slope;
  }
  SparseMatrix curvature_of(const ThinExpansion& e) const {
    std::vector<Eigen::Triplet<double, int>> entries;
    for (const ThinCurvature& entry : e.curvature)
      if (number[entry.row] >= 0 && number[entry.column] >= 0)
        entries.emplace_back(number[entry.row], number[entry.column], entry.value);
    SparseMatrix matrix(count, count);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
  }
  double unbalanced(const ThinExpansion& e) const {
    double most = 0.0;
    for (std::size_t i = 0; i < number.size(); ++i)
      if (number[i] >= 0) most = std::max(most, std::abs(e.slope[i]) / unknowns[i].lever);
    return most;
  }
  State moved(State s, const Eigen::VectorXd& step, double share) const {
    for (std::size_t i = 0; i < number.size(); ++i)
      if (number[i] >= 0) s.u[i] += share * step(number[i]);
    if (dt > 0.0) return s;
    s.from = state_at(body.model, s.from, s.u);
    s.u = unknowns_of(s.from);
    return s;
  }
};

// At rest the energy of loads counts from `before`: a sheet's angles begin with 0 in every iterate, but have no load.
template <class Body>
ThinResult solve(const Body& body, typename Body::State& state, double dt, const ThinParams& params) {
  const ThinBalance<Body> balance(body, state, dt, params);
  auto found = balance.start(state);
  const NewtonResult result = find_minimum(balance, found);
  std::vector<double> speeds(found.u.size(), 0.0);
  if (dt > 0.0)
    for (std::size_t i = 0; i < speeds.size(); ++i) speeds[i] = (found.u[i] - balance.before[i]) / dt;
  state = state_at(body.model, found.from, found.u);
  body.set_speeds(speeds, state);
  return {result.unbalanced, result.iterations, result.balanced};
}

// Pressure is an energy where edges of one face are fixed.
void check_rim(const SheetModel& model, const SheetLoads& loads) {
  if (loads.pressure == 0.0) return;
  std::vector<int> faces(model.edges.size(), 0);
  for (const SheetFace& face : model.faces)
    for (const std::uint32_t edge : face.edge) ++faces[edge];
  for (std::size_t e = 0; e < faces.size(); ++e)
    if (faces[e] == 1 && (!model.fixed[model.edges[e][0]] || !model.fixed[model.edges[e][1]]))
      throw InputError("the reference solver needs a sheet under pressure whose rim is fixed");
}

}  // namespace

ThinResult implicit_step(const RodModel& model, RodState& state, const RodReferenceLoads& loads, double dt,
                         const ThinParams& params) {
  return solve(RodBody{model, loads}, state, dt, params);
}

ThinResult implicit_step(const SheetModel& model, SheetState& state, const SheetLoads& loads, double dt,
                         const ThinParams& params) {
  check_rim(model, loads);
  return solve(SheetBody{model, loads}, state, dt, params);
}

ThinResult implicit_equilibrium(const RodModel& model, RodState& state, const RodReferenceLoads& loads,
                                const ThinParams& params) {
  return solve(RodBody{model, loads}, state, 0.0, params);
}

ThinResult implicit_equilibrium(const SheetModel& model, SheetState& state, const SheetLoads& loads,
                                const ThinParams& params) {
  check_rim(model, loads);
  return solve(SheetBody{model, loads}, state, 0.0, params);
}

}  // namespace trocar
