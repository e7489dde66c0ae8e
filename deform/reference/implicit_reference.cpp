// Solves the balance of forces of the implicit reference solver by Newton's method, with sparse direct solves and a
// line search on the energy.
#include "deform/reference/implicit_reference.hpp"

#include <algorithm>
#include <cmath>

#include "deform/reference/energy.hpp"
#include "deform/reference/newton.hpp"

namespace trocar {
namespace {

using glm::dmat3;
using glm::dvec3;

// Friction has converged when no normal force changed by more than this fraction of the largest.
constexpr double kFrictionConverged = 1e-3;

constexpr std::uint32_t kFixed = 0xffffffffu;

// The balance of forces at the end of a step, or at rest when dt is 0.
struct Balance {
  const TissueModel& model;
  const TissueLoads& loads;
  const ImplicitParams& params;
  std::vector<dvec3> before, coasting;         // [node] m  positions at the step's start, and at its end without forces
  dvec3 breath;                                // m
  double dt;                                   // s
  std::vector<ImplicitPoint> contacts, holds;  // [contact], [hold]
  std::vector<ImplicitFriction> friction;      // [contact] empty without friction
  std::vector<std::uint32_t> unknown;          // [node] index among the moving nodes, or kFixed
  std::size_t unknowns = 0;
};

bool moves(const TissueModel& model, std::size_t node) {
  return model.inverse_mass[node] > 0.f && model.mass[node] > 0.f;
}

const ToolStep& tool_of(const Balance& b, std::size_t contact) { return b.loads.tools[b.loads.contacts[contact].tool]; }

Balance make_balance(const TissueModel& model, const TissueLoads& loads, const ImplicitParams& params,
                     const ImplicitState& state, double dt) {
  Balance b{model, loads, params, state.x, state.x, dvec3(breath(model.breathing, state.time + dt)),
            dt,    {},    {},     {},      {},      0};
  for (std::size_t i = 0; i < state.x.size(); ++i) {
    b.coasting[i] += dt * state.v[i];
    b.unknown.push_back(moves(model, i) ? static_cast<std::uint32_t>(b.unknowns++) : kFixed);
  }
  for (const TissueContact& contact : loads.contacts) b.contacts.push_back(contact_point(model, contact));
  for (const TissueHold& hold : loads.holds) b.holds.push_back(held_point(hold.point));
  return b;
}

void add_elastic(const Balance& b, std::span<const dvec3> x, Curvature curvature, Expansion& out) {
  add_springs(b.model, x, curvature, out);
  add_volumes(b.model, x, curvature, out);
  add_tethers(b.model, x, b.breath, out);
}

// Elastic forces are those at the state `ahead` = x + lead (x - before). As an energy of x, it is the energy of the
// state `ahead` divided by 1 + lead.
void add_damped_elastic(const Balance& b, std::span<const dvec3> x, Curvature curvature, Expansion& out) {
  const double lead = b.dt > 0.0 ? b.model.params.damping_time / b.dt : 0.0;
  std::vector<dvec3> ahead(x.begin(), x.end());
  for (std::size_t i = 0; i < ahead.size(); ++i) ahead[i] += lead * (x[i] - b.before[i]);
  add_elastic(b, ahead, curvature, out);
  out.energy /= 1.0 + lead;
  for (CurvatureBlock& block : out.curvature) block.value *= 1.0 + lead;
}

void add_inertia_and_weight(const Balance& b, std::span<const dvec3> x, Expansion& out) {
  const double inertia = b.dt > 0.0 ? 1.0 / (b.dt * b.dt) : 0.0;
  const double drag = b.dt > 0.0 ? b.model.params.drag / b.dt : 0.0;
  for (std::uint32_t i = 0; i < x.size(); ++i) {
    const double mass = b.model.mass[i];
    const dvec3 gained = x[i] - b.coasting[i], moved = x[i] - b.before[i], gravity(b.model.gravity[i]);
    out.energy += mass * (0.5 * inertia * glm::dot(gained, gained) + 0.5 * drag * glm::dot(moved, moved) -
                          glm::dot(gravity, moved));
    out.slope[i] += mass * (inertia * gained + drag * moved - gravity);
    if (inertia > 0.0) out.curvature.push_back({i, i, dmat3(mass * (inertia + drag))});
  }
}

Expansion expand(const Balance& b, std::span<const dvec3> x, Curvature curvature) {
  Expansion out;
  out.slope.assign(x.size(), dvec3(0.0));
  add_damped_elastic(b, x, curvature, out);
  add_inertia_and_weight(b, x, out);
  for (std::size_t i = 0; i < b.contacts.size(); ++i)
    add_contact(b.contacts[i], b.loads.contacts[i], tool_of(b, i), b.params.contact_stiffness, x, curvature, out);
  for (std::size_t i = 0; i < b.holds.size(); ++i)
    add_hold(b.holds[i], b.loads.holds[i], b.params.hold_stiffness, x, curvature, out);
  for (std::size_t i = 0; i < b.friction.size(); ++i) add_friction(b.contacts[i], b.friction[i], x, curvature, out);
  return out;
}

Eigen::VectorXd slope_of(const Balance& b, const Expansion& e) {
  Eigen::VectorXd slope(3 * b.unknowns);
  for (std::size_t node = 0; node < e.slope.size(); ++node)
    if (b.unknown[node] != kFixed)
      for (int axis = 0; axis < 3; ++axis) slope(3 * b.unknown[node] + axis) = e.slope[node][axis];
  return slope;
}

double unbalanced(const Balance& b, const Expansion& e) {
  double most = 0.0;
  for (std::size_t node = 0; node < e.slope.size(); ++node)
    if (b.unknown[node] != kFixed) most = std::max(most, glm::length(e.slope[node]));
  return most;
}

// Assembles only the lower triangle. Unknowns keep the order of the nodes, so a block on or below the diagonal stays
// there.
SparseMatrix curvature_of(const Balance& b, const Expansion& e) {
  std::vector<Eigen::Triplet<double, int>> entries;
  entries.reserve(9 * e.curvature.size());
  for (const CurvatureBlock& block : e.curvature) {
    const std::uint32_t row = b.unknown[block.row], column = b.unknown[block.column];
    if (row == kFixed || column == kFixed) continue;
    for (int c = 0; c < 3; ++c)
      for (int r = row == column ? c : 0; r < 3; ++r)
        entries.emplace_back(3 * row + r, 3 * column + c, block.value[c][r]);
  }
  SparseMatrix matrix(3 * b.unknowns, 3 * b.unknowns);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

// The balance as a problem of newton.hpp.
struct BalanceProblem {
  using State = std::vector<dvec3>;
  const Balance& b;

  double tolerance() const { return b.params.balance; }
  int most_iterations() const { return b.params.most_iterations; }
  Expansion expand(const State& x, Curvature curvature) const { return trocar::expand(b, x, curvature); }
  Eigen::VectorXd slope_of(const Expansion& e) const { return trocar::slope_of(b, e); }
  SparseMatrix curvature_of(const Expansion& e) const { return trocar::curvature_of(b, e); }
  double unbalanced(const Expansion& e) const { return trocar::unbalanced(b, e); }
  State moved(State x, const Eigen::VectorXd& step, double share) const {
    for (std::size_t node = 0; node < x.size(); ++node)
      if (const std::uint32_t i = b.unknown[node]; i != kFixed)
        x[node] += share * dvec3(step(3 * i), step(3 * i + 1), step(3 * i + 2));
    return x;
  }
};

void newton(const Balance& b, std::vector<dvec3>& x, ImplicitResult& answer) {
  const NewtonResult result = find_minimum(BalanceProblem{b}, x, answer.iterations);
  answer.unbalanced = result.unbalanced, answer.iterations = result.iterations, answer.balanced = result.balanced;
}

dvec3 carried(const MovingPart& part, const dvec3& point) {
  const RigidFrame before = frame_at(*part.motion, *part.shape, part.from),
                   after = frame_at(*part.motion, *part.shape, part.to);
  return after.to_world(before.to_local(point)) - point;
}

// Returns the displacement of `point` with the tool. A shaft moves with the tip and turns about the pivot.
dvec3 carried(const ToolStep& tool, const dvec3& point) {
  if (tool.part.shape) return carried(tool.part, point);
  const dvec3 before = glm::normalize(tool.tip_before - tool.pivot),
              after = glm::normalize(tool.tip_after - tool.pivot);
  return tool.tip_after - tool.tip_before + glm::dot(point - tool.tip_before, before) * (after - before);
}

ImplicitContact touch_of(const Balance& b, std::size_t contact, std::span<const dvec3> x) {
  return touch_between(position_of(b.contacts[contact], x), tool_of(b, contact),
                       dvec3(b.loads.contacts[contact].normal));
}

// Updates friction with the current normal forces. Returns their largest change as a fraction of the largest force.
double renew_friction(Balance& b, std::span<const dvec3> x) {
  const double friction = b.model.params.friction;
  if (friction == 0.0 || b.dt == 0.0) return 0.0;
  const bool first = b.friction.empty();
  b.friction.resize(b.contacts.size());
  double change = 0.0, most = 0.0;
  for (std::size_t i = 0; i < b.contacts.size(); ++i) {
    const ImplicitContact touch = touch_of(b, i, x);
    const double grip =
        (b.loads.contacts[i].smooth ? 0.0 : friction) * b.params.contact_stiffness * std::max(touch.depth, 0.0);
    change = std::max(change, std::abs(grip - (first ? 0.0 : b.friction[i].grip)));
    most = std::max(most, grip);
    const dvec3 was = position_of(b.contacts[i], b.before);
    b.friction[i] = {touch.normal, was + carried(tool_of(b, i), was), grip, b.params.creep * b.dt};
  }
  return most > 0.0 ? change / most : 0.0;
}

// Computes the force on tools and instruments: the gradient of each contact's energy, summed over its nodes, whose
// weights sum to one.
void read_forces(const Balance& b, std::span<const dvec3> x, ImplicitResult& answer) {
  answer.tool_force.assign(b.loads.tools.size(), dvec3(0.0));
  answer.hold_force.assign(b.loads.holds.size(), dvec3(0.0));
  const auto sum_of = [&](const ImplicitPoint& point, auto add) {
    Expansion one;
    one.slope.assign(x.size(), dvec3(0.0));
    add(one);
    dvec3 sum(0.0);
    for (const std::uint32_t node : point.node) sum += one.slope[node];
    return sum;
  };
  for (std::size_t i = 0; i < b.contacts.size(); ++i) {
    const ImplicitPoint& p = b.contacts[i];
    answer.deepest = std::max(answer.deepest, touch_of(b, i, x).depth);
    answer.tool_force[b.loads.contacts[i].tool] += sum_of(p, [&](Expansion& one) {
      add_contact(p, b.loads.contacts[i], tool_of(b, i), b.params.contact_stiffness, x, Curvature::None, one);
      if (!b.friction.empty()) add_friction(p, b.friction[i], x, Curvature::None, one);
    });
  }
  for (std::size_t i = 0; i < b.holds.size(); ++i)
    answer.hold_force[i] = sum_of(b.holds[i], [&](Expansion& one) {
      add_hold(b.holds[i], b.loads.holds[i], b.params.hold_stiffness, x, Curvature::None, one);
    });
}

void move_diaphragm(const Balance& b, std::vector<dvec3>& x) {
  for (const std::uint32_t node : b.model.diaphragm) x[node] = dvec3(b.model.rest[node]) + b.breath;
}

}  // namespace

ImplicitState implicit_rest(const TissueModel& model) {
  ImplicitState state;
  state.x.assign(model.rest.begin(), model.rest.end());
  state.v.assign(model.rest.size(), dvec3(0.0));
  return state;
}

ImplicitResult implicit_step(const TissueModel& model, ImplicitState& state, const TissueLoads& loads, double dt,
                             const ImplicitParams& params) {
  Balance b = make_balance(model, loads, params, state, dt);
  ImplicitResult answer;
  move_diaphragm(b, state.x);
  newton(b, state.x, answer);
  for (int round = 0; round < params.most_friction_rounds; ++round) {
    if (renew_friction(b, state.x) <= kFrictionConverged) break;
    newton(b, state.x, answer);
  }
  for (std::size_t i = 0; i < state.x.size(); ++i) state.v[i] = (state.x[i] - b.before[i]) / dt;
  state.time += dt;
  read_forces(b, state.x, answer);
  return answer;
}

ImplicitResult implicit_equilibrium(const TissueModel& model, ImplicitState& state, const TissueLoads& loads,
                                    const ImplicitParams& params) {
  const Balance b = make_balance(model, loads, params, state, 0.0);
  ImplicitResult answer;
  move_diaphragm(b, state.x);
  newton(b, state.x, answer);
  state.v.assign(state.x.size(), dvec3(0.0));
  read_forces(b, state.x, answer);
  return answer;
}

}  // namespace trocar
