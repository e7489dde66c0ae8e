// The time step: small substeps, in each of them motion, one sweep over the springs, the contacts.
#include <algorithm>
#include <cmath>

#include "deform/spring_sweep.hpp"
#include "deform/tissue.hpp"
#include "deform/unfold.hpp"

namespace trocar {
namespace {

// How stiff the lattice is for one substep: stiffness dt^2 / mass of an edge spring inside the organ. Up to
// kStiffestSubstep a column's sag is within 3 % of its limit for dt -> 0 (tests/deform/elasticity_test.cpp); beyond it
// one sweep gets too little done, and the organ would feel softer than its modulus says.
constexpr float kStiffestSubstep = 0.9f;

// Tissue so stiff that it wants more than this is stepped with this many, and is then too soft, not unstable.
constexpr int kMostSubsteps = 64;

// Contacts share nodes and disturb each other; a second round settles most of that.
constexpr int kContactRounds = 2;

// No hand moves an instrument faster: deeper contacts are resolved over several steps instead of flinging tissue away.
constexpr float kFastestTool = 2.f;  // m/s

struct Substep {
  int number, count;  // 1 .. count
  float dt;           // s
};

float stiffness_number(const TissueParams& p, float dt) {
  const float rate = dt / p.node_spacing;
  return 16.f / 30.f * p.youngs_modulus / p.density * rate * rate;
}

// Full relaxation (1) makes one sweep the implicit step of a lone spring but leaves a lattice too soft; 1/2 is right to
// second order in dt, and stable while a lone spring's stiffness dt^2 / reduced mass stays below 4. 3/4 is stable for
// any.
float relaxation_for(const TissueParams& p, float dt) {
  return std::clamp(0.5f + 0.25f * (stiffness_number(p, dt) - 1.f), 0.5f, 1.f);
}

void size_columns(NodeColumns& columns, std::size_t nodes) {
  columns.x.resize(nodes);
  columns.y.resize(nodes);
  columns.z.resize(nodes);
}

void split(std::span<const glm::vec3> from, NodeColumns& to) {
  size_columns(to, from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to.x[i] = from[i].x, to.y[i] = from[i].y, to.z[i] = from[i].z;
}

void join(const NodeColumns& from, std::span<glm::vec3> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = {from.x[i], from.y[i], from.z[i]};
}

glm::vec3 embedded(const Embedding& e, const NodeColumns& x) {
  glm::vec3 p(0.f);
  for (int i = 0; i < 8; ++i) p += e.weight[i] * glm::vec3(x.x[e.node[i]], x.y[e.node[i]], x.z[e.node[i]]);
  return p;
}

void begin_step(const TissueModel& model, TissueState& state, std::span<const TissueContact> contacts, float dt) {
  TissueScratch& s = state.scratch;
  split(state.x, s.x);
  split(state.v, s.v);
  size_columns(s.before, state.x.size());
  s.contacts.clear();
  for (const TissueContact& contact : contacts) {
    if (!std::isfinite(glm::dot(contact.normal, contact.normal) + contact.depth)) continue;
    const Embedding& e = model.embedding[contact.vertex];
    float admittance = 0.f;
    for (int i = 0; i < 8; ++i) admittance += e.weight[i] * e.weight[i] / model.mass[e.node[i]];
    s.contacts.push_back({contact.vertex, contact.normal, glm::dot(contact.normal, embedded(e, s.x)),
                          std::min(contact.depth, kFastestTool * dt), admittance, 0.f});
  }
}

void move_freely(std::vector<float>& x, std::vector<float>& before, std::vector<float>& v, const float* inverse_mass,
                 float acceleration, float drag, float dt) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float speed = inverse_mass[i] > 0.f ? (v[i] + acceleration * dt) * drag : 0.f;
    before[i] = x[i];
    x[i] += speed * dt;
  }
}

void predict(const TissueModel& model, TissueScratch& s, float dt) {
  const float drag = 1.f / (1.f + model.params.drag * dt);
  const float* w = model.inverse_mass.data();
  move_freely(s.x.x, s.before.x, s.v.x, w, 0.f, drag, dt);
  move_freely(s.x.y, s.before.y, s.v.y, w, -model.params.gravity, drag, dt);
  move_freely(s.x.z, s.before.z, s.v.z, w, 0.f, drag, dt);
}

void solve_springs(const TissueModel& model, TissueScratch& s, float dt) {
  const SweepNodes nodes{s.x.x.data(),
                         s.x.y.data(),
                         s.x.z.data(),
                         s.before.x.data(),
                         s.before.y.data(),
                         s.before.z.data(),
                         model.inverse_mass.data()};
  sweep_springs(model, nodes, {dt, relaxation_for(model.params, dt)});
}

void unfold_cells(const TissueModel& model, TissueScratch& s) {
  s.flatness.resize(model.cells.size());
  const SolidNodes nodes{s.x.x.data(), s.x.y.data(), s.x.z.data(), model.inverse_mass.data()};
  measure_flatness(model, nodes, s.flatness);
  for (std::size_t cell = 0; cell < model.cells.size(); ++cell)
    if (s.flatness[cell] < kFlattestCorner) unfold_cell(model, cell, nodes);
}

// The tool moves into place evenly over the step.
void solve_contacts(const TissueModel& model, TissueScratch& s, const Substep& substep) {
  const float progress = static_cast<float>(substep.number) / static_cast<float>(substep.count);
  for (int round = 0; round < kContactRounds; ++round)
    for (PreparedContact& c : s.contacts) {
      const Embedding& e = model.embedding[c.vertex];
      const float allowed = c.height - (c.depth > 0.f ? progress * c.depth : c.depth);
      const float excess = glm::dot(c.normal, embedded(e, s.x)) - allowed;
      if (!(excess > 0.f)) continue;
      const float push = excess / c.admittance;
      c.push += push;
      for (int i = 0; i < 8; ++i) {
        const std::uint32_t node = e.node[i];
        const glm::vec3 move = push * e.weight[i] * model.inverse_mass[node] * c.normal;
        s.x.x[node] -= move.x, s.x.y[node] -= move.y, s.x.z[node] -= move.z;
      }
    }
}

void speed_from_motion(std::vector<float>& v, const std::vector<float>& x, const std::vector<float>& before,
                       float rate) {
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = (x[i] - before[i]) * rate;
}

void update_velocity(TissueScratch& s, float dt) {
  speed_from_motion(s.v.x, s.x.x, s.before.x, 1.f / dt);
  speed_from_motion(s.v.y, s.x.y, s.before.y, 1.f / dt);
  speed_from_motion(s.v.z, s.x.z, s.before.z, 1.f / dt);
}

// A push moves mass by a length within one substep: the force it stands for is push / dt^2.
glm::vec3 end_step(TissueState& state, const Substep& last) {
  join(state.scratch.x, state.x);
  join(state.scratch.v, state.v);
  glm::vec3 force(0.f);
  for (const PreparedContact& c : state.scratch.contacts) force += c.push * c.normal;
  return force / (last.dt * last.dt * static_cast<float>(last.count));
}

}  // namespace

int substep_count(const TissueModel& model, float dt) {
  const float wanted = std::ceil(std::sqrt(stiffness_number(model.params, dt) / kStiffestSubstep));
  return std::max(model.params.substeps, static_cast<int>(std::min(wanted, static_cast<float>(kMostSubsteps))));
}

glm::vec3 step(const TissueModel& model, TissueState& state, std::span<const TissueContact> contacts, float dt) {
  if (!(dt > 0.f) || !std::isfinite(dt)) return glm::vec3(0.f);
  Substep substep{1, substep_count(model, dt), 0.f};
  substep.dt = dt / static_cast<float>(substep.count);

  begin_step(model, state, contacts, dt);
  for (; substep.number <= substep.count; ++substep.number) {
    predict(model, state.scratch, substep.dt);
    solve_springs(model, state.scratch, substep.dt);
    unfold_cells(model, state.scratch);
    solve_contacts(model, state.scratch, substep);
    update_velocity(state.scratch, substep.dt);
  }
  return end_step(state, substep);
}

}  // namespace trocar
